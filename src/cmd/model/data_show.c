/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the plan of a campaign, the rows of a platform and their spread, and the list of
 * platforms.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/format.h"
#include "cmd/model/measure.h"
#include "predict/model/costs/rows.h"

/* The cells of one operation with one number of ranks. */
struct group {
	uint64_t ranks;
	enum operation operation;
	size_t cells, left;
	uint64_t least, most; /* bytes of an operation */
	uint64_t repetitions; /* maximum over the cells */
	double seconds;	      /* estimate for the remaining cells */
	uint64_t written;     /* bytes that the remaining cells write */
};

static size_t group_cells(const struct campaign *campaign, struct group *groups)
{
	size_t count = 0;

	for (size_t i = 0; i < campaign->count; i++) {
		const struct campaign_cell *c = &campaign->cells[i];
		struct group *g = count ? &groups[count - 1] : NULL;

		if (!g || g->ranks != c->ranks || g->operation != c->operation) {
			g = &groups[count++];
			*g = (struct group){ .ranks = c->ranks,
					     .operation = c->operation,
					     .least = UINT64_MAX };
		}
		g->cells++;
		g->least = u64_min(g->least, c->bytes);
		g->most = u64_max(g->most, c->bytes);
		g->repetitions = u64_max(g->repetitions, c->repetitions);
		if (c->is_done)
			continue;
		g->left++;
		g->seconds += c->seconds;
		g->written += c->written;
	}
	return count;
}

static const char *group_title(const struct group *g)
{
	return operations[g->operation].kind == OPERATION_STORAGE ? "storage"
								  : operations[g->operation].title;
}

static void add_group(struct table *table, const struct group *g)
{
	char text[UNIT_TEXT];

	table_add(table, "%" PRIu64, g->ranks);
	table_add(table, "%s", group_title(g));
	table_add(table, "%zu", g->cells);
	table_add(table, "%zu", g->left);
	table_add(table, "%" PRIu64, g->repetitions);
	table_add(table, "%s", unit_bytes(text, (double)g->least));
	table_add(table, "%s", unit_bytes(text, (double)g->most));
	table_add(table, "%s", unit_bytes(text, (double)g->written));
	table_add(table, "%s", format_seconds(text, g->seconds));
}

static void print_plan(const struct campaign_run *run, const struct group *groups, size_t count)
{
	static const char *const titles[] = { ">ranks",	   "operation", ">cells", ">remaining",
					      ">repeat",   ">from",	">to",	  ">written",
					      ">estimate", NULL };
	struct campaign_sum sum = campaign_remaining(&run->campaign, 0);
	char time[UNIT_TEXT], written[UNIT_TEXT], file[UNIT_TEXT];
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < count; i++)
		add_group(&table, &groups[i]);
	table_print(&table, stdout, 2);
	table_release(&table);
	term_sentence(
		stdout,
		"\n%zu of %zu cells of \"%s\" remain: about %s, %s written, largest file %s\n",
		sum.cells, run->campaign.count, run->platform, format_seconds(time, sum.seconds),
		unit_bytes(written, (double)sum.written), unit_bytes(file, (double)sum.file_bytes));
	if (run->campaign.is_over)
		term_sentence(stdout,
			      "the campaign cannot be reduced further; it is estimated to exceed "
			      "--max-time\n");
}

static void print_plan_json(const struct campaign_run *run, const struct group *groups,
			    size_t count)
{
	struct campaign_sum sum = campaign_remaining(&run->campaign, 0);
	struct json json;

	json_start(&json, stdout, MEASURE_SCHEMA);
	json_text(&json, "platform", run->platform);
	json_open(&json, "plan", '[');
	for (size_t i = 0; i < count; i++) {
		json_open(&json, NULL, '{');
		json_count(&json, "ranks", groups[i].ranks);
		json_text(&json, "operation", operations[groups[i].operation].name);
		json_count(&json, "cells", groups[i].cells);
		json_count(&json, "left", groups[i].left);
		json_count(&json, "repetitions", groups[i].repetitions);
		json_count(&json, "bytes_least", groups[i].least);
		json_count(&json, "bytes_most", groups[i].most);
		json_count(&json, "written_bytes", groups[i].written);
		json_double(&json, "seconds", groups[i].seconds);
		json_close(&json);
	}
	json_close(&json);
	json_count(&json, "cells", run->campaign.count);
	json_count(&json, "left", sum.cells);
	json_double(&json, "seconds", sum.seconds);
	json_count(&json, "written_bytes", sum.written);
	json_count(&json, "file_bytes", sum.file_bytes);
	json_bool(&json, "over_budget", run->campaign.is_over);
	json_end(&json);
}

void measure_show_plan(const struct campaign_run *run, bool json)
{
	AUTO_FREE struct group *groups = xcalloc(run->campaign.count + 1, sizeof(*groups));
	size_t count = group_cells(&run->campaign, groups);

	if (json)
		print_plan_json(run, groups, count);
	else
		print_plan(run, groups, count);
}

struct statistics {
	size_t cells, rows;
	double spread;	    /* NAN: no repetitions */
	double least, most; /* means of cells, seconds */
};

static void compute_statistics(struct statistics *s, const struct elements *rows,
			       const struct rows_cell *cells, size_t count, const char *operation)
{
	*s = (struct statistics){ .least = INFINITY, .spread = rows_spread(rows, operation) };
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows->rows[cells[i].first].operation, operation) != 0)
			continue;
		s->cells++;
		s->rows += cells[i].count;
		s->least = fmin(s->least, cells[i].mean);
		s->most = fmax(s->most, cells[i].mean);
	}
}

static void add_statistics(struct table *table, const char *platform, enum operation operation,
			   const struct statistics *s)
{
	char text[UNIT_TEXT];

	table_add(table, "%s", platform);
	table_add(table, "%s", operations[operation].name);
	table_add(table, "%s", operations[operation].title);
	table_add(table, "%zu", s->cells);
	table_add(table, "%zu", s->rows);
	table_add(table, "%s", format_seconds(text, s->least));
	table_add(table, "%s", format_seconds(text, s->most));
	if (isnan(s->spread))
		table_add(table, "-");
	else
		table_add(table, "%.1f%%", 100 * s->spread);
}

static void print_statistics_json(struct json *json, enum operation operation,
				  const struct statistics *s)
{
	json_open(json, NULL, '{');
	json_text(json, "operation", operations[operation].name);
	json_text(json, "title", operations[operation].title);
	json_count(json, "cells", s->cells);
	json_count(json, "rows", s->rows);
	json_double(json, "seconds_least", s->least);
	json_double(json, "seconds_most", s->most);
	json_double(json, "spread", s->spread);
	json_close(json);
}

/* Adds a platform to the table or, if json is not NULL, to the JSON. */
static void add_platform(struct table *table, struct json *json, const char *platform,
			 const struct elements *rows)
{
	AUTO_FREE struct rows_cell *cells = NULL;
	size_t count = rows_cells(rows, &cells);

	for (int o = 0; o < OPERATIONS; o++) {
		struct statistics s;

		compute_statistics(&s, rows, cells, count, operations[o].name);
		if (!s.rows)
			continue;
		if (json)
			print_statistics_json(json, (enum operation)o, &s);
		else
			add_statistics(table, platform, (enum operation)o, &s);
	}
}

static const char *const statistics_titles[] = { "platform",  "",	 "operation",
						 ">cells",    ">rows",	 ">min mean",
						 ">max mean", ">spread", NULL };

void measure_show_rows(const struct campaign_run *run, const struct elements *rows, bool json)
{
	char time[UNIT_TEXT];
	struct table table;
	struct json out;

	if (json) {
		json_start(&out, stdout, MEASURE_SCHEMA);
		json_text(&out, "platform", run->platform);
		json_count(&out, "cells_known", run->known);
		json_count(&out, "cells_measured", run->measured);
		json_count(&out, "rows_added", run->rows);
		json_double(&out, "seconds", run->seconds);
		json_open(&out, "operations", '[');
		add_platform(NULL, &out, run->platform, rows);
		json_end(&out);
		return;
	}
	table_init(&table, statistics_titles);
	add_platform(&table, NULL, run->platform, rows);
	table_print(&table, stdout, 0);
	table_release(&table);
	term_sentence(stdout,
		      "\n%zu cells measured in %s, %zu rows added; %zu cells were already stored\n",
		      run->measured, format_seconds(time, run->seconds), run->rows, run->known);
	term_sentence(stdout, "spread: standard deviation divided by mean, median over cells\n");
}

struct list {
	const char *only; /* NULL: all */
	char **names;
	size_t count, cap;
};

static int append_name(void *arg, const char *platform, uint64_t rows)
{
	struct list *list = arg;

	(void)rows;
	if (list->only && strcmp(list->only, platform) != 0)
		return 0;
	list->names = xgrow(list->names, &list->cap, list->count + 1, sizeof(*list->names));
	list->names[list->count++] = xstrdup(platform);
	return 0;
}

static int print_list(const struct list *list, struct store *store, bool as_json, struct err *err)
{
	struct table table;
	struct json json;
	int r = 0;

	table_init(&table, statistics_titles);
	if (as_json) {
		json_start(&json, stdout, MEASURE_SCHEMA);
		json_open(&json, "platforms", '[');
	}
	for (size_t i = 0; r >= 0 && i < list->count; i++) {
		struct elements rows = { 0 };

		r = elements_load(store, list->names[i], NULL, &rows, err);
		if (as_json) {
			json_open(&json, NULL, '{');
			json_text(&json, "platform", list->names[i]);
			json_open(&json, "operations", '[');
		}
		add_platform(&table, as_json ? &json : NULL, list->names[i], &rows);
		if (as_json) {
			json_close(&json);
			json_close(&json);
		}
		elements_release(&rows);
	}
	if (as_json)
		json_end(&json);
	else
		table_print(&table, stdout, 0);
	table_release(&table);
	return r;
}

int measure_show_list(struct command *command, const char *only, bool json, struct store *store)
{
	struct list list = { .only = only };
	struct err err = { 0 };
	int r = elements_platforms(store, append_name, &list, &err);

	if (r >= 0 && !list.count && !json) {
		command_fail(command, "no measurements%s%s yet", list.only ? " of " : "",
			     list.only ? list.only : "");
		free(list.names);
		return COMMAND_NO_DATA;
	}
	if (r >= 0)
		r = print_list(&list, store, json, &err);
	for (size_t i = 0; i < list.count; i++)
		free(list.names[i]);
	free(list.names);
	return r < 0 ? command_fail(command, "%s", err.text) : command_finish(command);
}
