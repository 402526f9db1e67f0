/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes HTML. Text from outside, such as names of files and commands, is added only by these
 * functions: it stays text, whatever it contains, and its length is bounded.
 */
#ifndef SLUICE_OBSERVE_PAGE_HTML_H
#define SLUICE_OBSERVE_PAGE_HTML_H

#include <stddef.h>

struct buf;
struct table;

/* A longer text ends with "..."; in bytes. */
#define HTML_TEXT_MAX 4000
#define HTML_CELL_MAX 1000

/*
 * Appends a text as content of an element or as a quoted attribute. Controls are escaped as in
 * base/escape.h.
 */
void html_text(struct buf *out, const char *text);

/* Appends <TAG class="CLASS">TEXT</TAG>; class may be NULL. */
void html_element(struct buf *out, const char *tag, const char *class, const char *text);

/* Appends each line of the text as an item of a list, up to max_bytes. Nothing for an empty text.
 */
void html_lines(struct buf *out, const char *class, const char *text, size_t max_bytes);

/* Appends a text that the reader may want to copy, such as a command. */
void html_copy(struct buf *out, const char *text);

struct html_table {
	const char *id;	   /* of its section */
	const char *title; /* heading; markup-free, escaped like any text */
	const char *about; /* explanation; NULL: none */
	const char *lead;  /* title of the column that names the rows; it becomes the first one */
	const char *next;  /* title of the column that follows it; NULL: as in the table */
	const char *rows;  /* what the rows are: "files" */
	size_t max_bytes;  /* rows beyond that are left out */
};

/*
 * Appends the table as a section. `count` is the number of rows that there are; the section says
 * how many of them are left out. Numbers carry their value for sorting, shares get a bar.
 */
void html_table(struct buf *out, const struct html_table *spec, const struct table *table,
		size_t count);

#endif
