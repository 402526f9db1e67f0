/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A report as one HTML page that needs nothing else: verdict, tables, style and script are in one
 * file, which may be opened without a server, copied and mailed. A Content-Security-Policy forbids
 * every other resource and every other script, so that no name in a trace can become code. The page
 * can be read without the script, which sorts, filters, zooms and copies (page.js).
 */
#ifndef SLUICE_OBSERVE_PAGE_PAGE_H
#define SLUICE_OBSERVE_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct report;

/* No page is larger, whatever the size of the trace: tables and lists are cut, and say so. */
#define PAGE_BYTES_MAX 2000000

/* A plot without its title and style sheet, see figure_embed(). */
struct page_plot {
	const char *name; /* as `sluice plot` names its kind */
	const char *title, *about;
	bool is_over_time; /* it is zoomed together with the other plots over time */
	bool is_half;	   /* it takes half of the width of the page */
	const char *svg;
};

struct page {
	const struct report *report; /* its limits do not apply */
	const struct page_plot *plots;
	size_t plot_count;
	/* The path of the trace, for commands that the page suggests; NULL: there are several. */
	const char *run;
};

void page_render(struct buf *out, const struct page *page);

#endif
