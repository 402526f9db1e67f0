/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders a contrast for programs: JSON, CSV, and the JSON of hyperfine.
 */
#include <math.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "learn/math/moments.h"
#include "observe/compare/contrast.h"
#include "observe/compare/render_compare.h"
#include "observe/tally/names.h"

static const char *const table_names[ACCOUNT_TABLES] = {
	[ACCOUNT_RUN] = "run",	   [ACCOUNT_LAYERS] = "layers", [ACCOUNT_FUNCTIONS] = "functions",
	[ACCOUNT_FILES] = "files", [ACCOUNT_RANKS] = "ranks",	[ACCOUNT_NODE] = "node",
};

static const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_UNDEFINED] = "undefined",   [VERDICT_SAME] = "same",
		[VERDICT_EXACT] = "different",	     [VERDICT_SIGNIFICANT] = "significant",
		[VERDICT_NOISE] = "not significant", [VERDICT_UNTESTED] = "too few runs",
	};

	return names[verdict];
}

static void json_values(struct json *json, const char *key, const double *values, size_t count)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		json_double(json, NULL, values[i]);
	json_close(json);
}

static void json_difference(struct json *json, const struct contrast *contrast, const char *key,
			    const struct difference *d)
{
	json_open(json, key, '{');
	json_text(json, "verdict", verdict_name(d->verdict));
	json_double(json, "a", d->median[SIDE_A]);
	json_double(json, "b", d->median[SIDE_B]);
	json_double(json, "ratio", d->ratio);
	json_double(json, "low", d->low);
	json_double(json, "high", d->high);
	json_double(json, "confidence", 1 - d->level);
	json_double(json, "chance", d->chance);
	json_values(json, "a_values", d->values[SIDE_A], contrast->runs[SIDE_A]);
	json_values(json, "b_values", d->values[SIDE_B], contrast->runs[SIDE_B]);
	json_close(json);
}

static void json_side(struct json *json, const struct contrast *contrast, int side)
{
	json_open(json, side == SIDE_A ? "a" : "b", '[');
	for (size_t i = 0; i < contrast->runs[side]; i++) {
		const struct account *run = &contrast->accounts[side][i];

		json_open(json, NULL, '{');
		json_text(json, "path", run->path);
		json_text(json, "command", run->command);
		json_number(json, "started_ns", run->started_ns);
		json_number(json, "exit_status", run->exit_status);
		json_bool(json, "complete", run->is_recorded && !run->is_partial);
		json_count(json, "ranks", run->ranks);
		json_close(json);
	}
	json_close(json);
}

static void json_row(struct json *json, const struct contrast *contrast,
		     const struct contrast_row *row)
{
	json_open(json, NULL, '{');
	json_text(json, "name", row->name);
	if (row->table == ACCOUNT_FUNCTIONS)
		json_text(json, "layer", names_layer(row->layer));
	if (row->table == ACCOUNT_FILES)
		json_count(json, "files", row->files);
	json_count(json, "a_runs", row->runs[SIDE_A]);
	json_count(json, "b_runs", row->runs[SIDE_B]);
	for (int k = 0; k < CONTRAST_MEASURES; k++)
		if (row->differences[k].verdict != VERDICT_UNDEFINED)
			json_difference(json, contrast, contrast_measures[k].name,
					&row->differences[k]);
	json_close(json);
}

void render_compare_json(FILE *out, const struct contrast *contrast)
{
	struct json json;

	json_start(&json, out, "sluice.compare/1");
	json_side(&json, contrast, SIDE_A);
	json_side(&json, contrast, SIDE_B);
	json_text(&json, "metric", contrast_measures[contrast->primary].name);
	json_difference(&json, contrast, "result", contrast_primary(contrast));
	json_count(&json, "tests", contrast->tests);
	for (int table = 0; table < ACCOUNT_TABLES; table++) {
		json_open(&json, table_names[table], '[');
		for (size_t i = 0; i < contrast->count; i++)
			if ((int)contrast->rows[i].table == table)
				json_row(&json, contrast, &contrast->rows[i]);
		json_close(&json);
	}
	json_end(&json);
}

static void put_number(struct buf *out, double number)
{
	buf_putc(out, ',');
	if (isfinite(number))
		buf_printf(out, "%.17g", number);
}

static void put_line(struct buf *out, const struct contrast_row *row, int measure)
{
	const struct difference *d = &row->differences[measure];

	buf_printf(out, "%s,", table_names[row->table]);
	buf_put_csv_cell(out, row->name);
	buf_printf(out, ",%s,%s,%s", row->table == ACCOUNT_FUNCTIONS ? names_layer(row->layer) : "",
		   contrast_measures[measure].name, verdict_name(d->verdict));
	put_number(out, d->median[SIDE_A]);
	put_number(out, d->median[SIDE_B]);
	put_number(out, d->ratio);
	put_number(out, d->low);
	put_number(out, d->high);
	put_number(out, 1 - d->level);
	put_number(out, d->chance);
	buf_putc(out, '\n');
}

void render_compare_csv(FILE *out, const struct contrast *contrast)
{
	AUTO_BUF struct buf text = { 0 };

	buf_puts(&text, "table,name,layer,measure,verdict,a,b,ratio,low,high,confidence,chance\n");
	for (size_t i = 0; i < contrast->count; i++) {
		const struct contrast_row *row = &contrast->rows[i];

		for (int k = 0; k < CONTRAST_MEASURES; k++)
			if (row->differences[k].verdict != VERDICT_UNDEFINED)
				put_line(&text, row, k);
	}
	fwrite(buf_text(&text), 1, text.len, out);
}

static void json_hyperfine(struct json *json, const struct contrast *contrast, int side)
{
	const struct contrast_row *row = contrast_find(contrast, ACCOUNT_RUN, ACCOUNT_REQUESTED);
	const struct difference *d = &row->differences[CONTRAST_RUN_TIME];
	size_t count = contrast->runs[side];
	double mean, deviation = NAN, least = INFINITY, most = -INFINITY;

	moments_mean(d->values[side], count, 1, &mean);
	if (count > 1)
		moments_deviation(d->values[side], count, 1, &deviation);
	json_open(json, NULL, '{');
	json_text(json, "command", contrast->accounts[side][0].command);
	json_double(json, "mean", mean / NS_PER_S);
	json_double(json, "stddev", deviation / NS_PER_S);
	json_double(json, "median", d->median[side] / NS_PER_S);
	json_open(json, "times", '[');
	for (size_t i = 0; i < count; i++) {
		least = fmin(least, d->values[side][i]);
		most = fmax(most, d->values[side][i]);
		json_double(json, NULL, d->values[side][i] / NS_PER_S);
	}
	json_close(json);
	json_double(json, "min", least / NS_PER_S);
	json_double(json, "max", most / NS_PER_S);
	json_open(json, "exit_codes", '[');
	for (size_t i = 0; i < count; i++)
		json_number(json, NULL, contrast->accounts[side][i].exit_status);
	json_close(json);
	json_close(json);
}

void render_compare_hyperfine(FILE *out, const struct contrast *contrast)
{
	struct json json;

	json_start(&json, out, NULL);
	json_open(&json, "results", '[');
	json_hyperfine(&json, contrast, SIDE_A);
	json_hyperfine(&json, contrast, SIDE_B);
	json_end(&json);
}
