/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/report_page.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "cli/command.h"
#include "observe/page/page.h"
#include "observe/report/render.h"
#include "plot/plot.h"

/* The plots of the page in their order. Those of half the width are side by side. */
#define HALF_WIDTH 640
static const struct {
	const struct plot_kind *kind;
	double width; /* 0: the whole width */
} shown[] = {
	{ &plot_bandwidth, 0 },	     { &plot_heatmap, 0 },	  { &plot_offsets, 0 },
	{ &plot_sizes, HALF_WIDTH }, { &plot_ranks, HALF_WIDTH }, { &plot_causes, 0 },
};
enum { KINDS = sizeof(shown) / sizeof(*shown) };

struct drawn {
	struct page_plot plots[KINDS];
	struct buf svg[KINDS];
	size_t count;
};

/* A plot that the run has no data for is left out. */
static int draw_plots(struct drawn *drawn, const struct report *report, struct err *err)
{
	struct plot_source source = { .profile = report->profile,
				      .all = report->all,
				      .is_embedded = true };

	*drawn = (struct drawn){ 0 };
	for (size_t i = 0; i < KINDS; i++) {
		const struct plot_kind *kind = shown[i].kind;
		struct buf *svg = &drawn->svg[drawn->count];
		int r;

		source.width = shown[i].width;
		r = plot_draw(kind, &source, svg, err);
		if (r < 0 && r != -ENODATA)
			return r;
		if (r < 0)
			continue;
		drawn->plots[drawn->count++] =
			(struct page_plot){ .name = kind->name,
					    .title = kind->title,
					    .about = kind->help,
					    .is_over_time = kind->is_over_time,
					    .is_half = shown[i].width > 0,
					    .svg = buf_text(svg) };
	}
	return 0;
}

static int write_file(const struct report *report, const struct drawn *drawn, const char *run,
		      const char *path, bool force, struct err *err)
{
	AUTO_BUF struct buf html = { 0 };

	page_render(&html, &(struct page){ .report = report,
					   .run = run,
					   .plots = drawn->plots,
					   .plot_count = drawn->count });
	return force ? file_write_all(path, html.data, html.len, err)
		     : file_write_new(path, html.data, html.len, err);
}

int report_page_write(const struct command *command, const struct report *report, const char *run,
		      const char *path, bool force)
{
	struct err err = { 0 };
	struct drawn drawn;
	int r = draw_plots(&drawn, report, &err);

	if (!r)
		r = write_file(report, &drawn, run, path, force, &err);
	for (size_t i = 0; i < KINDS; i++)
		buf_release(&drawn.svg[i]);
	return r < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}
