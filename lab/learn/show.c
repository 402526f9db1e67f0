/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything is printed from what exists anyway: the rows of learners[], the columns of a table, a
 * model. The leaderboard is in learn_board.c.
 */
#include "lab/learn/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/table.h"
#include "learn/table/dataset.h"
#include "learn/judge/metrics.h"
#include "learn/model/model.h"

#define TOP_INPUTS 10
#define TOP_LEVELS 4

/* ---- methods ---- */

static const char *tasks_text(unsigned tasks)
{
	return tasks == (LEARNER_REGRESSES | LEARNER_CLASSIFIES) ? "numbers, classes"
	       : tasks == LEARNER_CLASSIFIES			 ? "classes"
								 : "numbers";
}

static void setting_fallback(const struct learner_setting *setting, char *out, size_t cap)
{
	if (setting->words)
		option_choice_name(setting->words, (int)setting->fallback, out, cap);
	else
		snprintf(out, cap, "%.6g", setting->fallback);
}

static void setting_values(const struct learner_setting *setting, char *out, size_t cap)
{
	if (setting->words)
		snprintf(out, cap, "%s", setting->words);
	else if (isfinite(setting->most))
		snprintf(out, cap, "%.6g to %.6g", setting->least, setting->most);
	else
		snprintf(out, cap, "%.6g or more", setting->least);
}

static void methods_text(void)
{
	static const char *const titles[] = { "method", "learns", "preparation", "what it is",
					      NULL };
	static const char *const rows[] = { "setting", "default", "values", "meaning", NULL };
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; learners[i]; i++) {
		table_add(&table, "%s", learners[i]->name);
		table_add(&table, "%s", tasks_text(learners[i]->tasks));
		table_add(&table, "%s", learn_show_recipe(learners[i]->recipe));
		table_add(&table, "%s", learners[i]->help);
	}
	table_print(&table, stdout, 0);
	table_release(&table);
	printf("\n");
	table_init(&table, rows);
	for (size_t i = 0; learners[i]; i++) {
		for (const struct learner_setting *s = learners[i]->settings; s->name; s++) {
			char fallback[64], values[128];

			setting_fallback(s, fallback, sizeof(fallback));
			setting_values(s, values, sizeof(values));
			table_add(&table, "%s:%s", learners[i]->name, s->name);
			table_add(&table, "%s", fallback);
			table_add(&table, "%s", values);
			table_add(&table, "%s", s->help);
		}
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void settings_json(struct json *json, const struct learner_ops *learner)
{
	json_open(json, "settings", '[');
	for (const struct learner_setting *s = learner->settings; s->name; s++) {
		char fallback[64];

		json_open(json, NULL, '{');
		json_text(json, "name", s->name);
		json_text(json, "help", s->help);
		if (s->words) {
			setting_fallback(s, fallback, sizeof(fallback));
			json_text(json, "words", s->words);
			json_text(json, "default", fallback);
		} else {
			json_real(json, "default", s->fallback);
			json_real(json, "least", s->least);
			json_real(json, "most", s->most);
		}
		json_close(json);
	}
	json_close(json);
}

static void methods_json(void)
{
	struct json json;

	json_start(&json, stdout, LEARN_SCHEMA);
	json_open(&json, "methods", '[');
	for (size_t i = 0; learners[i]; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "name", learners[i]->name);
		json_text(&json, "help", learners[i]->help);
		json_bool(&json, "regresses", learners[i]->tasks & LEARNER_REGRESSES);
		json_bool(&json, "classifies", learners[i]->tasks & LEARNER_CLASSIFIES);
		json_bool(&json, "refreshes", learners[i]->refresh != NULL);
		json_text(&json, "recipe", learners[i]->recipe);
		settings_json(&json, learners[i]);
		json_close(&json);
	}
	json_end(&json);
}

void learn_show_methods(bool json)
{
	if (json)
		methods_json();
	else
		methods_text();
}

/* ---- a table ---- */

struct column_facts {
	size_t missing, distinct;
	double least, median, greatest;
};

static int value_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct column_facts column_study(const struct dataset *dataset, size_t column)
{
	AUTO_FREE double *values = xmalloc((dataset->rows + 1) * sizeof(*values));
	struct column_facts facts = { .least = NAN, .median = NAN, .greatest = NAN };
	size_t n = 0;

	for (size_t i = 0; i < dataset->rows; i++) {
		double value = dataset_row(dataset, i)[column];

		if (!isnan(value))
			values[n++] = value;
	}
	facts.missing = dataset->rows - n;
	if (!n)
		return facts;
	qsort(values, n, sizeof(*values), value_compare);
	for (size_t i = 0; i < n; i++)
		facts.distinct += !i || values[i] != values[i - 1];
	facts.least = values[0];
	facts.median = metrics_quantile(values, n, 0.5);
	facts.greatest = values[n - 1];
	return facts;
}

static void levels_text(const struct column *column, struct buf *out)
{
	for (size_t i = 0; i < column->level_count && i < TOP_LEVELS; i++)
		buf_printf(out, "%s%s", i ? ", " : "", column->levels[i]);
	if (column->level_count > TOP_LEVELS)
		buf_puts(out, ", ...");
}

static void number_add(struct table *table, double value)
{
	if (isnan(value))
		table_add(table, "-");
	else
		table_add(table, "%.6g", value);
}

static void table_text(const char *path, const struct dataset *dataset)
{
	static const char *const titles[] = { "column",	   "type",   ">missing",
					      ">distinct", ">least", ">median",
					      ">greatest", "texts",  NULL };
	struct table table;

	printf("%s: %zu rows, %zu columns\n\n", path, dataset->rows, dataset->width);
	table_init(&table, titles);
	for (size_t c = 0; c < dataset->width; c++) {
		const struct column *column = &dataset->columns[c];
		struct column_facts facts = column_study(dataset, c);
		AUTO_BUF struct buf levels = { 0 };

		levels_text(column, &levels);
		table_add(&table, "%s", column->name);
		table_add(&table, "%s", column->levels ? "text" : "number");
		table_add(&table, "%zu", facts.missing);
		table_add(&table, "%zu", facts.distinct);
		number_add(&table, column->levels ? NAN : facts.least);
		number_add(&table, column->levels ? NAN : facts.median);
		number_add(&table, column->levels ? NAN : facts.greatest);
		table_add(&table, "%s", buf_text(&levels));
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

static void table_json(const char *path, const struct dataset *dataset)
{
	struct json json;

	json_start(&json, stdout, LEARN_SCHEMA);
	json_text(&json, "path", path);
	json_count(&json, "rows", dataset->rows);
	json_open(&json, "columns", '[');
	for (size_t c = 0; c < dataset->width; c++) {
		const struct column *column = &dataset->columns[c];
		struct column_facts facts = column_study(dataset, c);

		json_open(&json, NULL, '{');
		json_text(&json, "name", column->name);
		json_text(&json, "type", column->levels ? "text" : "number");
		json_count(&json, "missing", facts.missing);
		json_count(&json, "distinct", facts.distinct);
		if (!column->levels) {
			json_real(&json, "least", facts.least);
			json_real(&json, "median", facts.median);
			json_real(&json, "greatest", facts.greatest);
		} else {
			json_open(&json, "levels", '[');
			for (size_t i = 0; i < column->level_count; i++)
				json_text(&json, NULL, column->levels[i]);
			json_close(&json);
		}
		json_close(&json);
	}
	json_end(&json);
}

void learn_show_table(const char *path, const struct dataset *dataset, bool json)
{
	if (json)
		table_json(path, dataset);
	else
		table_text(path, dataset);
}

/* ---- a model ---- */

/* What the learner sees: the schema's inputs, or components of them. The caller frees all. */
static char **input_names(const struct model *model, size_t *count)
{
	bool components = strstr(model->origin.recipe, "pca") != NULL;
	char **names;

	*count = model->pipeline.preparation.width_out;
	components = components || *count != model->schema.width;
	names = xcalloc(*count + 1, sizeof(*names));
	for (size_t i = 0; i < *count; i++)
		names[i] = components ? xprintf("component %zu", i + 1)
				      : schema_input(&model->schema, i);
	return names;
}

struct weight {
	const char *name;
	double share;
};

static int weight_compare(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return (x->share < y->share) - (x->share > y->share);
}

/* Inputs by importance, greatest first; NULL where the method cannot tell. */
static struct weight *weights_make(const struct model *model, char *const *names, size_t count)
{
	AUTO_FREE double *share = NULL;
	struct weight *weights;

	if (!model->pipeline.learner->importance)
		return NULL;
	share = xcalloc(count + 1, sizeof(*share));
	model->pipeline.learner->importance(model->pipeline.fitted, share);
	weights = xcalloc(count + 1, sizeof(*weights));
	for (size_t i = 0; i < count; i++)
		weights[i] = (struct weight){ names[i], share[i] };
	qsort(weights, count, sizeof(*weights), weight_compare);
	return weights;
}

static void when_text(int64_t seconds, char *out, size_t cap)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(out, cap, "%F %T", &tm))
		snprintf(out, cap, "-");
}

static void score_text(const struct model *model)
{
	const struct model_origin *origin = &model->origin;

	if (isnan(origin->score) && isnan(origin->second)) {
		printf("  judged       not at all: fitted without folds\n");
		return;
	}
	if (model->classes)
		printf("  judged       accuracy %.4f, AUC %.4f on rows it had not seen\n",
		       origin->score, origin->second);
	else
		printf("  judged       R2 %.4f%s, median error %.1f%% on rows it had not seen\n",
		       origin->score, model->pipeline.log_target ? " (of logarithms)" : "",
		       100 * origin->second);
}

static void interval_text(const struct model *model, double coverage)
{
	double margin =
		model->conformal.count ? conformal_margin(&model->conformal, coverage) : INFINITY;

	if (!isfinite(margin))
		return;
	printf("  intervals    %.0f%% of truths lie within ", 100 * coverage);
	if (model->softening > 0)
		printf("what it expects for each row, times %.3g\n", margin);
	else if (model->pipeline.log_target)
		printf("a factor of %.4g\n", exp(margin));
	else
		printf("+- %.4g\n", margin);
}

static void origin_text(const struct model *model)
{
	static const char *const kinds[] = { "", "  chances      calibrated by Platt's sigmoid\n",
					     "  chances      calibrated by isotonic regression\n" };
	const struct model_origin *origin = &model->origin;
	char when[32];

	when_text(origin->made, when, sizeof(when));
	printf("  made         %s by sluice %s, seed %llu\n", when, origin->version,
	       (unsigned long long)origin->seed);
	printf("  learnt from  %llu rows, %zu features, %zu inputs",
	       (unsigned long long)origin->rows, model->schema.count, model->schema.width);
	if (origin->refreshed)
		printf("; later from %llu rows more", (unsigned long long)origin->refreshed);
	printf("\n");
	if (origin->time)
		printf("  window       %s from %.10g to %.10g\n", origin->time, origin->from,
		       origin->to);
	printf("  preparation  %s\n", learn_show_recipe(origin->recipe));
	score_text(model);
	fputs(kinds[model->calibration.kind], stdout);
}

static void title_text(const char *path, const struct model *model)
{
	const struct model_origin *origin = &model->origin;

	printf("%s%s%s%s%s%s predicts %s%s", path ? path : "", path ? ": " : "",
	       model->pipeline.learner->name, *origin->settings ? " (" : "", origin->settings,
	       *origin->settings ? ")" : "", origin->target,
	       model->pipeline.log_target ? " by its logarithm" : "");
	for (size_t i = 0; i < model->pipeline.classes; i++)
		printf("%s%s", i ? ", " : ": ", model->classes[i]);
	printf("\n");
}

static void model_text(const char *path, const struct model *model, char *const *names,
		       size_t count, double coverage)
{
	AUTO_FREE struct weight *weights = weights_make(model, names, count);
	AUTO_BUF struct buf described = { 0 };

	title_text(path, model);
	origin_text(model);
	interval_text(model, coverage);
	for (size_t i = 0; weights && i < count && i < TOP_INPUTS && weights[i].share > 0; i++)
		printf("  %-11s  %5.1f%%  %s\n", i ? "" : "importance", 100 * weights[i].share,
		       weights[i].name);
	if (!path || !model->pipeline.learner->describe)
		return;
	model->pipeline.learner->describe(model->pipeline.fitted, (const char *const *)names,
					  &described);
	if (described.len)
		printf("\n%s%s", buf_text(&described),
		       described.data[described.len - 1] == '\n' ? "" : "\n");
}

static void features_json(struct json *json, const struct schema *schema)
{
	json_open(json, "features", '[');
	for (size_t i = 0; i < schema->count; i++) {
		const struct feature *feature = &schema->features[i];

		json_open(json, NULL, '{');
		json_text(json, "name", feature->name);
		json_text(json, "type", feature->levels ? "text" : "number");
		if (!feature->levels) {
			json_real(json, "median", feature->median);
		} else {
			json_open(json, "levels", '[');
			for (size_t l = 0; l < feature->level_count; l++)
				json_text(json, NULL, feature->levels[l]);
			json_close(json);
		}
		json_close(json);
	}
	json_close(json);
}

static void model_json(const char *path, const struct model *model, char *const *names,
		       size_t count, double coverage)
{
	AUTO_FREE struct weight *weights = weights_make(model, names, count);
	char calibration[32];
	struct json json;

	option_choice_name(CALIBRATION_WORDS, (int)model->calibration.kind, calibration,
			   sizeof(calibration));
	json_start(&json, stdout, LEARN_SCHEMA);
	json_text(&json, "path", path);
	model_tell(model, &json);
	json_text(&json, "calibration", calibration);
	if (!model->classes) {
		json_real(&json, "coverage", coverage);
		json_real(&json, "margin",
			  model->conformal.count ? conformal_margin(&model->conformal, coverage)
						 : NAN);
		json_bool(&json, "margin_is_per_spread", model->softening > 0);
	}
	json_open(&json, "classes", '[');
	for (size_t i = 0; model->classes && i < model->pipeline.classes; i++)
		json_text(&json, NULL, model->classes[i]);
	json_close(&json);
	features_json(&json, &model->schema);
	json_open(&json, "importance", '[');
	for (size_t i = 0; weights && i < count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "input", weights[i].name);
		json_real(&json, "share", weights[i].share);
		json_close(&json);
	}
	json_end(&json);
}

void learn_show_model(const char *path, const struct model *model, double coverage, bool json)
{
	size_t count;
	char **names = input_names(model, &count);

	if (json)
		model_json(path, model, names, count, coverage);
	else
		model_text(path, model, names, count, coverage);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}
