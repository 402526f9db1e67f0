/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for people, its color, and progress of long operations.
 *
 * Everything that people read on a terminal goes through term_printf(), term_lines(), a table or
 * JSON, so that names from outside cannot control the terminal (base/escape.h).
 *
 * Color is used on a terminal unless NO_COLOR is set or TERM is "dumb"; --color overrides that.
 * Progress is one line that is redrawn on a terminal. Elsewhere (a log file, a batch job) it is a
 * line every PROGRESS_LOG_S seconds, so that short operations print nothing.
 */
#ifndef SLUICE_BASE_TERM_H
#define SLUICE_BASE_TERM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum term_color_when { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };
#define TERM_COLOR_WORDS "auto|always|never"

/* Applies to the whole process; the default is auto. */
void term_set_color(enum term_color_when when);

/*
 * Columns of a line on `out`: $COLUMNS if it is set, else those of the terminal; 0: there is no
 * limit, because it is not a terminal. At least TERM_WIDTH_LEAST.
 */
#define TERM_WIDTH_LEAST 40
int term_width(FILE *out);

/* The number of columns of a text, approximated as one per UTF-8 character. */
int term_columns(const char *text);

/*
 * Appends the text. If it has more columns than `width`, its middle is left out; its end, as that
 * of a path, says the most.
 */
struct buf;
void term_shorten(struct buf *out, const char *text, int width);

/* Prints the text in bold, as term_paragraph() does. */
void term_headline(FILE *out, const char *text);

/* Escape sequences for bold and normal text; empty strings if `out` gets no color. */
const char *term_bold(FILE *out);
const char *term_plain(FILE *out);

/*
 * printf() for one line. Controls and invalid bytes of the arguments are escaped. So are line
 * breaks, except those with which the format begins and ends. Returns the number of bytes printed.
 */
int term_printf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

int term_vprintf(FILE *out, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));

/* Prints a text that has lines of its own, each of them as term_paragraph() does. */
void term_lines(FILE *out, const char *text);

/*
 * Prints the text, escaped, as lines that fit the width of `out`, broken at blanks. Lines after the
 * first one begin with `hang` blanks. A word that is longer than a line is not broken, so that
 * paths and commands can be copied.
 */
void term_paragraph(FILE *out, int hang, const char *text);

/*
 * term_printf() for a whole line that is a sentence: it is broken as by term_paragraph(), and
 * further lines begin with TERM_HANG blanks.
 */
#define TERM_HANG 2
void term_sentence(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define PROGRESS_LOG_S 30

struct progress {
	const char *label;
	uint64_t total;	  /* 0: unknown */
	int64_t shown_ns; /* when the line was last printed */
	bool is_terminal;
	bool is_drawn; /* the terminal shows a line that progress_end() must erase */
	char *line;    /* of the last progress_line() */
};

/* label must outlive the progress. */
void progress_start(struct progress *progress, const char *label, uint64_t total);

/* Prints the share of the work that is done. Cheap enough to be called for each batch. */
void progress_show(struct progress *progress, uint64_t done);

/* The same with the caller's own text after the label. A terminal shows it at once. */
void progress_line(struct progress *progress, const char *line);

/* Prints the last line of progress_line() again where there is no terminal, when it is due. */
void progress_repeat(struct progress *progress);

/* Erases the line on a terminal. Accepts a zeroed object. */
void progress_end(struct progress *progress);

#endif
