/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of one run that a trend shows, as in its report. They need a pass over the trace.
 */
#ifndef SLUICE_WEB_RUN_FIGURES_H
#define SLUICE_WEB_RUN_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

struct err;

struct run_figures {
	double io_ns;	/* wall-clock time in I/O; of a parallel run, the mean of its ranks */
	uint64_t calls; /* that the program requested, and their bytes */
	uint64_t bytes_read, bytes_written;
	uint64_t storage_calls; /* that reached the operating system */
};

/*
 * Reads a whole trace; the memory of a summary (observe/tally/summary.h) is needed meanwhile. Stops
 * with -EINTR when *stop becomes true.
 */
int run_figures_read(struct run_figures *figures, const char *path, const atomic_bool *stop,
		     struct err *err);

#endif
