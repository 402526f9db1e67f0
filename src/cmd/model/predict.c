/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model predict: predicts the time of one access with given settings, operation by
 * operation.
 */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/model/model.h"
#include "cmd/run_argument.h"
#include "params/set.h"
#include "predict/model/access_words.h"
#include "predict/model/hybrid/claim.h"

static const struct option predict_options[] = {
	OPTION_INCLUDE(model_access_options, 0),
	OPTION_INCLUDE(model_file_options, 0),
	OPTION_INCLUDE(model_coverage_options, 0),
	OPTION_INCLUDE(model_json_options, 0),
	{ 0 },
};

struct asked {
	const struct model_args *args;
	struct hybrid hybrid;
	struct access access;
	struct settings settings;
	double coverage;
	struct prediction prediction;
};

static void print_terms(const struct prediction *p)
{
	static const char *const titles[] = { "step",	"operation", ">count", ">each",
					      ">total", ">share",    NULL };
	char each[UNIT_TEXT], sum[UNIT_TEXT];
	struct table table;

	table_init(&table, titles);
	for (size_t i = 0; i < p->counts.count; i++) {
		const struct term *term = &p->counts.terms[i];

		table_add(&table, "%s", term->what);
		table_add(&table, "%s", operations[term->operation].title);
		table_add(&table, "%.10g", term->count);
		table_add(&table, "%s", model_show_seconds(each, p->each[i]));
		table_add(&table, "%s", model_show_seconds(sum, p->terms[i]));
		table_add(&table, "%.1f%%", 100 * p->correction * p->terms[i] / p->seconds);
	}
	table_print(&table, stdout, 2);
	table_release(&table);
}

static void print_prediction(const struct asked *asked)
{
	const struct prediction *p = &asked->prediction;
	AUTO_FREE char *line =
		settings_text(&asked->settings, &asked->hybrid.machine, &asked->access);
	char access[ACCESS_TEXT], time[UNIT_TEXT], low[UNIT_TEXT], high[UNIT_TEXT],
		claim[CLAIM_TEXT];

	access_text(&asked->access, access);
	term_printf(stdout, "%s, with %s\n", access, line);
	term_sentence(stdout, "%s (%s %s to %s)\n\n", model_show_seconds(time, p->seconds),
		      claim_text(&asked->hybrid, VALIDATION_TIMES, p->is_calibrated,
				 asked->coverage, claim),
		      model_show_seconds(low, p->low), model_show_seconds(high, p->high));
	print_terms(p);
	if (p->correction != 1)
		term_sentence(stdout, "\nmeasured accesses multiply the sum by %.2f\n",
			      p->correction);
	term_sentence(stdout, "\n%lu aggregators, %lu full rounds%s\n", p->counts.aggregators,
		      p->counts.rounds, p->counts.incomplete ? " and an incomplete one" : "");
	if (p->is_outside)
		term_sentence(stdout,
			      "part of this access is outside the measured range, which widens the "
			      "interval\n");
}

static void print_prediction_json(const struct asked *asked)
{
	const struct prediction *p = &asked->prediction;
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	access_json(&json, &asked->access);
	settings_json(&json, &asked->settings, &asked->hybrid.machine, &asked->access);
	json_double(&json, "seconds", p->seconds);
	json_double(&json, "low", p->low);
	json_double(&json, "high", p->high);
	json_double(&json, "correction", p->correction);
	claim_json(&json, &asked->hybrid, VALIDATION_TIMES, p->is_calibrated, asked->coverage);
	json_bool(&json, "outside", p->is_outside);
	json_count(&json, "aggregators", p->counts.aggregators);
	json_count(&json, "rounds", p->counts.rounds);
	json_count(&json, "incomplete", p->counts.incomplete);
	json_open(&json, "terms", '[');
	for (size_t i = 0; i < p->counts.count; i++) {
		const struct term *term = &p->counts.terms[i];

		json_open(&json, NULL, '{');
		json_text(&json, "what", term->what);
		json_text(&json, "operation", operations[term->operation].name);
		json_double(&json, "count", term->count);
		json_double(&json, "each", p->each[i]);
		json_double(&json, "seconds", p->terms[i]);
		json_double(&json, "margin", p->margins[i]);
		json_close(&json);
	}
	json_end(&json);
}

static int predict_access(const struct command *command, struct asked *asked)
{
	const struct model_args *args = asked->args;
	struct err err = { 0 };
	int r = model_access(command, args, &asked->hybrid.machine, &asked->hybrid, &asked->access);

	if (!r)
		r = model_settings(command, args, &asked->hybrid.machine, &asked->access,
				   &asked->settings, NULL);
	if (r)
		return r;
	r = hybrid_predict(&asked->hybrid, &asked->access, &asked->settings, asked->coverage,
			   &asked->prediction, &err);
	if (r < 0)
		return command_fail_err(command, r, &err);
	model_warn(command, &asked->hybrid);
	if (args->json)
		print_prediction_json(asked);
	else
		print_prediction(asked);
	return command_finish(command);
}

static int predict_run(struct command *command)
{
	const struct model_args *args = command->args;
	struct asked asked = { .args = args };
	int ret = model_coverage(command, args, &asked.coverage);

	if (!ret)
		ret = model_open(command, args, &asked.hybrid);
	if (ret)
		return ret;
	ret = predict_access(command, &asked);
	hybrid_release(&asked.hybrid);
	return ret;
}

const struct command_ops command_model_predict = {
	.name = "predict",
	.help = "predict the time of a collective access",
	.about = "  sluice model predict -n 64 -s 16M --param cb_nodes=4\n"
		 "  sluice model predict --run 3f9a1",
	.options = predict_options,
	.args_bytes = sizeof(struct model_args),
	.run = predict_run,
	.complete = run_argument_complete,
};
