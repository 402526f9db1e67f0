/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders the parameters of a run and their effect. Files with the same result share one row.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "observe/report/render.h"
#include "observe/tally/effect.h"
#include "observe/tally/summary.h"

/* Rows of several files with the same result. */
struct parameter_group {
	const struct parameter *first;
	struct effect_judgment judgment;
	size_t files;
	uint64_t openings, agreeing;
};

static bool is_requested(const struct parameter *row)
{
	return row->requested || row->refusal;
}

static bool is_alike(const struct parameter_group *g, const struct parameter *row,
		     const struct effect_judgment *judgment)
{
	const struct parameter *p = g->first;

	return p->of == row->of && text_equal(p->name, row->name) &&
	       text_equal(p->requested, row->requested) && text_equal(p->refusal, row->refusal) &&
	       text_equal(p->effective, row->effective) && g->judgment.effect == judgment->effect &&
	       !g->judgment.datasets == !judgment->datasets &&
	       text_equal(g->judgment.by, judgment->by);
}

/* Groups the requested parameters. The caller frees the groups. */
static struct parameter_group *groups_new(const struct summary *s, const struct parameter *rows,
					  size_t n, size_t *count)
{
	struct parameter_group *groups = xcalloc(n + 1, sizeof(*groups));

	*count = 0;
	for (size_t i = 0; i < n; i++) {
		struct effect_judgment judgment;
		struct parameter_group *g = groups;

		if (!is_requested(&rows[i]))
			continue;
		judgment =
			effect_judge(&rows[i], parameters_evidence(&s->parameters, rows[i].file));
		while (g < groups + *count && !is_alike(g, &rows[i], &judgment))
			g++;
		if (g == groups + *count)
			groups[(*count)++] =
				(struct parameter_group){ .first = &rows[i], .judgment = judgment };
		else
			effect_join(&g->judgment, &judgment);
		g->files++;
		g->openings += rows[i].openings;
		g->agreeing += rows[i].agreeing;
	}
	return groups;
}

static const char *file_name(const struct summary *s, file_id file)
{
	const char *path, *base;

	if (!file || file >= s->head->file_count)
		return "-";
	path = s->head->files[file];
	base = path_base_name(path);
	return *base ? base : path;
}

static void add_effect(struct table *table, const struct effect_judgment *j)
{
	const char *who = j->effect == EFFECT_APPLIED	? j->by
			  : j->effect == EFFECT_IGNORED ? "not applied"
							: "unknown";

	if (j->why[0])
		table_add(table, "%s (%s)", who, j->why);
	else
		table_add(table, "%s", who);
}

/* Who decided on a parameter: a word of contract/sources.h; NULL: unknown. */
static const char *find_decider(const struct summary *s, const struct parameter *p)
{
	if (text_equal(p->refusal, "application") || text_equal(p->refusal, "hints_file"))
		return "program";
	for (size_t i = 0; i < s->head->note_count; i++) {
		const struct note *note = &s->head->notes[i];

		if (text_equal(note->kind, NOTE_DECISION) && text_equal(note->name, p->name))
			return note->source;
	}
	return NULL;
}

static void add_group(struct table *table, const struct summary *s, const struct parameter_group *g)
{
	const struct parameter *p = g->first;

	table_add(table, "%s", p->name);
	if (g->files > 1)
		table_add(table, "%zu files", g->files);
	else
		table_add(table, "%s", file_name(s, p->file));
	table_add(table, "%s", p->requested ? p->requested : "-");
	table_add(table, "%s", p->effective ? p->effective : "-");
	table_add_number(table, g->openings ? (double)g->agreeing / (double)g->openings : NAN,
			 "%" PRIu64 "/%" PRIu64, g->agreeing, g->openings);
	add_effect(table, &g->judgment);
	table_add(table, "%s", find_decider(s, p) ? find_decider(s, p) : "-");
}

/* Adds the rows of the requested parameters. *read_back is the number of parameters of the run. */
static size_t build_table(struct table *table, const struct report *report, size_t *read_back)
{
	static const char *const titles[] = { "parameter", "file",	 "requested",  "effective",
					      ">agree",	   "applied by", "decided by", NULL };
	const struct summary *s = report->summary;
	struct parameter *rows = parameters_rows(&s->parameters, read_back);
	size_t count;
	AUTO_FREE struct parameter_group *groups = groups_new(s, rows, *read_back, &count);

	table_init(table, titles);
	for (size_t i = 0; i < count; i++)
		add_group(table, s, &groups[i]);
	parameters_rows_release(rows, *read_back);
	return count;
}

size_t render_parameter_table(struct table *table, const struct report *report)
{
	size_t read_back;

	return build_table(table, report, &read_back);
}

void render_parameters(FILE *out, const struct report *report)
{
	struct table table;
	size_t read_back, count = build_table(&table, report, &read_back);

	if (read_back)
		fputs("\nParameters\n", out);
	if (count)
		table_print(&table, out, 2);
	else if (read_back)
		fprintf(out,
			"  no parameter was requested; %zu values were read back (see --json)\n",
			read_back);
	table_release(&table);
}

static void put_parameter(struct json *json, const struct summary *s, const struct parameter *row)
{
	static const char *const of[] = { "", "MPI file", "HDF5 file", "HDF5 dataset", "file" };
	struct effect_judgment j;

	json_open(json, NULL, '{');
	json_text(json, "name", row->name);
	json_text(json, "of", of[row->of]);
	json_text(json, "file", row->file < s->head->file_count ? s->head->files[row->file] : "");
	if (row->requested)
		json_text(json, "requested", row->requested);
	if (row->refusal)
		json_text(json, "refused", row->refusal);
	if (row->effective)
		json_text(json, "effective", row->effective);
	if (is_requested(row) && find_decider(s, row))
		json_text(json, "decided_by", find_decider(s, row));
	json_count(json, "openings", row->openings);
	json_count(json, "agreeing", row->agreeing);
	if (is_requested(row)) {
		j = effect_judge(row, parameters_evidence(&s->parameters, row->file));
		json_text(json, "honoured", effect_name(j.effect));
		json_text(json, "by", j.by);
		json_text(json, "why", j.why);
	}
	json_close(json);
}

void render_parameters_json(struct json *json, const struct summary *summary)
{
	size_t n;
	struct parameter *rows = parameters_rows(&summary->parameters, &n);

	json_open(json, "parameters", '[');
	for (size_t i = 0; i < n; i++)
		put_parameter(json, summary, &rows[i]);
	json_close(json);
	parameters_rows_release(rows, n);
}

/* Is it the first group with its name? */
static bool is_first(const struct parameter_group *groups, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(groups[k].first->name, groups[i].first->name) == 0)
			return false;
	return true;
}

/* A parameter must be applied to all files to count as applied. */
static bool is_applied(const struct parameter_group *groups, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(groups[i].first->name, name) == 0 &&
		    groups[i].judgment.effect != EFFECT_APPLIED)
			return false;
	return true;
}

void render_applied(struct buf *out, const struct summary *summary)
{
	size_t n, count, asked = 0, applied = 0;
	struct parameter *rows = parameters_rows(&summary->parameters, &n);
	AUTO_FREE struct parameter_group *groups = groups_new(summary, rows, n, &count);

	for (size_t i = 0; i < count; i++) {
		if (!is_first(groups, i))
			continue;
		asked++;
		applied += is_applied(groups, count, groups[i].first->name);
	}
	parameters_rows_release(rows, n);
	if (asked)
		buf_printf(out, "%zu of %zu applied", applied, asked);
}
