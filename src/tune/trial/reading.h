/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the trace of a trial tells, read in two passes: the figures of tune/trial/objective.h, what
 * the program uses, and what it has left behind.
 */
#ifndef SLUICE_TUNE_TRIAL_READING_H
#define SLUICE_TUNE_TRIAL_READING_H

#include "params/space.h"
#include "tune/trial/access_profile.h"

struct err;
struct cleanup;

struct reading {
	double run_s; /* as the trace has it; 0: it does not tell */
	double io_s, read_s, write_s;
	double read_bytes, write_bytes;
	uint64_t calls; /* on data files; 0: nothing to judge by */
	uint32_t ranks, nodes;
	struct space_uses uses; /* but `creates` */
	enum middleware middleware;
	struct access_profile profile;
	char *effective; /* KEY=VALUE;...; NULL: nothing was read back */
};

/*
 * directory: of the trial, whose files are ours. Adds to remains what was written and made. The
 * reading is untouched on failure.
 */
int reading_take(struct reading *reading, const char *trace, const char *directory,
		 struct cleanup *cleanup, struct err *err);
void reading_release(struct reading *reading);

#endif
