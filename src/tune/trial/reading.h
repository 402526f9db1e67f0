/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the trace of a trial in two passes: the figures of tune/trial/objective.h, what the program
 * uses, what it wrote, and the files that it created.
 */
#ifndef SLUICE_TUNE_TRIAL_READING_H
#define SLUICE_TUNE_TRIAL_READING_H

#include "params/space.h"
#include "tune/trial/access_profile.h"
#include "tune/trial/lockstep.h"
#include "tune/trial/outputs.h"

struct err;
struct cleanup;

struct reading {
	double run_s;		      /* from the trace; 0: the trace is incomplete */
	double io_s, read_s, write_s; /* of the slowest rank */
	double read_bytes, write_bytes;
	uint64_t calls; /* on data files; 0: there are no figures */
	uint32_t ranks, nodes;
	struct space_uses uses; /* without `creates` */
	enum middleware middleware;
	struct access_profile profile;
	struct lockstep lockstep;
	char *effective; /* KEY=VALUE;...; NULL: nothing was read back */
	struct output_sources outputs;
	char *gap; /* why there may be more outputs; NULL: all are known */
};

/*
 * directory: the scratch directory of the runner, whose files are ignored. Adds the data
 * files that the trial wrote to *cleanup. *reading is untouched on failure.
 */
int reading_from_trace(struct reading *reading, const char *trace, const char *directory,
		       struct cleanup *cleanup, struct err *err);
void reading_release(struct reading *reading);

#endif
