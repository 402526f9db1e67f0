/* SPDX-License-Identifier: BSD-3-Clause
 *
 * File offset over time (SIOX-49): one panel per file and direction, colored by rank. While a file
 * has few accesses each is a rectangle of its own; of a file with many, cells of the raster are
 * drawn.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/mem.h"
#include "base/unit.h"
#include "observe/tally/effect.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"
#include "plot/chunk_places.h"
#include "plot/run_plot.h"

#define HEIGHT 170.0
#define PANELS_MAX 8
#define LEFT 84.0
/* More ranks than this have the colors of the ramp. The last series is for several ranks. */
#define COLORED_RANKS 6
#define SEVERAL_COLOR 6
#define BOUNDARIES_MAX 40
/* A rectangle must be visible, in pixels. */
#define SMALLEST 1.6

/* A rectangle of the picture: an access, or a cell of the raster. */
struct spot {
	double from_s, to_s, from, to; /* offsets in bytes */
	const char *class;
};

struct spots {
	struct spot *list;
	size_t count, cap;
};

static void add_spot(struct spots *spots, const struct spot *spot)
{
	spots->list = xgrow(spots->list, &spots->cap, spots->count + 1, sizeof(*spots->list));
	spots->list[spots->count++] = *spot;
}

/* Cells of several ranks are gray, the darker the more bytes they have. */
static const char *const several_classes[] = { "c6 faint", "c6 soft", "c6" };
enum { SEVERAL_LEVELS = sizeof(several_classes) / sizeof(*several_classes) };

static const char *member_class(const struct profile *profile, int64_t member)
{
	int64_t members = i64_max(profile->timeline.members, 1);

	if (member < 0)
		return several_classes[SEVERAL_LEVELS - 1];
	if (members <= COLORED_RANKS)
		return style_fill((unsigned)member);
	return style_ramp((double)member / (double)members);
}

static void gather_points(struct spots *spots, const struct profile *profile,
			  const struct raster *raster, int way)
{
	for (size_t i = 0; i < raster->point_count; i++) {
		const struct raster_point *p = &raster->points[i];

		if (p->way == way)
			add_spot(spots,
				 &(struct spot){ (double)p->start_ns / 1e9,
						 (double)(p->start_ns + p->duration_ns) / 1e9,
						 (double)p->offset,
						 (double)p->offset + (double)p->bytes,
						 member_class(profile, p->member) });
	}
}

static const char *cell_class(const struct profile *profile, const struct raster_cell *cell,
			      int way, uint64_t most)
{
	double share = (double)cell->bytes[way] / (double)most;

	if (cell->member >= 0)
		return member_class(profile, cell->member);
	return several_classes[share < 0.1 ? 0 : share < 0.4 ? 1 : 2];
}

static bool has_several(const struct raster *raster, int way)
{
	for (size_t i = 0; i < (size_t)RASTER_COLUMNS * RASTER_LINES; i++)
		if (raster->cells[i].bytes[way] && raster->cells[i].member == RASTER_MANY)
			return true;
	return false;
}

static uint64_t find_most(const struct raster *raster, int way)
{
	uint64_t most = 1;

	for (size_t i = 0; i < (size_t)RASTER_COLUMNS * RASTER_LINES; i++)
		most = u64_max(most, raster->cells[i].bytes[way]);
	return most;
}

/* Neighboring cells in time of the same color are one rectangle. */
static void gather_cells(struct spots *spots, const struct profile *profile,
			 const struct raster *raster, int way)
{
	uint64_t most = find_most(raster, way);

	for (size_t line = 0; line < RASTER_LINES; line++) {
		struct spot *open = NULL;

		for (size_t column = 0; column < RASTER_COLUMNS; column++) {
			const struct raster_cell *cell =
				&raster->cells[column * RASTER_LINES + line];
			double from = (double)column * (double)raster->column_ns;
			const char *class = cell_class(profile, cell, way, most);
			struct spot spot = { from / 1e9, (from + (double)raster->column_ns) / 1e9,
					     (double)line * (double)raster->line_bytes,
					     ((double)line + 1) * (double)raster->line_bytes,
					     class };

			if (!cell->bytes[way]) {
				open = NULL;
			} else if (open && open->class == class) {
				open->to_s = spot.to_s;
			} else {
				add_spot(spots, &spot);
				open = &spots->list[spots->count - 1];
			}
		}
	}
}

static uint64_t raster_bytes(const struct raster *raster, int way)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < (size_t)RASTER_COLUMNS * RASTER_LINES; i++)
		sum += raster->cells[i].bytes[way];
	return sum;
}

/* All spots of one class as one path. */
static void put_class(struct panel *panel, const struct spots *spots, const char *class)
{
	struct buf *out = panel_marks(panel);
	bool any = false;

	for (size_t i = 0; i < spots->count; i++) {
		const struct spot *s = &spots->list[i];
		double x = panel_x(panel, s->from_s), y = panel_y(panel, s->to);

		if (s->class != class)
			continue;
		/* Neighbors must meet, so all coordinates are absolute. */
		buf_printf(out, "%sM%.1f %.1fH", any ? "" : "<path d=\"", x, y);
		svg_number(out, fmax(panel_x(panel, s->to_s), x + SMALLEST));
		buf_putc(out, 'V');
		svg_number(out, fmax(panel_y(panel, s->from), y + SMALLEST));
		buf_putc(out, 'H');
		svg_number(out, x);
		buf_putc(out, 'z');
		any = true;
	}
	if (any)
		buf_printf(out, "\" class=\"%s crisp\"/>\n", class);
}

static void put_spots(struct panel *panel, const struct spots *spots)
{
	for (int i = 0; i < STYLE_RAMP; i++)
		put_class(panel, spots, style_ramp((i + 0.5) / STYLE_RAMP));
	for (unsigned i = 0; i < COLORED_RANKS; i++)
		put_class(panel, spots, style_fill(i));
	for (int i = 0; i < SEVERAL_LEVELS; i++)
		put_class(panel, spots, several_classes[i]);
}

/* MPI libraries report the hint of the user even if the file system has no stripes. */
static bool is_in_effect(const struct parameter *row, const struct evidence *evidence)
{
	if (row->requested)
		return effect_judge(row, evidence).effect == EFFECT_APPLIED;
	return evidence && effect_has_stripes(evidence);
}

/* The bytes of a stripe, as the file system or MPI reported it; 0: unknown. */
static uint64_t find_stripe(const struct profile *profile, file_id file)
{
	const struct evidence *evidence = parameters_evidence(&profile->summary.parameters, file);
	size_t count;
	struct parameter *rows = parameters_rows(&profile->summary.parameters, &count);
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].file == file && strcmp(rows[i].name, "striping_unit") == 0 &&
		    rows[i].effective && is_in_effect(&rows[i], evidence) &&
		    unit_parse_bytes(rows[i].effective, &bytes) < 0)
			bytes = 0;
	parameters_rows_release(rows, count);
	return bytes;
}

static void put_boundary(struct panel *panel, double offset, const char *class)
{
	double y = panel_y(panel, offset);

	if (offset >= panel->y.low && offset <= panel->y.high)
		svg_line(&panel->figure->body, panel->left, y, panel->left + panel->width, y,
			 class);
}

/* Lines at multiples of the stripe; if they were too dense, none. */
static bool put_stripes(struct panel *panel, uint64_t stripe)
{
	uint64_t first;

	if (!stripe || (panel->y.high - panel->y.low) / (double)stripe > BOUNDARIES_MAX)
		return false;
	first = (uint64_t)ceil(panel->y.low / (double)stripe);
	for (uint64_t i = first; (double)i * (double)stripe <= panel->y.high; i++)
		put_boundary(panel, (double)i * (double)stripe, "rule fine");
	return true;
}

/* Lines at both ends of the chunks whose place is known; if they were too dense, none. */
static bool put_chunks(struct panel *panel, const struct chunk_places *chunks)
{
	double bytes = (double)chunks->bytes, end = -1;

	if (!chunks->count || chunks->count > BOUNDARIES_MAX)
		return false;
	for (size_t i = 0; i < chunks->count; i++) {
		double offset = (double)chunks->offsets[i];

		if (offset > end)
			put_boundary(panel, offset, "rule dotted");
		end = offset + bytes;
		put_boundary(panel, end, "rule dotted");
	}
	return true;
}

/* Datasets of HDF5 whose place in the file is known. */
static void put_datasets(struct panel *panel, const struct profile *profile, file_id file)
{
	const struct evidence *evidence = parameters_evidence(&profile->summary.parameters, file);
	double right = panel->left + panel->width;

	for (size_t i = 0; evidence && i < evidence->places.cap; i++) {
		uint64_t key = evidence->places.entries[i].key;
		double y = panel_y(panel, (double)key - 1);

		if (key && (double)(key - 1) >= panel->y.low && (double)(key - 1) <= panel->y.high)
			svg_line(&panel->figure->body, right, y, right + 8, y, "axis");
	}
}

static char *make_title(const struct profile *profile, const struct raster *raster, int way,
			uint64_t bytes, uint64_t stripe, const struct chunk_places *chunks)
{
	AUTO_BUF struct buf title = { 0 };
	char size[UNIT_TEXT];

	buf_printf(&title, "%s (%s): %s %s", profile_file(profile, raster->file),
		   names_layer(raster->layer), unit_bytes(size, (double)bytes),
		   way == READING ? "read" : "written");
	if (stripe)
		buf_printf(&title, ", stripes of %s", unit_bytes(size, (double)stripe));
	if (chunks->bytes)
		buf_printf(&title, ", chunks of up to %s%s",
			   unit_bytes(size, (double)chunks->bytes),
			   chunks->has_compressed ? ", some compressed" : "");
	return buf_take(&title);
}

static void init_offsets(struct scale *scale, const struct spots *spots)
{
	double low = INFINITY, high = 0;

	for (size_t i = 0; i < spots->count; i++) {
		low = fmin(low, spots->list[i].from);
		high = fmax(high, spots->list[i].to);
	}
	/* Zero is part of the axis unless that would waste most of it. */
	scale_init(scale, SCALE_BYTES, low < high / 2 ? 0 : low, high);
}

/* Which kinds of lines the picture has. */
struct lines {
	bool stripes, chunks;
};

static void put_file(struct plot *plot, const struct profile *profile, const struct raster *raster,
		     int way, const struct spots *spots, bool is_last, struct lines *lines)
{
	const struct timeline *t = &profile->timeline;
	uint64_t stripe = find_stripe(profile, raster->file);
	struct chunk_places chunks;
	AUTO_FREE char *title = NULL;
	struct panel_plan plan = { .height = HEIGHT,
				   .is_time = true,
				   .left = LEFT,
				   .x_title = is_last ? "time since the start" : NULL,
				   .no_x_labels = !is_last };
	struct panel panel;

	chunk_places_init(&chunks, profile, raster->file);
	title = make_title(profile, raster, way, raster_bytes(raster, way), stripe, &chunks);
	plan.title = title;
	scale_init(&plan.x, SCALE_SECONDS, run_plot_time_s(t, 0),
		   run_plot_time_s(t, run_plot_bins(t, profile->head)));
	init_offsets(&plan.y, spots);
	figure_panel(&plot->figure, &panel, &plan);
	lines->stripes |= put_stripes(&panel, stripe);
	lines->chunks |= put_chunks(&panel, &chunks);
	put_spots(&panel, spots);
	put_datasets(&panel, profile, raster->file);
	chunk_places_release(&chunks);
}

static void put_line_names(struct plot *plot, const struct lines *lines)
{
	if (lines->stripes)
		figure_text(&plot->figure, "Dashed lines are the boundaries of stripes.");
	if (lines->chunks)
		figure_text(&plot->figure,
			    "Dotted lines are the boundaries of HDF5 chunks that were read or "
			    "written as a whole.");
}

static void put_points(struct plot *plot, const struct profile *profile,
		       const struct raster *raster, int way)
{
	for (size_t i = 0; i < raster->point_count; i++) {
		const struct raster_point *p = &raster->points[i];

		if (p->way != way)
			continue;
		buf_put_csv_cell(&plot->csv, profile_file(profile, raster->file));
		buf_printf(&plot->csv, ",%s,%s,%" PRId32 ",%.9f,%.9f,%" PRId64 ",%" PRIu64 "\n",
			   names_layer(raster->layer), way == READING ? "read" : "write", p->member,
			   (double)p->start_ns / 1e9, (double)p->duration_ns / 1e9, p->offset,
			   p->bytes);
	}
}

static void put_raster(struct plot *plot, const struct profile *profile,
		       const struct raster *raster, int way)
{
	for (size_t i = 0; i < (size_t)RASTER_COLUMNS * RASTER_LINES; i++) {
		const struct raster_cell *cell = &raster->cells[i];
		size_t column = i / RASTER_LINES, line = i % RASTER_LINES;
		double from = (double)column * (double)raster->column_ns;

		if (!cell->bytes[way])
			continue;
		buf_put_csv_cell(&plot->csv, profile_file(profile, raster->file));
		buf_printf(&plot->csv, ",%s,%s,%" PRId32 ",%.9f,%.9f,%.0f,%" PRIu64 "\n",
			   names_layer(raster->layer), way == READING ? "read" : "write",
			   cell->member, from / 1e9, (double)raster->column_ns / 1e9,
			   (double)line * (double)raster->line_bytes, cell->bytes[way]);
	}
}

/* A panel that is to be drawn. */
struct offsets_panel {
	const struct raster *raster;
	int way;
	uint64_t bytes;
};

static int compare_panels(const void *a, const void *b)
{
	const struct offsets_panel *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Storage is what the file system sees; the layers above are drawn only if it is unknown. */
static bool is_storage(const struct raster *raster)
{
	return raster->layer == LAYER_POSIX || raster->layer == LAYER_STDIO;
}

static size_t list_panels(const struct plot_source *source, struct offsets_panel *list)
{
	const struct rasters *rasters = &source->profile->timeline.rasters;
	size_t count = 0;

	for (size_t i = 0; i < rasters->count; i++)
		for (int way = READING; way <= WRITING; way++) {
			const struct raster *raster = rasters->list[i];
			uint64_t bytes = raster_bytes(raster, way);

			if (bytes && run_plot_selects(source, raster->file) &&
			    (is_storage(raster) || source->file))
				list[count++] = (struct offsets_panel){ raster, way, bytes };
		}
	qsort(list, count, sizeof(*list), compare_panels);
	return count;
}

static void put_members(struct plot *plot, const struct profile *profile, bool has_shared)
{
	const struct figure_key several = { SEVERAL_COLOR, "several (darker: more bytes)", false };
	int64_t members = profile->timeline.members;
	char *names[COLORED_RANKS] = { 0 };
	struct figure_key keys[COLORED_RANKS + 1];
	struct scale scale;
	size_t count = 0;

	if (members > COLORED_RANKS) {
		scale_init(&scale, SCALE_COUNT, 0, (double)members - 1);
		figure_ramp(&plot->figure, run_plot_member_word(profile), &scale);
		if (has_shared)
			figure_legend(&plot->figure, &several, 1);
		return;
	}
	for (int64_t i = 0; i < members; i++) {
		names[count] = run_plot_member_name(profile, i);
		keys[count] = (struct figure_key){ (unsigned)i, names[count], false };
		count++;
	}
	if (has_shared && members > 1)
		keys[count] = several;
	figure_legend(&plot->figure, keys, count + (has_shared && members > 1));
	for (size_t i = 0; i < count; i++)
		free(names[i]);
}

static void put_panels(struct plot *plot, const struct plot_source *source,
		       const struct offsets_panel *list, size_t count)
{
	size_t shown = size_min(count, PANELS_MAX);
	struct lines lines = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct raster *raster = list[i].raster;
		struct spots spots = { 0 };

		if (raster->points)
			gather_points(&spots, source->profile, raster, list[i].way);
		else
			gather_cells(&spots, source->profile, raster, list[i].way);
		if (i < shown && spots.count)
			put_file(plot, source->profile, raster, list[i].way, &spots, i + 1 == shown,
				 &lines);
		free(spots.list);
	}
	put_line_names(plot, &lines);
	if (count > shown)
		figure_text(&plot->figure,
			    "%zu files with fewer bytes are not shown; select one with --file.",
			    count - shown);
}

static void put_rows(struct plot *plot, const struct profile *profile,
		     const struct offsets_panel *list, size_t count)
{
	buf_printf(&plot->csv, "file,layer,direction,%s,start_s,duration_s,offset,bytes\n",
		   run_plot_member_word(profile));
	for (size_t i = 0; i < count; i++)
		if (list[i].raster->points)
			put_points(plot, profile, list[i].raster, list[i].way);
		else
			put_raster(plot, profile, list[i].raster, list[i].way);
}

static int draw_offsets(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct offsets_panel list[2 * RASTERS_MAX] = { 0 };
	size_t count = list_panels(source, list);
	bool has_shared = false;

	if (!count)
		return source->file ? err_set(err, ENODATA,
					      "no transfers at known offsets of files that match "
					      "\"%s\"",
					      source->file)
				    : run_plot_no_data(err, "transfers at known offsets");
	run_plot_start(plot, source, &plot_offsets,
		       "One panel per file and direction: accesses at their offset in the file and "
		       "their time, colored by rank or process.");
	for (size_t i = 0; i < size_min(count, PANELS_MAX); i++)
		has_shared = has_shared ||
			     (!list[i].raster->points && has_several(list[i].raster, list[i].way));
	put_members(plot, source->profile, has_shared);
	put_panels(plot, source, list, count);
	put_rows(plot, source->profile, list, count);
	return 0;
}

const struct plot_kind plot_offsets = {
	.name = "offsets",
	.title = "File offsets over time",
	.help = "where in its files each rank read and wrote, over time",
	.subject = PLOT_RUN,
	.is_over_time = true,
	.draw = draw_offsets,
};
