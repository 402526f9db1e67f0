/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Titan and Cori, generated (WAN-40): a job mix of Table I that a scheduler runs on the nodes, per
 * target a state that the mix drives in part, probes and writes whose times follow the state with a
 * heavy tail. The truth is known. Parameters are in share/machines/NAME.ini (docs/systems.md); they
 * were fixed from the paper's tables and histograms before anything was trained on it.
 *
 * Everything follows from the seed, on any number of threads. A target is the same whether few are
 * asked for or all.
 */
#ifndef SLUICE_PREDICT_SIMULATE_SYSTEM_H
#define SLUICE_PREDICT_SIMULATE_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"

struct err;

struct system; /* a description */

/* "titan", "cori", or the path of a description. */
int system_open(struct system **system, const char *name, struct err *err);
/* From memory: any bytes; name stands for the file in messages. */
int system_parse(struct system **system, const char *name, const char *text, size_t bytes,
		 struct err *err);
void system_close(struct system *system);

const char *system_title(const struct system *system);
double system_nodes(const struct system *system);
double system_days(const struct system *system); /* of the paper's campaign */
size_t system_targets(const struct system *system);

#define SYSTEM_START_S 1520708288.0 /* the time stamp of the paper's sample block */

struct system_wish {
	double days;	/* 0: as the paper's campaign */
	size_t targets; /* 0: all; otherwise the first so many */
	uint64_t seed;
	double start_s;					   /* since 1970; 0: SYSTEM_START_S */
	double probe_every_s, truth_every_s, jobs_every_s; /* 0: 30, 300, 300 */
	unsigned threads;				   /* 0: one */
};

/* A job that ran, or began to; seconds since the start of the campaign. */
struct system_job {
	double submit_s, start_s, end_s; /* end_s may lie behind the campaign */
	double requested_s;		 /* wall time; at least what it took */
	double nodes, memory_bytes, virtual_bytes;
	uint32_t queue, user; /* of the system's queues; of its users */
	/* What it does to storage: while it is new, and for a while in each period. */
	double period_s, phase_s, burst_s; /* period_s 0: nothing */
};

/* A chronicle and what is behind it. */
struct generated {
	struct chronicle chronicle; /* sizes 1 MiB, 64 MiB, 256 MiB, 1 GiB */
	uint8_t **busy; /* target x CHRONICLE_SIZES + size: per sample 1 if the target was busy */
	struct system_job *jobs; /* in the order of their start */
	size_t job_count;
	double *pressure; /* that jobs put on storage, per 30 s: mean 0, deviation 1 */
	size_t pressure_count;
};

/* generated is untouched on failure: -EINVAL where there is nothing of what is wished. */
int system_generate(struct generated *generated, const struct system *system,
		    const struct system_wish *wish, struct err *err);
void generated_release(struct generated *generated);

#endif
