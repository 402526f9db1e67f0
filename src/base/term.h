/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is right for a terminal only: colour, and a line that tells how far a long job has come.
 * Colour obeys NO_COLOR and TERM=dumb; both are silent when the stream is no terminal.
 */
#ifndef SLUICE_BASE_TERM_H
#define SLUICE_BASE_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool term_color(FILE *out);

/* Sequences for bold and back; empty strings where there is no colour. */
const char *term_bold(FILE *out);
const char *term_plain(FILE *out);

struct progress {
	FILE *out; /* NULL: silent */
	const char *label;
	uint64_t total;	  /* 0: unknown */
	int64_t shown_ns; /* when the line was last drawn */
	bool drawn;
};

/* label must outlive the progress. */
void progress_start(struct progress *progress, const char *label, uint64_t total);

/* Redraws at most ten times a second; cheap enough to be called per batch. */
void progress_show(struct progress *progress, uint64_t done);

/* The same with a line of the caller's instead of label and share; drawn at once. */
void progress_line(struct progress *progress, const char *line);

/* Wipes the line. */
void progress_end(struct progress *progress);

#endif
