/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plots: pictures of a run from its profile, and of what the store knows from tunings, models and
 * probes (plot/stored/stored.h). A kind is one constant in a list. Its function draws the picture
 * and writes the same numbers as CSV, so that the two cannot differ.
 *
 *	kind = plot_find("heatmap");
 *	r = plot_draw(kind, &(struct plot_source){ .profile = &profile }, &svg, err);
 *
 * The SVG can be a file of its own or be embedded in a page (chart/figure.h). Drawing does not
 * change the profile.
 */
#ifndef SLUICE_PLOT_PLOT_H
#define SLUICE_PLOT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "chart/figure.h"

struct config;
struct err;
struct profile;

/* What a kind reads. */
enum plot_subject {
	PLOT_RUN,    /* source.profile */
	PLOT_TUNING, /* source.config and name: the number of a tuning; NULL: the latest */
	PLOT_MODEL,  /* name: the file of a model; NULL: that of the settings */
	PLOT_PROBES, /* name: a system with probe data; NULL: that of the settings */
};

struct plot_source {
	const struct profile *profile; /* NULL: there is no run */
	const struct config *config;   /* NULL: there is no store */
	const char *name;
	const char *file; /* only files whose path or base name matches this glob; NULL: all */
	bool all;	  /* also files of the system, see observe/tally/file_class.h */
	enum style_theme theme;
	bool is_embedded; /* in a page: figure_embed() */
	double width;	  /* in pixels; 0: 960 */
};

/* What a kind fills. It calls figure_init() first; the figure is released even after a failure. */
struct plot {
	struct figure figure;
	struct buf csv;
};

struct plot_kind {
	const char *name, *title;
	const char *help; /* one line, lower case, no period */
	enum plot_subject subject;
	bool is_over_time; /* its horizontal axis is the time since the start of the run */
	/* -ENODATA: the source lacks what the plot shows; err says what, and how to get it. */
	int (*draw)(const struct plot_source *source, struct plot *plot, struct err *err);
};

extern const struct plot_kind plot_bandwidth, plot_causes, plot_heatmap, plot_offsets, plot_ranks,
	plot_sizes;
/* The kinds that need only a profile; ends with NULL. */
extern const struct plot_kind *const plot_run_kinds[];

/* Append the picture, or its numbers as CSV with a line of column names. */
int plot_draw(const struct plot_kind *kind, const struct plot_source *source, struct buf *svg,
	      struct err *err);
int plot_table(const struct plot_kind *kind, const struct plot_source *source, struct buf *csv,
	       struct err *err);

#endif
