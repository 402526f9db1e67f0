/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Describes a fitted model.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/term.h"
#include "lab/learn/print.h"
#include "learn/model/model.h"

#define TOP_INPUTS 10

/*
 * The names of the inputs of the learner: those of the schema, or numbered components if the
 * preparation replaces them. The caller frees the names and the array.
 */
static char **make_input_names(const struct model *model, size_t *count)
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

static int compare_weights(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return (x->share < y->share) - (x->share > y->share);
}

/*
 * The inputs by importance, greatest first; NULL if the method does not provide it. The caller
 * frees the array.
 */
static struct weight *make_weights(const struct model *model, char *const *names, size_t count)
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
	qsort(weights, count, sizeof(*weights), compare_weights);
	return weights;
}

static void format_time(int64_t seconds, char *out, size_t cap)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(out, cap, "%F %T", &tm))
		snprintf(out, cap, "-");
}

static void print_score(const struct model *model)
{
	const struct model_origin *origin = &model->origin;

	if (isnan(origin->score) && isnan(origin->second)) {
		printf("  validation   none: fitted without folds\n");
		return;
	}
	if (model->classes)
		printf("  validation   accuracy %.4f, AUC %.4f (cross-validation)\n", origin->score,
		       origin->second);
	else
		term_printf(stdout,
			    "  validation   R2 %.4f%s, median error %.1f%% (cross-validation)\n",
			    origin->score, model->pipeline.log_target ? " of logarithms" : "",
			    100 * origin->second);
}

static void print_interval(const struct model *model, double coverage)
{
	double margin =
		model->conformal.count ? conformal_margin(&model->conformal, coverage) : INFINITY;

	if (!isfinite(margin))
		return;
	printf("  interval     %.0f%% of true values lie within ", 100 * coverage);
	if (model->softening > 0)
		term_sentence(stdout, "%.3g times the deviation predicted for each row\n", margin);
	else if (model->pipeline.log_target)
		term_sentence(stdout, "a factor of %.4g\n", exp(margin));
	else
		printf("+- %.4g\n", margin);
}

static void print_origin(const struct model *model)
{
	static const char *const kinds[] = { "", "  calibration  Platt's sigmoid\n",
					     "  calibration  isotonic regression\n" };
	const struct model_origin *origin = &model->origin;
	char when[32];

	format_time(origin->made, when, sizeof(when));
	term_printf(stdout, "  created      %s by sluice %s, seed %llu\n", when, origin->version,
		    (unsigned long long)origin->seed);
	printf("  trained on   %llu rows, %zu features, %zu inputs",
	       (unsigned long long)origin->rows, model->schema.count, model->schema.width);
	if (origin->refreshed)
		printf("; updated with %llu rows", (unsigned long long)origin->refreshed);
	printf("\n");
	if (origin->time)
		term_printf(stdout, "  time range   %s from %.10g to %.10g\n", origin->time,
			    origin->from, origin->to);
	term_printf(stdout, "  preparation  %s\n", learn_recipe_text(origin->recipe));
	print_score(model);
	fputs(kinds[model->calibration.kind], stdout);
}

static void print_title(const char *path, const struct model *model)
{
	const struct model_origin *origin = &model->origin;

	term_printf(stdout, "%s%s%s%s%s%s predicts %s%s", path ? path : "", path ? ": " : "",
		    model->pipeline.learner->name, *origin->settings ? " (" : "", origin->settings,
		    *origin->settings ? ")" : "", origin->target,
		    model->pipeline.log_target ? " through its logarithm" : "");
	for (size_t i = 0; i < model->pipeline.classes; i++)
		term_printf(stdout, "%s%s", i ? ", " : ": ", model->classes[i]);
	printf("\n");
}

static void print_model_text(const char *path, const struct model *model, char *const *names,
			     size_t count, double coverage)
{
	AUTO_FREE struct weight *weights = make_weights(model, names, count);
	AUTO_BUF struct buf described = { 0 };

	print_title(path, model);
	print_origin(model);
	print_interval(model, coverage);
	for (size_t i = 0; weights && i < count && i < TOP_INPUTS && weights[i].share > 0; i++)
		term_printf(stdout, "  %-11s  %5.1f%%  %s\n", i ? "" : "importance",
			    100 * weights[i].share, weights[i].name);
	if (!path || !model->pipeline.learner->describe)
		return;
	model->pipeline.learner->describe(model->pipeline.fitted, (const char *const *)names,
					  &described);
	if (!described.len)
		return;
	putchar('\n');
	term_lines(stdout, buf_text(&described));
	if (described.data[described.len - 1] != '\n')
		putchar('\n');
}

static void print_features_json(struct json *json, const struct schema *schema)
{
	json_open(json, "features", '[');
	for (size_t i = 0; i < schema->count; i++) {
		const struct feature *feature = &schema->features[i];

		json_open(json, NULL, '{');
		json_text(json, "name", feature->name);
		json_text(json, "type", feature->levels ? "text" : "number");
		if (!feature->levels) {
			json_double(json, "median", feature->median);
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

static void print_model_json(const char *path, const struct model *model, char *const *names,
			     size_t count, double coverage)
{
	AUTO_FREE struct weight *weights = make_weights(model, names, count);
	char calibration[32];
	struct json json;

	option_choice_name(CALIBRATION_WORDS, (int)model->calibration.kind, calibration,
			   sizeof(calibration));
	json_start(&json, stdout, LEARN_SCHEMA);
	json_text(&json, "path", path);
	model_tell(model, &json);
	json_text(&json, "calibration", calibration);
	if (!model->classes) {
		json_double(&json, "coverage", coverage);
		json_double(&json, "margin",
			    model->conformal.count ? conformal_margin(&model->conformal, coverage)
						   : NAN);
		json_bool(&json, "margin_is_per_spread", model->softening > 0);
	}
	json_open(&json, "classes", '[');
	for (size_t i = 0; model->classes && i < model->pipeline.classes; i++)
		json_text(&json, NULL, model->classes[i]);
	json_close(&json);
	print_features_json(&json, &model->schema);
	json_open(&json, "importance", '[');
	for (size_t i = 0; weights && i < count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "input", weights[i].name);
		json_double(&json, "share", weights[i].share);
		json_close(&json);
	}
	json_end(&json);
}

void learn_print_model(const char *path, const struct model *model, double coverage, bool json)
{
	size_t count;
	char **names = make_input_names(model, &count);

	if (json)
		print_model_json(path, model, names, count, coverage);
	else
		print_model_text(path, model, names, count, coverage);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}
