/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of a summary by layer, function, file and rank, as text and page show them.
 */
#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/unit.h"
#include "observe/report/render.h"
#include "observe/tally/names.h"
#include "observe/tally/summary.h"

/* Titles are collected column by column; the cells of a row follow the same order. */
struct titles {
	const char *list[TABLE_COLUMNS_MAX + 1];
	size_t count;
};

static void add_title(struct titles *titles, const char *title)
{
	if (titles->count < TABLE_COLUMNS_MAX)
		titles->list[titles->count++] = title;
}

/* In a parallel run, the time is that of a rank. */
static void add_tally_titles(struct titles *titles, const struct summary *s)
{
	if (s->ranks.count)
		add_title(titles, ">ranks");
	for (size_t i = 0; i < TALLY_MEASURES; i++) {
		if (i == TALLY_TIME && s->ranks.count) {
			add_title(titles, ">time/rank");
			add_title(titles, ">min");
			add_title(titles, ">max");
			add_title(titles, ">slowest");
		} else if (tally_measures[i].title) {
			add_title(titles, tally_measures[i].title);
		}
		if (i == TALLY_TIME)
			add_title(titles, ">of run");
	}
}

static void add_value(struct table *table, const struct measure *measure, double value)
{
	char text[UNIT_TEXT];

	table_add_number(table, value, "%s", measure_text(text, measure->quantity, value));
}

static void add_spread(struct table *table, const struct measure *measure,
		       const struct spread *spread)
{
	/* What all ranks did together has no spread. */
	add_value(table, measure, spread_average(spread));
	add_value(table, measure, spread->count ? spread->minimum : NAN);
	add_value(table, measure, spread->count ? spread->maximum : NAN);
	if (spread->count)
		table_add_number(table, spread->maximum_rank, "%" PRId32, spread->maximum_rank);
	else
		table_add(table, "-");
}

static void add_tally(struct table *table, const struct summary *s, const struct summary_row *row)
{
	bool is_io = !row->is_process && !row->is_network && names_layer_is_io(row->layer);
	struct spread time = summary_spread(s, row, &tally_measures[TALLY_TIME]);
	double share = is_io ? summary_share(s, (double)row->tally->time_ns) : NAN;
	char text[UNIT_TEXT];

	if (s->ranks.count)
		table_add_number(table, (double)time.count, "%zu", time.count);
	for (size_t i = 0; i < TALLY_MEASURES; i++) {
		const struct measure *measure = &tally_measures[i];

		if (i == TALLY_TIME && s->ranks.count)
			add_spread(table, measure, &time);
		else if (measure->title)
			add_value(table, measure, measure->get(row->tally));
		if (i == TALLY_TIME)
			table_add_number(table, share, "%s", unit_share(text, share, is_io));
	}
}

size_t render_layer_table(struct table *table, const struct report *report)
{
	const struct summary *s = report->summary;
	struct titles titles = { .list = { "layer" }, .count = 1 };
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_rows(s, SUMMARY_LAYERS, &count);

	add_tally_titles(&titles, s);
	table_init(table, titles.list);
	for (size_t i = 0; i < count; i++) {
		table_add(table, "%s", rows[i].name);
		add_tally(table, s, &rows[i]);
	}
	return count;
}

size_t render_function_table(struct table *table, const struct report *report)
{
	const struct summary *s = report->summary;
	struct titles titles = { .list = { "function", "layer" }, .count = 2 };
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_rows(s, SUMMARY_FUNCTIONS, &count);

	add_tally_titles(&titles, s);
	table_init(table, titles.list);
	for (size_t i = 0; i < count && i < report->top; i++) {
		table_add(table, rows[i].counted ? "(%s)" : "%s", rows[i].name);
		table_add(table, "%s", names_layer(rows[i].layer));
		add_tally(table, s, &rows[i]);
	}
	return count;
}

/* Appends the layers that accessed the file, from the highest down: "HDF5,MPI,POSIX". */
static void add_layers(struct table *table, uint8_t layers)
{
	AUTO_BUF struct buf text = { 0 };

	for (unsigned layer = LAYER_COUNT; layer-- > 0;) {
		if (layers >> layer & 1)
			buf_printf(&text, "%s%s", text.len ? "," : "", names_layer(layer));
	}
	table_add(table, "%s", buf_text(&text));
}

size_t render_file_table(struct table *table, const struct report *report)
{
	const struct summary *s = report->summary;
	bool has_libraries = summary_has_libraries(s);
	struct titles titles = { .count = 0 };
	size_t count, users;
	AUTO_FREE struct summary_row *rows = summary_rows(s, SUMMARY_FILES, &count);
	struct tally totals[FILE_CLASSES];

	users = count;
	if (!report->all)
		count = summary_fold_files(rows, count, &users, totals);
	add_tally_titles(&titles, s);
	if (has_libraries)
		add_title(&titles, "layers");
	add_title(&titles, "file"); /* last, because its width is unbounded */
	table_init(table, titles.list);
	for (size_t i = 0; i < count; i++) {
		if (i >= report->top && i < users)
			continue;
		add_tally(table, s, &rows[i]);
		if (has_libraries)
			add_layers(table, rows[i].layers);
		if (rows[i].folded)
			table_add(table, "%s (%zu)", rows[i].name, rows[i].folded);
		else
			table_add(table, "%s", rows[i].name);
	}
	if (count > users)
		table->note = "--all shows each system file, socket and pipe";
	return count;
}

size_t render_rank_table(struct table *table, const struct report *report)
{
	const struct summary *s = report->summary;
	struct titles titles = { .list = { ">rank", "host" }, .count = 2 };

	for (size_t i = 0; i < SUMS_MEASURES; i++) {
		if (sums_measures[i].title)
			add_title(&titles, sums_measures[i].title);
	}
	table_init(table, titles.list);
	for (size_t rank = 0; rank < s->ranks.count; rank++) {
		table_add_number(table, s->ranks.list[rank].number, "%" PRId32,
				 s->ranks.list[rank].number);
		table_add(table, "%s", s->ranks.list[rank].host);
		for (size_t i = 0; i < SUMS_MEASURES; i++) {
			if (sums_measures[i].title)
				add_value(table, &sums_measures[i],
					  sums_measures[i].get(&s->of_rank[rank]));
		}
	}
	return s->ranks.count;
}
