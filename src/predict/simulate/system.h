/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Titan and Cori, generated (WAN-40): a job mix of Table I that runs on the nodes, per target a
 * state that the mix drives in part, probes and writes whose times follow the state with a heavy
 * tail. The truth is known. Parameters are in share/machines/NAME.ini, [jobs] and [targets]; they
 * were fixed from the paper's tables and histograms before anything was trained on it.
 *
 * Everything follows from the seed, on any number of threads.
 */
#ifndef SLUICE_PREDICT_SIMULATE_SYSTEM_H
#define SLUICE_PREDICT_SIMULATE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle.h"

struct err;

struct system; /* a description */

/* "titan", "cori", or the path of a description. */
int system_open(struct system **system, const char *name, struct err *err);
void system_close(struct system *system);
const char *system_title(const struct system *system);

struct system_wish {
	double days;	/* 0: as the paper's campaign */
	size_t targets; /* 0: all */
	uint64_t seed;
	double start_s; /* since 1970; 0: that of the paper's sample */
	double probe_every_s, truth_every_s, jobs_every_s; /* 0: 30, 300, 300 */
	unsigned threads;
};

/* A chronicle and the states behind it. */
struct generated {
	struct chronicle chronicle;
	uint8_t **busy; /* target x CHRONICLE_SIZES + size: per sample 1 if the target was busy */
};
int system_generate(struct generated *generated, const struct system *system,
		    const struct system_wish *wish, struct err *err);
void generated_release(struct generated *generated);

#endif
