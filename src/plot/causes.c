/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The causal chain as an icicle: the calls of the program are on top, and the calls that libraries
 * made inside them are below. The width is time. Each rectangle shows the amplification: its bytes
 * divided by those of the call above it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/unit.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"
#include "plot/run_plot.h"

#define ROW_HEIGHT 42.0
#define EDGES_MAX 8
#define NARROWEST 1.0 /* pixels of a rectangle that is drawn */

/* All nodes of the call tree with the same functions from the outermost on, whatever their file. */
struct cause {
	size_t parent, depth; /* 0: the root, which stands for the program */
	uint16_t call;
	uint8_t layer;
	file_id name; /* of an activity of the program */
	uint64_t calls, bytes[2];
	double time_s;
	double inside_s;	/* in its children */
	double from_s, width_s; /* place in the picture */
};

struct causes {
	struct cause *list; /* parents come before their children */
	size_t count, cap;
	struct map index; /* number in the list, by parent, call and layer */
	size_t depth;
};

/* The activities of a program are told apart by their names, other calls by their functions. */
static uint64_t cause_key(size_t parent, const struct call_node *node)
{
	if (node->layer == LAYER_APPLICATION)
		return UINT64_C(1) << 63 | (uint64_t)parent << 32 | node->file;
	return ((uint64_t)parent << 24 | (uint64_t)node->call << 8 | node->layer) + 1;
}

static size_t get_cause(struct causes *causes, size_t parent, const struct call_node *node)
{
	uint64_t key = cause_key(parent, node);
	size_t found = (size_t)(uintptr_t)map_get(&causes->index, key);
	struct cause *cause;

	if (found)
		return found;
	causes->list = xgrow(causes->list, &causes->cap, causes->count + 1, sizeof(*causes->list));
	cause = &causes->list[causes->count];
	*cause = (struct cause){ .parent = parent,
				 .depth = causes->list[parent].depth + 1,
				 .call = node->call,
				 .layer = node->layer,
				 .name = node->layer == LAYER_APPLICATION ? node->file : 0 };
	causes->depth = size_max(causes->depth, cause->depth);
	map_put(&causes->index, key, (void *)(uintptr_t)causes->count);
	return causes->count++;
}

/* Calls that start processes, sockets and pipes, and files that are not selected are left out,
 * with everything inside them. */
static bool is_selected(const struct plot_source *source, const struct call_node *node)
{
	const struct trace_head *head = source->profile->head;

	if (head->calls[node->call].class == CLASS_PROCESS || node->layer == LAYER_NETWORK)
		return false;
	if (node->layer == LAYER_APPLICATION)
		return !source->file;
	return !node->file ? !source->file : run_plot_selects(source, node->file);
}

static void gather_causes(struct causes *causes, const struct plot_source *source)
{
	const struct call_tree *tree = &source->profile->tree;
	AUTO_FREE size_t *numbers = xcalloc(tree->count + 1, sizeof(*numbers));

	causes->list = xgrow(NULL, &causes->cap, 1, sizeof(*causes->list));
	causes->list[0] = (struct cause){ 0 };
	causes->count = 1;
	for (size_t i = 1; i < tree->count; i++) {
		const struct call_node *node = &tree->nodes[i];
		struct cause *cause;

		if (node->parent ? !numbers[node->parent] : !is_selected(source, node))
			continue;
		numbers[i] = get_cause(causes, numbers[node->parent], node);
		cause = &causes->list[numbers[i]];
		cause->calls += node->calls;
		cause->bytes[READING] += node->bytes[READING];
		cause->bytes[WRITING] += node->bytes[WRITING];
		cause->time_s += (double)node->time_ns / 1e9;
		causes->list[cause->parent].inside_s += (double)node->time_ns / 1e9;
	}
}

static int compare_times(const void *a, const void *b, void *arg)
{
	const struct cause *list = arg;
	double x = list[*(const size_t *)a].time_s, y = list[*(const size_t *)b].time_s;

	return (x < y) - (x > y);
}

/* Children are inside their parent, the longest first. Threads of a library can take more time
 * than the call that waits for them; then the children are scaled. */
static void place_children(struct causes *causes, size_t parent, size_t *order)
{
	const struct cause *above = &causes->list[parent];
	double at = above->from_s;
	double scale = above->inside_s > above->width_s ? above->width_s / above->inside_s : 1;
	size_t count = 0;

	for (size_t i = parent + 1; i < causes->count; i++)
		if (causes->list[i].parent == parent)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), compare_times, causes->list);
	for (size_t i = 0; i < count; i++) {
		struct cause *cause = &causes->list[order[i]];

		cause->from_s = at;
		cause->width_s = cause->time_s * scale;
		at += cause->width_s;
	}
}

static void place_causes(struct causes *causes)
{
	AUTO_FREE size_t *order = xcalloc(causes->count + 1, sizeof(*order));

	causes->list[0].width_s = causes->list[0].inside_s;
	for (size_t i = 0; i < causes->count; i++)
		place_children(causes, i, order);
}

/* Bytes divided by those of the call above, in its main direction; NAN if that moved none. */
static double amplification(const struct causes *causes, const struct cause *cause)
{
	const struct cause *above = &causes->list[cause->parent];
	int way = above->bytes[WRITING] >= above->bytes[READING] ? WRITING : READING;

	if (!cause->parent || !above->bytes[way])
		return NAN;
	return (double)cause->bytes[way] / (double)above->bytes[way];
}

static const char *cause_name(const struct plot_source *source, const struct cause *cause)
{
	return cause->name ? profile_file(source->profile, cause->name)
			   : source->profile->head->calls[cause->call].name;
}

/* What is said about a cause: everything, or less if there is little room. */
enum detail { DETAIL_ALL, DETAIL_FEW, DETAIL_LEAST, DETAILS };

static void describe_cause(const struct causes *causes, const struct cause *cause,
			   enum detail detail, struct buf *out)
{
	double amplified = amplification(causes, cause);
	char size[UNIT_TEXT];

	if (detail != DETAIL_LEAST)
		buf_printf(out, "%" PRIu64 " call%s", cause->calls, cause->calls == 1 ? "" : "s");
	if (detail == DETAIL_ALL && cause->bytes[READING])
		buf_printf(out, ", %s read", unit_bytes(size, (double)cause->bytes[READING]));
	if (detail == DETAIL_ALL && cause->bytes[WRITING])
		buf_printf(out, ", %s written", unit_bytes(size, (double)cause->bytes[WRITING]));
	if (amplified > 0)
		buf_printf(out, amplified < 1000 ? "%s× %.3g" : "%s× %.0f",
			   detail != DETAIL_LEAST ? ", " : "", amplified);
}

/* The longest description that fits. */
static void put_description(struct panel *panel, const struct causes *causes,
			    const struct cause *cause, double x, double y, double width)
{
	for (int detail = DETAIL_ALL; detail < DETAILS; detail++) {
		AUTO_BUF struct buf line = { 0 };

		describe_cause(causes, cause, (enum detail)detail, &line);
		if (svg_text_width(buf_text(&line), 12) > width)
			continue;
		svg_text(&panel->figure->body, x, y, SVG_START, "mute", buf_text(&line));
		return;
	}
}

static void put_cause(struct panel *panel, const struct plot_source *source,
		      const struct causes *causes, const struct cause *cause)
{
	const char *name = cause_name(source, cause);
	double left = panel_x(panel, cause->from_s);
	double width = panel_x(panel, cause->from_s + cause->width_s) - left;
	double top = panel_y(panel, (double)cause->depth - 1);
	AUTO_BUF struct buf line = { 0 }, tip = { 0 };
	AUTO_FREE char *short_name = svg_fit(name, width - 10, 12);
	char time[UNIT_TEXT], classes[24];

	if (width < NARROWEST)
		return;
	describe_cause(causes, cause, DETAIL_ALL, &line);
	buf_printf(&tip, "%s: %s, %s", name, unit_ns(time, (int64_t)(cause->time_s * 1e9)),
		   buf_text(&line));
	snprintf(classes, sizeof(classes), "%s faint edge", style_fill(cause->layer));
	svg_rect(&panel->figure->body, left, top, width, ROW_HEIGHT - 2, classes, buf_text(&tip));
	svg_text(&panel->figure->body, left + 5, top + 16, SVG_START, "", short_name);
	put_description(panel, causes, cause, left + 5, top + 32, width - 10);
}

static void put_path(const struct plot_source *source, const struct causes *causes, size_t number,
		     struct buf *out)
{
	const struct cause *cause = &causes->list[number];

	if (cause->parent) {
		put_path(source, causes, cause->parent, out);
		buf_puts(out, " > ");
	}
	buf_puts(out, cause_name(source, cause));
}

/* The edges that move bytes, those of the most time first: narrow rectangles have no text. */
static void put_edges(struct plot *plot, const struct plot_source *source,
		      const struct causes *causes)
{
	AUTO_FREE size_t *order = xcalloc(causes->count + 1, sizeof(*order));
	size_t count = 0;

	for (size_t i = 1; i < causes->count; i++)
		if (amplification(causes, &causes->list[i]) > 0)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), compare_times, causes->list);
	for (size_t i = 0; i < size_min(count, EDGES_MAX); i++) {
		AUTO_BUF struct buf line = { 0 };

		put_path(source, causes, order[i], &line);
		buf_puts(&line, ": ");
		describe_cause(causes, &causes->list[order[i]], DETAIL_ALL, &line);
		figure_text(&plot->figure, "%s", buf_text(&line));
	}
}

static void put_rows(struct plot *plot, const struct plot_source *source,
		     const struct causes *causes)
{
	buf_puts(&plot->csv,
		 "chain,layer,depth,calls,read_bytes,written_bytes,time_s,amplification\n");
	for (size_t i = 1; i < causes->count; i++) {
		const struct cause *cause = &causes->list[i];
		double amplified = amplification(causes, cause);
		AUTO_BUF struct buf path = { 0 };

		put_path(source, causes, i, &path);
		buf_put_csv_cell(&plot->csv, buf_text(&path));
		buf_printf(&plot->csv, ",%s,%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9f,",
			   names_layer(cause->layer), cause->depth, cause->calls,
			   cause->bytes[READING], cause->bytes[WRITING], cause->time_s);
		if (!isnan(amplified))
			buf_printf(&plot->csv, "%.6g", amplified);
		buf_putc(&plot->csv, '\n');
	}
}

static void put_layers(struct plot *plot, const struct causes *causes)
{
	struct figure_key keys[LAYER_COUNT];
	size_t count = 0;

	for (unsigned layer = LAYER_COUNT; layer-- > 0;)
		for (size_t i = 1; i < causes->count; i++)
			if (causes->list[i].layer == layer) {
				keys[count++] =
					(struct figure_key){ layer, names_layer(layer), false };
				break;
			}
	figure_legend(&plot->figure, keys, count);
}

static void put_icicle(struct plot *plot, const struct plot_source *source,
		       const struct causes *causes)
{
	struct panel_plan plan = { .height = ROW_HEIGHT * (double)causes->depth,
				   .x_title = "time in calls, summed over threads and ranks",
				   .no_y = true,
				   .y_down = true,
				   .left = 16,
				   .right = 16 };
	struct panel panel;

	scale_init(&plan.x, SCALE_SECONDS, 0, causes->list[0].width_s);
	scale_init(&plan.y, SCALE_NUMBER, 0, (double)causes->depth);
	figure_panel(&plot->figure, &panel, &plan);
	for (size_t i = 1; i < causes->count; i++)
		put_cause(&panel, source, causes, &causes->list[i]);
}

static int draw_causes(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct causes causes = { 0 };
	int r = 0;

	run_plot_start(
		plot, source, &plot_causes,
		"Rectangles: each call of the program is above the calls that libraries made "
		"inside it; the width is time, the text shows calls, bytes and the bytes "
		"relative to those of the call above.");
	gather_causes(&causes, source);
	place_causes(&causes);
	if (causes.count < 2 || !(causes.list[0].width_s > 0)) {
		r = run_plot_no_data(err, "I/O calls");
	} else {
		put_layers(plot, &causes);
		put_icicle(plot, source, &causes);
		put_edges(plot, source, &causes);
		figure_text(&plot->figure,
			    "× is the amplification: bytes of the call divided by those of the "
			    "call above it.");
		put_rows(plot, source, &causes);
	}
	map_release(&causes.index);
	free(causes.list);
	return r;
}

const struct plot_kind plot_causes = {
	.name = "causes",
	.title = "Which calls caused which",
	.help = "causal chains of calls with their amplification, as an icicle",
	.subject = PLOT_RUN,
	.draw = draw_causes,
};
