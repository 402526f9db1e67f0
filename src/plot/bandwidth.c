/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bandwidth over time: the phases that the program has marked, one panel per layer, each with its
 * own scale, and the load of the nodes below.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/unit.h"
#include "observe/tally/names.h"
#include "observe/tally/traffic.h"
#include "plot/run_plot.h"

#define LAYER_HEIGHT 92.0
#define NODE_HEIGHT 110.0
#define PHASE_HEIGHT 16.0

/* The statistics of nodes that are shown, in percent; see docs/reference/statistics.md. */
static const struct {
	const char *statistic, *name;
	unsigned color;
} loads[] = {
	{ "utilization/cpu", "processors", 2 },
	{ "utilization/io", "disks", 3 },
	{ "utilization/network", "network", 5 },
	{ "utilization/memory", "memory", 6 },
};
enum { LOADS = sizeof(loads) / sizeof(*loads) };

/* The profile on its time axis. */
struct bandwidth {
	const struct profile *profile;
	size_t bins;
	double edges[TIMELINE_BINS + 1]; /* seconds */
};

static bool has_bytes(const struct bandwidth *b, unsigned layer, uint64_t sums[2])
{
	const struct timeline_bin *bins = b->profile->timeline.layers[layer];

	sums[READING] = sums[WRITING] = 0;
	for (size_t i = 0; i < b->bins; i++) {
		sums[READING] += bins[i].bytes[READING];
		sums[WRITING] += bins[i].bytes[WRITING];
	}
	return sums[READING] + sums[WRITING] > 0;
}

static bool is_drawn(const struct bandwidth *b, const struct plot_source *source, unsigned layer)
{
	uint64_t sums[2];

	return (layer != LAYER_NETWORK || source->all) && has_bytes(b, layer, sums);
}

static double bin_rate(const struct bandwidth *b, unsigned layer, size_t bin, int way)
{
	const struct timeline *t = &b->profile->timeline;

	return (double)t->layers[layer][bin].bytes[way] / ((double)t->bin_ns / 1e9);
}

static void init_bandwidth(struct bandwidth *b, const struct plot_source *source)
{
	*b = (struct bandwidth){ .profile = source->profile };
	b->bins = run_plot_bins(&b->profile->timeline, b->profile->head);
	for (size_t i = 0; i <= b->bins; i++)
		b->edges[i] = run_plot_time_s(&b->profile->timeline, i);
}

/* "POSIX: 4.00 MiB read, 40.0 MiB written" */
static char *make_title(unsigned layer, const uint64_t sums[2])
{
	static const char *const words[] = { [READING] = "read", [WRITING] = "written" };
	AUTO_BUF struct buf title = { 0 };
	char size[UNIT_TEXT];

	buf_puts(&title, names_layer(layer));
	for (int way = READING; way <= WRITING; way++)
		if (sums[way])
			buf_printf(&title, "%s %s %s", way == WRITING && sums[READING] ? "," : ":",
				   unit_bytes(size, (double)sums[way]), words[way]);
	return buf_take(&title);
}

static void put_layer(struct plot *plot, const struct bandwidth *b, unsigned layer, bool is_last)
{
	struct panel_plan plan = { .height = LAYER_HEIGHT,
				   .is_time = true,
				   .x_title = is_last ? "time since the start" : NULL,
				   .no_x_labels = !is_last };
	double reads[TIMELINE_BINS], tops[TIMELINE_BINS], most = 0;
	AUTO_FREE char *title = NULL;
	struct panel panel;
	uint64_t sums[2];

	has_bytes(b, layer, sums);
	title = make_title(layer, sums);
	plan.title = title;
	for (size_t i = 0; i < b->bins; i++) {
		reads[i] = bin_rate(b, layer, i, READING);
		tops[i] = reads[i] + bin_rate(b, layer, i, WRITING);
		most = fmax(most, tops[i]);
	}
	scale_init(&plan.x, SCALE_SECONDS, b->edges[0], b->edges[b->bins]);
	scale_init(&plan.y, SCALE_RATE, 0, most);
	scale_round(&plan.y, 2);
	figure_panel(&plot->figure, &panel, &plan);
	if (sums[WRITING])
		panel_steps(&panel, PLOT_WRITE_COLOR, b->edges, reads, tops, b->bins);
	if (sums[READING])
		panel_steps(&panel, PLOT_READ_COLOR, b->edges, NULL, reads, b->bins);
}

static void put_layer_rows(struct plot *plot, const struct bandwidth *b, unsigned layer)
{
	const struct timeline_bin *bins = b->profile->timeline.layers[layer];

	for (size_t i = 0; i < b->bins; i++)
		if (bins[i].calls || bins[i].bytes[READING] || bins[i].bytes[WRITING])
			buf_printf(&plot->csv,
				   "%.9g,%.9g,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9f,\n",
				   b->edges[i], b->edges[i + 1], names_layer(layer), bins[i].calls,
				   bins[i].bytes[READING], bins[i].bytes[WRITING],
				   (double)bins[i].time_ns / 1e9);
}

/* The mean over nodes of the samples in each interval, NAN where there is none. */
static size_t average_load(const struct trace_head *head, const char *name, size_t count,
			   double duration_s, double *means)
{
	AUTO_FREE size_t *hits = xcalloc(count + 1, sizeof(*hits));
	size_t all = 0;

	memset(means, 0, count * sizeof(*means));
	for (size_t i = 0; i < head->sample_count; i++) {
		const struct stat_sample *sample = &head->samples[i];
		const struct statistic_info *info = &head->statistics[sample->statistic];
		double at = ((double)sample->time_ns - (double)sample->period_ns / 2) / 1e9;

		if (strcmp(info->name, name) != 0 || !(at >= 0) || at >= duration_s)
			continue;
		means[(size_t)(at / duration_s * (double)count)] +=
			(double)sample->value / (info->scale ? info->scale : 1) / 100;
		hits[(size_t)(at / duration_s * (double)count)]++;
		all++;
	}
	for (size_t i = 0; i < count; i++)
		means[i] = hits[i] ? means[i] / (double)hits[i] : NAN;
	return all;
}

/* Intervals as long as the time between two samples, so that the lines have no gaps. */
static size_t count_intervals(const struct trace_head *head, double duration_s)
{
	double period_s = duration_s / TIMELINE_BINS;

	for (size_t i = 0; i < head->sample_count; i++)
		period_s = fmax(period_s, (double)head->samples[i].period_ns / 1e9);
	return size_max(size_min((size_t)(duration_s / period_s), TIMELINE_BINS), 1);
}

static void put_load(struct plot *plot, struct panel *panel, const struct bandwidth *b, int load,
		     size_t count)
{
	double x[TIMELINE_BINS], means[TIMELINE_BINS], duration_s = b->edges[b->bins];

	if (!average_load(b->profile->head, loads[load].statistic, count, duration_s, means))
		return;
	for (size_t i = 0; i < count; i++) {
		x[i] = ((double)i + 0.5) * duration_s / (double)count;
		if (!isnan(means[i]))
			buf_printf(&plot->csv, "%.9g,%.9g,%s,,,,,%.6g\n",
				   (double)i * duration_s / (double)count,
				   ((double)i + 1) * duration_s / (double)count,
				   loads[load].statistic, means[i]);
	}
	panel_line(panel, loads[load].color, "", x, means, count);
}

static bool has_load(const struct trace_head *head, const char *name)
{
	for (size_t i = 0; i < head->sample_count; i++)
		if (strcmp(head->statistics[head->samples[i].statistic].name, name) == 0)
			return true;
	return false;
}

static void put_loads(struct plot *plot, const struct bandwidth *b)
{
	struct panel_plan plan = { .title = "load of the nodes",
				   .height = NODE_HEIGHT,
				   .is_time = true,
				   .x_title = "time since the start" };
	size_t count = count_intervals(b->profile->head, b->edges[b->bins]);
	struct figure_key keys[LOADS];
	size_t key_count = 0;
	struct panel panel;

	for (int i = 0; i < LOADS; i++)
		if (has_load(b->profile->head, loads[i].statistic))
			keys[key_count++] =
				(struct figure_key){ loads[i].color, loads[i].name, true };
	if (!key_count)
		return;
	scale_init(&plan.x, SCALE_SECONDS, b->edges[0], b->edges[b->bins]);
	scale_init(&plan.y, SCALE_SHARE, 0, 1);
	figure_legend(&plot->figure, keys, key_count);
	figure_panel(&plot->figure, &panel, &plan);
	for (int i = 0; i < LOADS; i++)
		put_load(plot, &panel, b, i, count);
}

/* The phases that the program has marked, above all layers; those of one rank. */
static void put_phases(struct plot *plot, const struct bandwidth *b)
{
	struct panel_plan plan = { .height = PHASE_HEIGHT,
				   .title = "phases of the program",
				   .is_time = true,
				   .no_x_labels = true,
				   .no_y = true };
	struct figure_key keys[STYLE_SERIES];
	size_t count, key_count = 0;
	AUTO_FREE struct mark_beginning *phases = marks_phases(&b->profile->marks, &count);
	struct panel panel;

	if (!count)
		return;
	scale_init(&plan.x, SCALE_SECONDS, b->edges[0], b->edges[b->bins]);
	scale_init(&plan.y, SCALE_SHARE, 0, 1);
	for (size_t i = 0; i < count; i++) {
		const char *name = profile_file(b->profile, (file_id)phases[i].name);
		unsigned color = 0;

		while (color < key_count && strcmp(keys[color].name, name) != 0)
			color++;
		if (color == key_count && key_count < STYLE_SERIES)
			keys[key_count++] = (struct figure_key){ color, name, false };
	}
	figure_legend(&plot->figure, keys, key_count);
	figure_panel(&plot->figure, &panel, &plan);
	for (size_t i = 0; i < count; i++) {
		const char *name = profile_file(b->profile, (file_id)phases[i].name);
		double from = (double)phases[i].start_ns / 1e9;
		double to =
			i + 1 < count ? (double)phases[i + 1].start_ns / 1e9 : b->edges[b->bins];
		AUTO_FREE char *series = NULL;
		unsigned color = 0;

		while (color < key_count && strcmp(keys[color].name, name) != 0)
			color++;
		panel_rect(&panel, style_fill(color), from, to, 0, 1, name);
		series = xprintf("phase %s", name);
		buf_printf(&plot->csv, "%.9g,%.9g,", from, to);
		buf_put_csv_cell(&plot->csv, series);
		buf_puts(&plot->csv, ",,,,,\n");
	}
}

static int draw_bandwidth(const struct plot_source *source, struct plot *plot, struct err *err)
{
	struct bandwidth b;
	unsigned last = LAYER_COUNT;

	init_bandwidth(&b, source);
	run_plot_start(plot, source, &plot_bandwidth,
		       "One panel per layer with the bytes read and written per second over time, "
		       "and a panel with the load of the nodes.");
	for (unsigned layer = 0; layer < LAYER_COUNT; layer++)
		if (is_drawn(&b, source, layer))
			last = last == LAYER_COUNT ? layer : last;
	if (last == LAYER_COUNT)
		return run_plot_no_data(err, "transfers");
	run_plot_directions(plot);
	buf_puts(&plot->csv, "from_s,to_s,series,calls,read_bytes,written_bytes,time_s,load\n");
	put_phases(plot, &b);
	/* Libraries come first, as they call the layers below. */
	for (unsigned layer = LAYER_COUNT; layer-- > 0;)
		if (is_drawn(&b, source, layer)) {
			put_layer(plot, &b, layer, layer == last);
			put_layer_rows(plot, &b, layer);
		}
	put_loads(plot, &b);
	return 0;
}

const struct plot_kind plot_bandwidth = {
	.name = "bandwidth",
	.title = "Bandwidth over time",
	.help = "bytes per second over time, per layer, with the load of the nodes",
	.subject = PLOT_RUN,
	.is_over_time = true,
	.draw = draw_bandwidth,
};
