/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders a contrast for people.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/integer.h"
#include "base/table.h"
#include "base/term.h"
#include "base/text.h"
#include "base/unit.h"
#include "observe/compare/contrast.h"
#include "observe/compare/render_compare.h"
#include "observe/tally/names.h"

#define CHANGES_MAX 5 /* of each kind */
#define CHANGE_COLUMN 16

static const char side_names[SIDES] = { 'A', 'B' };

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static const char *value_text(char out[UNIT_TEXT], enum contrast_measure measure, double value)
{
	if (isnan(value))
		return strcpy(out, "-");
	switch (contrast_measures[measure].unit) {
	case CONTRAST_NS:
		return unit_ns(out, i64_of(value));
	case CONTRAST_BYTES:
		return unit_bytes(out, value);
	case CONTRAST_PERCENT:
		snprintf(out, UNIT_TEXT, "%.1f%%", value);
		return out;
	case CONTRAST_COUNT:
		break;
	}
	snprintf(out, UNIT_TEXT, value == floor(value) ? "%.0f" : "%.1f", value);
	return out;
}

/* Three digits, but no more than needed: "1.52", "10.1", "1010". */
static const char *factor_text(char out[UNIT_TEXT], double factor)
{
	int digits = !(factor >= 10) ? 2 : factor < 100 ? 1 : 0;

	if (isnan(factor))
		return strcpy(out, "-");
	if (isinf(factor))
		return strcpy(out, "new");
	if (factor > 0 && factor < 0.1)
		snprintf(out, UNIT_TEXT, "%.2g", factor);
	else
		snprintf(out, UNIT_TEXT, "%.*f", digits, factor);
	return out;
}

static bool is_time(enum contrast_measure measure)
{
	return contrast_measures[measure].unit == CONTRAST_NS;
}

/* The verdict on a measure that differs: "B is 1.52 times slower than A: ..." */
static void put_real(struct buf *out, enum contrast_measure measure, const struct difference *d)
{
	bool is_more = !(d->ratio < 1);
	double factor = is_more ? d->ratio : 1 / d->ratio;
	char text[UNIT_TEXT], low[UNIT_TEXT], high[UNIT_TEXT];

	if (!isfinite(factor))
		buf_puts(out, "B differs from A");
	else if (is_time(measure))
		buf_printf(out, "B is %s times %s than A", factor_text(text, factor),
			   is_more ? "slower" : "faster");
	else
		buf_printf(out, "B is %s times %s", factor_text(text, d->ratio), "A");
	buf_printf(out, ": %s %s", contrast_measures[measure].title,
		   value_text(text, measure, d->median[SIDE_B]));
	buf_printf(out, " instead of %s", value_text(text, measure, d->median[SIDE_A]));
	if (d->verdict == VERDICT_EXACT || isnan(d->low))
		return;
	buf_printf(out, " (95%% interval: %s to %s times)",
		   factor_text(low, is_more ? d->low : 1 / d->high),
		   factor_text(high, is_more ? d->high : 1 / d->low));
}

static void put_medians(struct buf *out, enum contrast_measure measure, const struct difference *d)
{
	char text[UNIT_TEXT];

	buf_printf(out, "%s A %s", contrast_measures[measure].title,
		   value_text(text, measure, d->median[SIDE_A]));
	buf_printf(out, ", B %s", value_text(text, measure, d->median[SIDE_B]));
}

static void put_verdict(struct buf *out, const struct contrast *contrast)
{
	const struct difference *d = contrast_primary(contrast);
	const char *title = contrast_measures[contrast->primary].title;
	char low[UNIT_TEXT], high[UNIT_TEXT];

	switch (d->verdict) {
	case VERDICT_EXACT:
	case VERDICT_SIGNIFICANT:
		put_real(out, contrast->primary, d);
		return;
	case VERDICT_SAME:
		buf_printf(out, "No difference in %s", title);
		return;
	case VERDICT_UNDEFINED:
		buf_printf(out, "Some runs have no %s", title);
		return;
	case VERDICT_NOISE:
		buf_puts(out, "No significant difference: ");
		put_medians(out, contrast->primary, d);
		if (!isnan(d->low))
			buf_printf(out, " (95%% interval: B takes %s to %s times A)",
				   factor_text(low, d->low), factor_text(high, d->high));
		return;
	case VERDICT_UNTESTED:
		put_medians(out, contrast->primary, d);
		buf_puts(out, ": not significant without repetitions");
		return;
	}
}

/* A command of the side; several ones if its runs differ. */
static void print_side(FILE *out, const struct contrast *contrast, int side)
{
	const struct account *runs = contrast->accounts[side];
	const struct contrast_row *row = contrast_find(contrast, ACCOUNT_RUN, ACCOUNT_REQUESTED);
	const struct difference *d = &row->differences[CONTRAST_RUN_TIME];
	size_t count = contrast->runs[side], others = 0;
	double least = INFINITY, most = -INFINITY;
	AUTO_BUF struct buf text = { 0 };
	char unit[UNIT_TEXT];

	for (size_t i = 0; i < count; i++) {
		others += strcmp(runs[i].command, runs[0].command) != 0;
		least = fmin(least, d->values[side][i]);
		most = fmax(most, d->values[side][i]);
	}
	buf_printf(&text, "%c: %zu run%s, %s", side_names[side], count, plural(count),
		   unit_ns(unit, (int64_t)least));
	if (count > 1)
		buf_printf(&text, " to %s", unit_ns(unit, (int64_t)most));
	buf_printf(&text, ": %s", runs[0].command);
	if (others)
		buf_printf(&text, " (and %zu run%s of other commands)", others, plural(others));
	term_paragraph(out, 3, buf_text(&text));
}

/* What weakens the comparison. */
static void print_cautions(FILE *out, const struct contrast *contrast)
{
	for (int side = 0; side < SIDES; side++) {
		size_t failed = 0, partial = 0;

		for (size_t i = 0; i < contrast->runs[side]; i++) {
			const struct account *a = &contrast->accounts[side][i];

			/* Logs of other tools do not know the exit status. */
			failed += a->exit_status > 0 || (a->exit_status < 0 && a->is_partial);
			partial += a->is_partial;
		}
		if (failed)
			term_printf(out, "%c: %zu run%s failed or did not end\n", side_names[side],
				    failed, plural(failed));
		if (partial)
			term_printf(out,
				    "%c: the trace%s of %zu run%s lack calls or processes, so "
				    "counts may differ for that reason\n",
				    side_names[side], plural(partial), partial, plural(partial));
	}
	if (!contrast->is_testable)
		term_paragraph(out, 0,
			       "There are too few runs to tell a difference of times from noise; "
			       "four runs of each side are enough. Counts are compared exactly.");
}

/* --- What changed --- */

struct change_kind {
	const char *label;
	enum contrast_measure measure;
	unsigned tables; /* one bit each */
};

#define IN(table) (1u << (table))

static const struct change_kind change_kinds[] = {
	{ "calls", CONTRAST_CALLS, IN(ACCOUNT_FUNCTIONS) | IN(ACCOUNT_FILES) },
	{ "failed calls", CONTRAST_ERRORS, IN(ACCOUNT_FUNCTIONS) },
	{ "read", CONTRAST_READ, IN(ACCOUNT_FILES) },
	{ "written", CONTRAST_WRITTEN, IN(ACCOUNT_FILES) },
	{ "size", CONTRAST_SIZE, IN(ACCOUNT_FUNCTIONS) },
	{ "order", CONTRAST_SEQUENTIAL, IN(ACCOUNT_LAYERS) | IN(ACCOUNT_FILES) },
	{ "time per call", CONTRAST_TIME_PER_CALL, IN(ACCOUNT_FUNCTIONS) },
	{ "time of rank", CONTRAST_IO_TIME, IN(ACCOUNT_RANKS) },
	{ "node load", CONTRAST_LEVEL, IN(ACCOUNT_NODE) },
};
#define CHANGE_KINDS (sizeof(change_kinds) / sizeof(change_kinds[0]))

/* width: most columns of the name itself; 0: no limit. */
static void put_name(struct buf *out, const struct contrast_row *row, int width)
{
	term_shorten(out, row->name, width ? width : INT_MAX);
	if (row->table == ACCOUNT_FUNCTIONS)
		buf_printf(out, " (%s)", names_layer(row->layer));
	if (row->files > 1)
		buf_printf(out, " (%zu files)", row->files);
}

/* "write (POSIX): 10000 instead of 1000 (10.0 times)" */
static void put_change(struct buf *out, const struct contrast_row *row,
		       const struct change_kind *kind, int width)
{
	const struct difference *d = &row->differences[kind->measure];
	char text[UNIT_TEXT];

	put_name(out, row, width ? width - CHANGE_COLUMN - 1 : 0);
	buf_printf(out, ": %s", value_text(text, kind->measure, d->median[SIDE_B]));
	buf_printf(out, " instead of %s", value_text(text, kind->measure, d->median[SIDE_A]));
	if (kind->measure == CONTRAST_SEQUENTIAL)
		buf_puts(out, " sequential");
	if (!isnan(d->low)) {
		buf_printf(out, " (%s", factor_text(text, d->low));
		buf_printf(out, " to %s times)", factor_text(text, d->high));
	} else if (isfinite(d->ratio) && d->ratio > 0 && kind->measure != CONTRAST_SEQUENTIAL) {
		buf_printf(out, " (%s times)", factor_text(text, d->ratio));
	}
}

/* Prints the rows that are aside, or the others; count: the changes of this kind so far. */
static void print_rows(FILE *out, const struct contrast *contrast, const struct change_kind *kind,
		       bool aside, size_t *count)
{
	for (size_t i = 0; i < contrast->count; i++) {
		const struct contrast_row *row = &contrast->rows[i];
		AUTO_BUF struct buf text = { 0 };

		if (!(kind->tables >> row->table & 1) || row->is_aside != aside ||
		    !difference_is_real(&row->differences[kind->measure]) ||
		    (*count)++ >= CHANGES_MAX)
			continue;
		buf_printf(&text, "  %-*s", CHANGE_COLUMN - 2, *count == 1 ? kind->label : "");
		put_change(&text, row, kind, term_width(out));
		term_paragraph(out, CHANGE_COLUMN, buf_text(&text));
	}
}

static size_t print_kind(FILE *out, const struct contrast *contrast, const struct change_kind *kind)
{
	size_t count = 0;

	print_rows(out, contrast, kind, false, &count);
	print_rows(out, contrast, kind, true, &count);
	if (count > CHANGES_MAX)
		term_printf(out, "  %-*s... and %zu more\n", CHANGE_COLUMN - 2, "",
			    count - CHANGES_MAX);
	return count;
}

static void print_changes(FILE *out, const struct contrast *contrast)
{
	size_t count = 0;

	if (!contrast->accounts[SIDE_A][0].is_recorded)
		return;
	fputs("\nWhat changed in B\n", out);
	for (size_t i = 0; i < CHANGE_KINDS; i++)
		count += print_kind(out, contrast, &change_kinds[i]);
	if (!count)
		fputs("  nothing that exceeds the noise\n", out);
}

/* --- Tables --- */

static const char *result_text(enum contrast_measure measure, const struct difference *d)
{
	switch (d->verdict) {
	case VERDICT_SAME:
		return "same";
	case VERDICT_EXACT:
	case VERDICT_SIGNIFICANT:
		if (is_time(measure))
			return d->ratio < 1 ? "faster" : "slower";
		return d->median[SIDE_B] < d->median[SIDE_A] ? "less" : "more";
	case VERDICT_NOISE:
		return "not significant";
	case VERDICT_UNTESTED:
		return "too few runs";
	case VERDICT_UNDEFINED:
		break;
	}
	return "-";
}

static void add_medians(struct table *table, enum contrast_measure measure,
			const struct difference *d)
{
	char text[UNIT_TEXT];

	for (int side = 0; side < SIDES; side++)
		table_add(table, "%s", value_text(text, measure, d->median[side]));
}

/* If nothing can be tested, the titles after the ratio are left out. */
static const char *judged_title(const struct contrast *contrast, const char *title)
{
	return contrast->is_testable ? title : NULL;
}

static void add_judgment(struct table *table, const struct contrast *contrast,
			 enum contrast_measure measure, const struct difference *d)
{
	char text[UNIT_TEXT], high[UNIT_TEXT];

	table_add(table, "%s", d->verdict == VERDICT_SAME ? "1" : factor_text(text, d->ratio));
	if (!contrast->is_testable)
		return;
	if (isnan(d->low))
		table_add(table, "%s", d->verdict == VERDICT_EXACT ? "exact" : "-");
	else
		table_add(table, "%s to %s", factor_text(text, d->low), factor_text(high, d->high));
	table_add(table, "%s", result_text(measure, d));
}

static void print_totals(FILE *out, const struct contrast *contrast)
{
	const char *titles[] = { "",	   ">A", ">B", ">B/A", judged_title(contrast, ">interval"),
				 "result", NULL };
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < contrast->count && contrast->rows[i].table == ACCOUNT_RUN; i++) {
		const struct contrast_row *row = &contrast->rows[i];
		bool is_storage = strcmp(row->name, ACCOUNT_STORAGE) == 0;

		for (int k = 0; k < CONTRAST_MEASURES; k++) {
			const struct difference *d = &row->differences[k];
			enum contrast_measure measure = (enum contrast_measure)k;
			bool is_empty = !(d->median[SIDE_A] > 0 || d->median[SIDE_B] > 0);

			if (d->verdict == VERDICT_UNDEFINED || is_empty)
				continue;
			table_add(&table, "%s%s", is_storage ? "storage: " : "",
				  contrast_measures[k].title);
			add_medians(&table, measure, d);
			add_judgment(&table, contrast, measure, d);
		}
	}
	fputs("\nTotals\n", out);
	table_print(&table, out, 2);
	table_release(&table);
}

struct table_kind {
	enum account_table table;
	const char *heading, *first, *what;
	enum contrast_measure measure; /* that is judged */
	bool has_calls;
};

static const struct table_kind table_kinds[] = {
	{ ACCOUNT_LAYERS, "By layer", "layer", "layers", CONTRAST_TIME, true },
	{ ACCOUNT_FUNCTIONS, "By function", "function", "functions", CONTRAST_TIME, true },
	{ ACCOUNT_FILES, "By file", "file", "files", CONTRAST_TIME, true },
	{ ACCOUNT_RANKS, "By rank", "rank", "ranks", CONTRAST_IO_TIME, true },
	{ ACCOUNT_NODE, "Node load", "mean of", "statistics", CONTRAST_LEVEL, false },
};
#define TABLE_KINDS (sizeof(table_kinds) / sizeof(table_kinds[0]))

static void print_table(FILE *out, const struct contrast *contrast, const struct table_kind *kind)
{
	const char *interval = judged_title(contrast, ">interval");
	const char *with_calls[] = { kind->first, ">calls A", ">calls B", ">time A", ">time B",
				     ">B/A",	  interval,   "result",	  NULL };
	const char *without[] = { kind->first, ">A", ">B", ">B/A", interval, "result", NULL };
	struct table table;
	size_t rows = 0;

	table_init(&table, kind->has_calls ? with_calls : without);
	for (size_t i = 0; i < contrast->count; i++) {
		const struct contrast_row *row = &contrast->rows[i];
		const struct difference *d = &row->differences[kind->measure];
		AUTO_BUF struct buf name = { 0 };

		if (row->table != kind->table || d->verdict == VERDICT_UNDEFINED)
			continue;
		put_name(&name, row, 0);
		table_add(&table, "%s", buf_text(&name));
		if (kind->has_calls)
			add_medians(&table, CONTRAST_CALLS, &row->differences[CONTRAST_CALLS]);
		add_medians(&table, kind->measure, d);
		add_judgment(&table, contrast, kind->measure, d);
		rows++;
	}
	if (rows) {
		term_printf(out, "\n%s\n", kind->heading);
		table_print(&table, out, 2);
	}
	if (contrast->left_out[kind->table])
		term_printf(out, "  ... and %zu more %s (--top %zu shows all)\n",
			    contrast->left_out[kind->table], kind->what,
			    rows + contrast->left_out[kind->table]);
	table_release(&table);
}

static void print_footnotes(FILE *out, const struct contrast *contrast)
{
	AUTO_BUF struct buf text = { 0 };

	fputc('\n', out);
	if (contrast->patterns)
		buf_printf(&text,
			   "%zu row%s of files stand%s for names that differ from run to run: "
			   "{pid}, {number}, {id} and {random} replace their variable parts. ",
			   contrast->patterns, plural(contrast->patterns),
			   contrast->patterns == 1 ? "s" : "");
	buf_puts(&text, "A and B are medians. Times of layers, functions and files are summed over "
			"threads.");
	if (contrast->tests)
		buf_printf(&text,
			   " Apart from %s, %zu values were tested together: at most 5%% of "
			   "the differences found among them are expected to be chance, and the "
			   "intervals are adjusted accordingly.",
			   contrast_measures[contrast->primary].title, contrast->tests);
	if (contrast_find(contrast, ACCOUNT_NODE, "utilization/cpu"))
		buf_puts(&text, " The load of a node includes that of the program itself.");
	term_paragraph(out, 0, buf_text(&text));
}

void render_compare_text(FILE *out, const struct contrast *contrast)
{
	AUTO_BUF struct buf verdict = { 0 };

	put_verdict(&verdict, contrast);
	term_headline(out, buf_text(&verdict));
	for (int side = 0; side < SIDES; side++)
		print_side(out, contrast, side);
	print_cautions(out, contrast);
	print_changes(out, contrast);
	print_totals(out, contrast);
	for (size_t i = 0; i < TABLE_KINDS; i++)
		print_table(out, contrast, &table_kinds[i]);
	print_footnotes(out, contrast);
}
