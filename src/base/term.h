/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Color, and progress of long operations.
 *
 * Color is used on a terminal unless NO_COLOR is set or TERM is "dumb"; --color overrides that.
 * Progress is one line that is redrawn on a terminal. Elsewhere (a log file, a batch job) it is a
 * line every PROGRESS_LOG_S seconds, so that short operations print nothing.
 */
#ifndef SLUICE_BASE_TERM_H
#define SLUICE_BASE_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum term_color_when { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };
#define TERM_COLOR_WORDS "auto|always|never"

/* Applies to the whole process; the default is auto. */
void term_set_color(enum term_color_when when);

/* Escape sequences for bold and normal text; empty strings if `out` gets no color. */
const char *term_bold(FILE *out);
const char *term_plain(FILE *out);

#define PROGRESS_LOG_S 30

struct progress {
	const char *label;
	uint64_t total;	  /* 0: unknown */
	int64_t shown_ns; /* when the line was last printed */
	bool is_terminal;
	bool is_drawn; /* the terminal shows a line that progress_end() must erase */
};

/* label must outlive the progress. */
void progress_start(struct progress *progress, const char *label, uint64_t total);

/* Prints the share of the work that is done. Cheap enough to be called for each batch. */
void progress_show(struct progress *progress, uint64_t done);

/* The same with the caller's own text after the label. A terminal shows it at once. */
void progress_line(struct progress *progress, const char *line);

/* Erases the line on a terminal. */
void progress_end(struct progress *progress);

#endif
