/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plots of the page: those over time one below the other, because they are zoomed together,
 * then the others.
 */
#include <string.h>

#include "base/buf.h"
#include "observe/page/html.h"
#include "observe/page/page.h"
#include "observe/page/parts.h"

/* A page of 2 MB has room for this much of each plot, and of all plots. */
#define PLOT_BYTES 250000
#define PLOTS_BYTES 600000

static void put_plot(struct buf *out, const struct page_plot *plot, const char *run, size_t limit)
{
	AUTO_BUF struct buf command = { 0 };
	size_t bytes = strlen(plot->svg);

	buf_printf(out, "<figure id=\"plot-%s\"%s tabindex=\"0\"><figcaption><h3>", plot->name,
		   plot->is_half ? "" : " class=\"wide\"");
	html_text(out, plot->title);
	buf_puts(out, "</h3>");
	html_element(out, "p", NULL, plot->about);
	buf_puts(out, "</figcaption>\n");
	if (bytes <= PLOT_BYTES && out->len + bytes <= limit) {
		buf_add(out, plot->svg, bytes);
	} else {
		buf_puts(out, "<p>This plot is too large for the page. Draw it with</p>\n");
		buf_printf(&command, "sluice plot %s ", plot->name);
		buf_put_shell_word(&command, run ? run : "RUN");
		html_copy(out, buf_text(&command));
	}
	buf_puts(out, "</figure>\n");
}

static size_t put_group(struct buf *out, const struct page *page, bool is_over_time, size_t limit)
{
	size_t count = 0;

	for (size_t i = 0; i < page->plot_count; i++) {
		if (page->plots[i].is_over_time != is_over_time)
			continue;
		if (!count++)
			buf_printf(out, "<div class=\"plots%s\">\n",
				   is_over_time ? " timeline" : "");
		put_plot(out, &page->plots[i], page->run, limit);
	}
	if (count)
		buf_puts(out, "</div>\n");
	return count;
}

/* The script shows the command when a part of the run is selected. */
static void put_between(struct buf *out, const char *run)
{
	AUTO_BUF struct buf command = { 0 };

	buf_puts(&command, "sluice print --between FROM:TO ");
	buf_put_shell_word(&command, run);
	buf_puts(out, "<div class=\"between\" hidden data-command=\"");
	html_text(out, buf_text(&command));
	buf_puts(out, "\"><p class=\"label\">The calls of this time</p>\n");
	html_copy(out, "");
	buf_puts(out, "</div>\n");
}

void page_put_plots(struct buf *out, const struct page *page)
{
	size_t limit = out->len + PLOTS_BYTES;

	buf_puts(out, "<section id=\"plots\">\n<h2>Plots</h2>\n");
	if (put_group(out, page, true, limit) && page->run)
		put_between(out, page->run);
	put_group(out, page, false, limit);
	buf_puts(out, "</section>\n");
}
