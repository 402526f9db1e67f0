/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What became of the parameters that a run was given, made readable. Files that fared alike are one
 * row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "observe/tally/effect.h"
#include "observe/report/render.h"
#include "observe/tally/summary.h"

/* Rows of several files that say the same. */
struct alike {
	const struct parameter *first;
	struct judgement judgement;
	size_t files;
	uint64_t openings, agreeing;
};

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_asked(const struct parameter *row)
{
	return row->requested || row->refusal;
}

static bool is_alike(const struct alike *g, const struct parameter *row,
		     const struct judgement *judgement)
{
	const struct parameter *p = g->first;

	return p->of == row->of && same_text(p->name, row->name) &&
	       same_text(p->requested, row->requested) && same_text(p->refusal, row->refusal) &&
	       same_text(p->effective, row->effective) &&
	       g->judgement.honour == judgement->honour &&
	       !g->judgement.datasets == !judgement->datasets &&
	       same_text(g->judgement.by, judgement->by);
}

/* Of those that were asked for. The caller frees. */
static struct alike *groups_new(const struct summary *s, const struct parameter *rows, size_t n,
				size_t *count)
{
	struct alike *groups = xcalloc(n + 1, sizeof(*groups));

	*count = 0;
	for (size_t i = 0; i < n; i++) {
		struct judgement judgement;
		struct alike *g = groups;

		if (!is_asked(&rows[i]))
			continue;
		judgement =
			effect_judge(&rows[i], parameters_evidence(&s->parameters, rows[i].file));
		while (g < groups + *count && !is_alike(g, &rows[i], &judgement))
			g++;
		if (g == groups + *count)
			groups[(*count)++] =
				(struct alike){ .first = &rows[i], .judgement = judgement };
		else
			effect_join(&g->judgement, &judgement);
		g->files++;
		g->openings += rows[i].openings;
		g->agreeing += rows[i].agreeing;
	}
	return groups;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *name_of(const struct summary *s, file_id file)
{
	return file && file < s->head->file_count ? base_of(s->head->files[file]) : "-";
}

static void add_honour(struct table *table, const struct judgement *j)
{
	const char *who = j->honour == EFFECT_APPLIED ? j->by
			  : j->honour == EFFECT_IGNORED ? "nobody"
						       : "not known";

	if (j->why[0])
		table_add(table, "%s (%s)", who, j->why);
	else
		table_add(table, "%s", who);
}

static void add_group(struct table *table, const struct summary *s, const struct alike *g)
{
	const struct parameter *p = g->first;

	table_add(table, "%s", p->name);
	if (g->files > 1)
		table_add(table, "%zu files", g->files);
	else
		table_add(table, "%s", name_of(s, p->file));
	table_add(table, "%s", p->requested ? p->requested : "-");
	table_add(table, "%s", p->effective ? p->effective : "-");
	table_add(table, "%" PRIu64 "/%" PRIu64, g->agreeing, g->openings);
	add_honour(table, &g->judgement);
}

void render_parameters(FILE *out, const struct report *report)
{
	static const char *const titles[] = { "parameter", "file",	  "requested", "effective",
					      ">alike",	   "honoured by", NULL };
	const struct summary *s = report->summary;
	size_t n, count;
	struct parameter *rows = parameters_rows(&s->parameters, &n);
	AUTO_FREE struct alike *groups = groups_new(s, rows, n, &count);
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < count; i++)
		add_group(&table, s, &groups[i]);
	if (n)
		fputs("\nParameters\n", out);
	if (count)
		table_print(&table, out, 2);
	else if (n)
		fprintf(out, "  none was asked for; %zu values were read back (--json has them)\n",
			n);
	table_release(&table);
	parameters_rows_release(rows, n);
}

static void put_parameter(struct json *json, const struct summary *s, const struct parameter *row)
{
	static const char *const of[] = { "", "MPI file", "HDF5 file", "HDF5 dataset", "file" };
	struct judgement j;

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
	json_count(json, "openings", row->openings);
	json_count(json, "agreeing", row->agreeing);
	if (is_asked(row)) {
		j = effect_judge(row, parameters_evidence(&s->parameters, row->file));
		json_text(json, "honoured", effect_name(j.honour));
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

/* Has no group before this one its name? */
static bool is_first(const struct alike *groups, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(groups[k].first->name, groups[i].first->name) == 0)
			return false;
	return true;
}

/* One that was honoured for some files only was not. */
static bool is_honoured(const struct alike *groups, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(groups[i].first->name, name) == 0 &&
		    groups[i].judgement.honour != EFFECT_APPLIED)
			return false;
	return true;
}

void render_honoured(struct buf *out, const struct summary *summary)
{
	size_t n, count, asked = 0, honoured = 0;
	struct parameter *rows = parameters_rows(&summary->parameters, &n);
	AUTO_FREE struct alike *groups = groups_new(summary, rows, n, &count);

	for (size_t i = 0; i < count; i++) {
		if (!is_first(groups, i))
			continue;
		asked++;
		honoured += is_honoured(groups, count, groups[i].first->name);
	}
	parameters_rows_release(rows, n);
	if (asked)
		buf_printf(out, "%zu of %zu honoured", honoured, asked);
}
