/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The objective of a tuning: one number per run, and lower is better. For a bandwidth it is the
 * time per byte, so that all objectives are costs, and ratios of costs are speedups.
 */
#ifndef SLUICE_TUNE_LOOP_COST_H
#define SLUICE_TUNE_LOOP_COST_H

struct buf;
struct trial;

#define COST_WORDS "io|run|read|write"

enum cost_kind {
	COST_IO,    /* seconds in open, transfer and close of the slowest rank */
	COST_RUN,   /* seconds from start to end */
	COST_READ,  /* seconds per byte read */
	COST_WRITE, /* seconds per byte written */
	COST_KINDS,
};

const char *cost_name(enum cost_kind kind);  /* a word of COST_WORDS */
const char *cost_label(enum cost_kind kind); /* label: "I/O", "run", "reading" or "writing" */

/* Above 0; NAN if the run moved no data in that direction or took no time. */
double cost_of(enum cost_kind kind, const struct trial *trial);

/* Writes "1.42 s" or "350 MiB/s". */
void cost_text(enum cost_kind kind, double cost, struct buf *out);

#endif
