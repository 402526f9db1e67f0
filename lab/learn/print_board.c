/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the leaderboard of a selection: the candidates by score, the winner, and the failures.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/table.h"
#include "base/term.h"
#include "lab/learn/print.h"
#include "learn/judge/metrics.h"
#include "learn/judge/selection.h"
#include "learn/model/model.h"

static double sample_deviation(const double *values, size_t count)
{
	double sum = 0, squares = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (isnan(values[i]))
			continue;
		sum += values[i];
		n++;
	}
	for (size_t i = 0; i < count; i++) {
		if (!isnan(values[i]))
			squares += (values[i] - sum / (double)n) * (values[i] - sum / (double)n);
	}
	return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

/* True if a better entry of the same method exists; entries are sorted by score. */
static bool has_better_entry(const struct selection *selection, size_t entry)
{
	for (size_t i = 0; i < entry; i++) {
		if (selection->entries[i].plan.learner == selection->entries[entry].plan.learner)
			return true;
	}
	return false;
}

static size_t count_candidates(const struct selection *selection, const struct learner_ops *learner)
{
	size_t count = 0;

	for (size_t i = 0; i < selection->count; i++)
		count += selection->entries[i].plan.learner == learner;
	return count;
}

static void append_settings(const struct pipeline_plan *plan, struct buf *out)
{
	learner_format(plan->learner, plan->settings, out);
	if (!out->len)
		buf_puts(out, "defaults");
}

static void add_entry(struct table *table, const struct selection *selection, size_t i, bool all,
		      bool with_score)
{
	const struct selection_entry *entry = &selection->entries[i];
	AUTO_BUF struct buf settings = { 0 };

	append_settings(&entry->plan, &settings);
	table_add(table, "%s", entry->plan.learner->name);
	if (!all)
		table_add(table, "%zu", count_candidates(selection, entry->plan.learner));
	if (with_score)
		table_add(table, "%.4g", entry->score);
	table_add(table, "%.4g", entry->mean_first);
	table_add(table, "%.2g", sample_deviation(entry->first, selection->folds));
	table_add(table, "%.4f", entry->mean_second);
	table_add(table, "%.2f", entry->seconds);
	table_add(table, "%s",
		  learn_recipe_text(entry->plan.recipe ? entry->plan.recipe
						       : entry->plan.learner->recipe));
	table_add(table, "%s", buf_text(&settings));
}

static void print_board_table(const struct selection *selection, const struct selection_plan *plan,
			      bool classes, bool all)
{
	char score[32];
	const char *titles[TABLE_COLUMNS_MAX] = { "method" };
	AUTO_FREE char *title = NULL;
	struct table table;
	bool with_score = plan->score == SELECT_MEDIAN_ERROR || plan->score == SELECT_LOG_LOSS;
	size_t n = 1;

	option_choice_name(SELECTION_SCORES, (int)plan->score, score, sizeof(score));
	title = xprintf(">%s", score);
	if (!all)
		titles[n++] = ">tried";
	if (with_score)
		titles[n++] = title;
	titles[n++] = classes ? ">accuracy" : ">RMSE";
	titles[n++] = ">deviation";
	titles[n++] = classes ? ">AUC" : ">R2";
	titles[n++] = ">CPU s";
	titles[n++] = "preparation";
	titles[n++] = "settings";
	table_init(&table, titles);
	for (size_t i = 0; i < selection->count; i++) {
		if (!selection->entries[i].failure && (all || !has_better_entry(selection, i)))
			add_entry(&table, selection, i, all, with_score);
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

/* The median relative error of the out-of-fold predictions of the winner; NAN for classes. */
static double median_error(const struct selection *selection, const struct model_rows *rows)
{
	AUTO_FREE double *truth = NULL, *guess = NULL;
	size_t n = 0;

	if (rows->class_count)
		return NAN;
	truth = xmalloc(rows->rows * sizeof(*truth));
	guess = xmalloc(rows->rows * sizeof(*guess));
	for (size_t i = 0; i < rows->rows; i++) {
		if (isnan(selection->guesses[i]))
			continue;
		truth[n] = rows->y[i];
		guess[n++] = selection->guesses[i];
	}
	return metrics_median_error(truth, guess, n);
}

static void print_winner(const struct selection *selection, const struct model_rows *rows,
			 const char *split)
{
	const struct selection_entry *best = &selection->entries[0];
	AUTO_BUF struct buf settings = { 0 };

	append_settings(&best->plan, &settings);
	term_printf(stdout, "\nbest: %s (%s): ", best->plan.learner->name, buf_text(&settings));
	if (rows->class_count)
		printf("accuracy %.1f%%", 100 * best->mean_first);
	else
		printf("median error %.1f%%", 100 * median_error(selection, rows));
	term_sentence(stdout, ", from %zu %s folds of %zu rows\n", selection->folds, split,
		      rows->rows);
}

/* Prints each reason once per method. */
static void print_failures(const struct selection *selection)
{
	for (size_t i = 0; i < selection->count; i++) {
		const struct selection_entry *entry = &selection->entries[i];
		size_t same = 0, earlier = 0;

		if (!entry->failure)
			continue;
		for (size_t j = 0; j < selection->count; j++) {
			const struct selection_entry *other = &selection->entries[j];

			if (!other->failure || other->plan.learner != entry->plan.learner ||
			    strcmp(other->failure, entry->failure) != 0)
				continue;
			same++;
			earlier += j < i;
		}
		if (!earlier)
			term_sentence(stdout, "failed: %s, %zu %s: %s\n", entry->plan.learner->name,
				      same, same == 1 ? "candidate" : "candidates", entry->failure);
	}
}

static void print_reals_json(struct json *json, const char *key, const double *values, size_t count)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		json_double(json, NULL, values[i]);
	json_close(json);
}

static void print_entry_json(struct json *json, const struct selection_entry *entry, size_t folds,
			     bool classes)
{
	AUTO_BUF struct buf settings = { 0 };

	learner_format(entry->plan.learner, entry->plan.settings, &settings);
	json_open(json, NULL, '{');
	json_text(json, "learner", entry->plan.learner->name);
	json_text(json, "settings", buf_text(&settings));
	json_text(json, "recipe",
		  entry->plan.recipe ? entry->plan.recipe : entry->plan.learner->recipe);
	json_double(json, "cpu_seconds", entry->seconds);
	json_text(json, "failure", entry->failure);
	if (!entry->failure) {
		json_double(json, "score", entry->score);
		json_double(json, classes ? "accuracy" : "rmse", entry->mean_first);
		json_double(json, classes ? "auc" : "r2", entry->mean_second);
		print_reals_json(json, classes ? "fold_accuracy" : "fold_rmse", entry->first,
				 folds);
		print_reals_json(json, classes ? "fold_auc" : "fold_r2", entry->second, folds);
	}
	json_close(json);
}

static void print_board_json(const struct selection *selection, const struct selection_plan *plan,
			     const struct model_rows *rows, const char *split)
{
	char score[32];
	struct json json;

	option_choice_name(SELECTION_SCORES, (int)plan->score, score, sizeof(score));
	json_start(&json, stdout, LEARN_SCHEMA);
	json_text(&json, "score", score);
	json_text(&json, "split", split);
	json_count(&json, "folds", selection->folds);
	json_count(&json, "rows", rows->rows);
	json_count(&json, "left_out", rows->left_out);
	json_count(&json, "planned", selection->planned);
	json_double(&json, "median_error", median_error(selection, rows));
	json_open(&json, "candidates", '[');
	for (size_t i = 0; i < selection->count; i++)
		print_entry_json(&json, &selection->entries[i], selection->folds,
				 rows->class_count);
	json_end(&json);
}

void learn_print_board(const struct selection *selection, const struct selection_plan *plan,
		       const struct model_rows *rows, const char *split, bool all, bool json)
{
	if (json) {
		print_board_json(selection, plan, rows, split);
		return;
	}
	print_board_table(selection, plan, rows->class_count, all);
	print_winner(selection, rows, split);
	print_failures(selection);
}
