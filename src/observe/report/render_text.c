/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders a summary as tables for people.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/unit.h"
#include "observe/report/render.h"
#include "observe/report/render_findings.h"
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

	table_add(table, "%s", measure_text(text, measure->quantity, value));
}

static void add_spread(struct table *table, const struct measure *measure,
		       const struct spread *spread)
{
	/* What all ranks did together has no spread. */
	add_value(table, measure, spread_average(spread));
	add_value(table, measure, spread->count ? spread->minimum : NAN);
	add_value(table, measure, spread->count ? spread->maximum : NAN);
	if (spread->count)
		table_add(table, "%" PRId32, spread->maximum_rank);
	else
		table_add(table, "-");
}

static void add_tally(struct table *table, const struct summary *s, const struct summary_row *row)
{
	bool is_io = !row->is_process && !row->is_network && row->layer != LAYER_NETWORK;
	struct spread time = summary_spread(s, row, &tally_measures[TALLY_TIME]);
	char share[UNIT_TEXT];

	if (s->ranks.count)
		table_add(table, "%zu", time.count);
	for (size_t i = 0; i < TALLY_MEASURES; i++) {
		const struct measure *measure = &tally_measures[i];

		if (i == TALLY_TIME && s->ranks.count)
			add_spread(table, measure, &time);
		else if (measure->title)
			add_value(table, measure, measure->get(row->tally));
		if (i == TALLY_TIME)
			table_add(table, "%s",
				  unit_share(share, summary_share(s, (double)row->tally->time_ns),
					     is_io));
	}
}

static void print_more(FILE *out, size_t count, uint64_t top, const char *what)
{
	if (count > top)
		term_printf(out, "  ... and %zu more %s (--top %zu shows all)\n",
			    count - (size_t)top, what, count);
}

static void print_layers(FILE *out, const struct summary *s)
{
	struct titles titles = { .list = { "layer" }, .count = 1 };
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_rows(s, SUMMARY_LAYERS, &count);
	struct table table;

	add_tally_titles(&titles, s);
	table_init(&table, titles.list);
	for (size_t i = 0; i < count; i++) {
		table_add(&table, "%s", rows[i].name);
		add_tally(&table, s, &rows[i]);
	}
	fputs("\nBy layer\n", out);
	table_print(&table, out, 2);
	table_release(&table);
}

static void print_functions(FILE *out, const struct summary *s, uint64_t top)
{
	struct titles titles = { .list = { "function", "layer" }, .count = 2 };
	size_t count;
	AUTO_FREE struct summary_row *rows = summary_rows(s, SUMMARY_FUNCTIONS, &count);
	struct table table;

	add_tally_titles(&titles, s);
	table_init(&table, titles.list);
	for (size_t i = 0; i < count && i < top; i++) {
		table_add(&table, rows[i].counted ? "(%s)" : "%s", rows[i].name);
		table_add(&table, "%s", names_layer(rows[i].layer));
		add_tally(&table, s, &rows[i]);
	}
	fputs("\nBy function\n", out);
	table_print(&table, out, 2);
	print_more(out, count, top, "functions");
	table_release(&table);
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

static void print_folded(FILE *out, bool any)
{
	if (any)
		term_printf(out, "  (--all shows each system file, socket and pipe)\n");
}

static void print_files(FILE *out, const struct summary *s, uint64_t top, bool all)
{
	bool has_libraries = summary_has_libraries(s);
	struct titles titles = { .count = 0 };
	size_t count, users;
	AUTO_FREE struct summary_row *rows = summary_rows(s, SUMMARY_FILES, &count);
	struct tally totals[FILE_CLASSES];
	struct table table;

	users = count;
	if (!all)
		count = summary_fold_files(rows, count, &users, totals);
	add_tally_titles(&titles, s);
	if (has_libraries)
		add_title(&titles, "layers");
	add_title(&titles, "file"); /* last, because its width is unbounded */
	table_init(&table, titles.list);
	for (size_t i = 0; i < count; i++) {
		if (i >= top && i < users)
			continue;
		add_tally(&table, s, &rows[i]);
		if (has_libraries)
			add_layers(&table, rows[i].layers);
		if (rows[i].folded)
			table_add(&table, "%s (%zu)", rows[i].name, rows[i].folded);
		else
			table_add(&table, "%s", rows[i].name);
	}
	fputs("\nBy file\n", out);
	table_print(&table, out, 2);
	print_more(out, users, top, "files");
	print_folded(out, count > users);
	table_release(&table);
}

static void print_ranks(FILE *out, const struct summary *s)
{
	struct titles titles = { .list = { ">rank", "host" }, .count = 2 };
	struct table table;

	for (size_t i = 0; i < SUMS_MEASURES; i++) {
		if (sums_measures[i].title)
			add_title(&titles, sums_measures[i].title);
	}
	table_init(&table, titles.list);
	for (size_t rank = 0; rank < s->ranks.count; rank++) {
		table_add(&table, "%" PRId32, s->ranks.list[rank].number);
		table_add(&table, "%s", s->ranks.list[rank].host);
		for (size_t i = 0; i < SUMS_MEASURES; i++) {
			if (sums_measures[i].title)
				add_value(&table, &sums_measures[i],
					  sums_measures[i].get(&s->of_rank[rank]));
		}
	}
	fputs("\nBy rank\n", out);
	table_print(&table, out, 2);
	table_release(&table);
}

void render_text(FILE *out, const struct report *report)
{
	const struct summary *s = report->summary;
	AUTO_BUF struct buf verdict = { 0 };
	AUTO_BUF struct buf notes = { 0 };

	render_verdict(&verdict, s);
	render_notes(&notes, s);
	term_headline(out, buf_text(&verdict));
	term_printf(out, "%s\n", s->head->run.command ? s->head->run.command : "");
	if (report->findings)
		render_findings(out, report->profile, report->findings, report->finding_count,
				report->findings_shown);
	term_printf(out, "\n");
	term_lines(out, buf_text(&notes));
	render_events(out, report);
	render_parameters(out, report);
	if (report->by_rank && s->ranks.count && s->of_rank)
		print_ranks(out, s);
	print_layers(out, s);
	print_functions(out, s, report->top);
	print_files(out, s, report->top, report->all);
	render_note_groups(out, report);
}
