/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice model recommend: prints the settings with the shortest predicted time, their speedup, and
 * whether it is significant.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/integer.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/unit.h"
#include "cmd/model/model.h"
#include "cmd/run_argument.h"
#include "params/set.h"
#include "params/space.h"
#include "predict/model/hybrid/choices.h"

static const struct option recommend_options[] = {
	OPTION_INCLUDE(model_access_options, 0),
	OPTION_INCLUDE(model_file_options, 0),
	OPTION_INCLUDE(model_space_options, 0),
	OPTION_INCLUDE(model_coverage_options, 0),
	{ 't', "top", "N", "5", "show the N best settings", OPTION_COUNT,
	  offsetof(struct model_args, top) },
	{ 'o', "output", "FILE", NULL, "write the settings to FILE as hints", OPTION_TEXT,
	  offsetof(struct model_args, output) },
	OPTION_INCLUDE(model_json_options, 0),
	{ 0 }
};

struct advice {
	const struct model_args *args;
	struct hybrid hybrid;
	struct access access;
	struct settings initial;
	struct choices choices;
	struct recommendation recommendation;
	size_t *order;	 /* indexes of the choices that are shown, best first */
	double *seconds; /* their predicted times */
	size_t shown;
	double coverage;
	double took; /* seconds that the recommendation took */
};

static void advice_release(struct advice *advice)
{
	hybrid_release(&advice->hybrid);
	choices_release(&advice->choices);
	free(advice->seconds);
	free(advice->order);
}

static int find_choices(struct advice *a, struct err *err)
{
	const struct machine *machine = &a->hybrid.machine;
	struct space space = { 0 };
	int r;

	if (!a->args->space)
		return choices_from_catalog(&a->choices, &a->hybrid, &a->access, err);
	space.context = (struct tunable_context){ .allowed = TUNABLE_LAYOUT,
						  .ranks = (uint32_t)a->access.ranks,
						  .nodes = (uint32_t)a->access.nodes };
	r = space_read(&space, a->args->space, err);
	if (r >= 0)
		r = choices_from_space(&a->choices, &space, machine, &a->access, err);
	space_release(&space);
	return r;
}

/* Ranks the choices and compares the best one with the current settings. */
static int find_best(struct advice *a, struct err *err)
{
	size_t wanted = size_min(size_max(a->args->top, 1), a->choices.count);
	int r;

	a->order = xmalloc((wanted + 1) * sizeof(*a->order));
	a->seconds = xmalloc((wanted + 1) * sizeof(*a->seconds));
	r = hybrid_best(&a->hybrid, &a->access, a->choices.list, a->choices.count, wanted, a->order,
			a->seconds, err);
	if (r <= 0)
		return r < 0 ? r : err_set(err, ENODATA, "the search space contains no settings");
	a->shown = size_min((size_t)r, a->args->top);
	r = hybrid_recommend(&a->hybrid, &a->access, &a->choices.list[a->order[0]], 1, &a->initial,
			     a->coverage, &a->recommendation, err);
	a->recommendation.best = a->order[0];
	return r;
}

static int find_advice(struct advice *a, struct err *err)
{
	double began = clock_now_s();
	int r = find_choices(a, err);

	if (r >= 0)
		r = find_best(a, err);
	a->took = clock_now_s() - began;
	return r;
}

static char *settings_line(const struct advice *a, const struct settings *chosen)
{
	return model_show_settings(chosen, &a->hybrid.machine, &a->access);
}

/* Explains the settings to readers who do not know collective buffering. */
static void print_meaning(const struct advice *a, const struct settings *s)
{
	uint64_t aggregators = counts_aggregators(&a->hybrid.machine, &a->access, s);
	uint64_t buffer = s->buffer_bytes ? s->buffer_bytes : a->hybrid.machine.buffer_bytes;
	char bytes[UNIT_TEXT];

	if (s->buffering == BUFFERING_DISABLED) {
		term_sentence(
			stdout, "Every rank then accesses the file itself%s.\n",
			!access_has_pieces(&a->access) ? ""
			: s->sieving == BUFFERING_DISABLED
				? ", with one call per piece"
				: ", in windows that include the bytes between its pieces (data "
				  "sieving)");
		return;
	}
	term_sentence(stdout,
		      "%" PRIu64 " of the %" PRIu64
		      " ranks (aggregators) then access the file for all, "
		      "with a buffer of %s each.\n",
		      aggregators, a->access.ranks, unit_bytes(bytes, (double)buffer));
}

static bool is_no_change(const struct advice *a)
{
	return a->recommendation.gain < HYBRID_GAIN_LEAST ||
	       settings_equal(&a->choices.list[a->recommendation.best], &a->initial);
}

static const char *show_claim(const struct advice *a, char out[MODEL_CLAIM])
{
	return model_show_claim(&a->hybrid, VALIDATION_GAINS, a->recommendation.is_calibrated,
				a->coverage, out);
}

static void print_keep(const struct advice *a, const char *line)
{
	const struct recommendation *r = &a->recommendation;
	char claim[MODEL_CLAIM];

	if (is_no_change(a)) {
		term_sentence(
			stdout,
			"No change recommended: no other settings are predicted to be faster.\n");
		return;
	}
	term_sentence(stdout,
		      "No change recommended. The predicted speedup of %s is %.2f, but it is not "
		      "significant (%s %.2f to %.2f).\n",
		      line, r->gain, show_claim(a, claim), r->gain_low, r->gain_high);
}

static void print_change(const struct advice *a, const char *line)
{
	const struct recommendation *r = &a->recommendation;
	char claim[MODEL_CLAIM];

	term_printf(stdout, "Use %s\n", line);
	term_sentence(stdout, "Predicted speedup: %.2f (%s %.2f to %.2f)\n", r->gain,
		      show_claim(a, claim), r->gain_low, r->gain_high);
	print_meaning(a, &a->choices.list[r->best]);
	if (a->args->output)
		term_printf(stdout, "To apply it: sluice run --params %s -- mpiexec ...\n",
			    a->args->output);
	else
		printf("To apply it, write the settings with -o best.hints, then: sluice run "
		       "--params best.hints -- mpiexec ...\n");
}

static void print_top(const struct advice *a)
{
	static const char *const titles[] = { ">predicted", ">speedup", "settings", NULL };
	struct table table;
	char time[UNIT_TEXT];

	if (!a->shown)
		return;
	table_init(&table, titles);
	table_add(&table, "%s", model_show_seconds(time, a->recommendation.initial_seconds));
	table_add(&table, "1.00");
	table_add(&table, "current settings");
	for (size_t i = 0; i < a->shown; i++) {
		AUTO_FREE char *line = settings_line(a, &a->choices.list[a->order[i]]);

		table_add(&table, "%s", model_show_seconds(time, a->seconds[i]));
		table_add(&table, "%.2f", a->recommendation.initial_seconds / a->seconds[i]);
		table_add(&table, "%s", line);
	}
	term_sentence(stdout, "\nTop %zu of %zu:\n", a->shown, a->choices.count);
	table_print(&table, stdout, 2);
	table_release(&table);
}

static void print_advice(const struct advice *a)
{
	AUTO_FREE char *line = settings_line(a, &a->choices.list[a->recommendation.best]);
	char access[256];

	model_show_access(&a->access, access);
	term_printf(stdout, "%s.\n", access);
	if (a->recommendation.keep)
		print_keep(a, line);
	else
		print_change(a, line);
	print_top(a);
	if (a->recommendation.is_outside)
		term_sentence(stdout,
			      "\n"
			      "Part of this access is outside the measured range, which widens the "
			      "intervals.\n");
	if (a->choices.unknown.len)
		term_sentence(stdout, "\nThe model does not know %s; they were left unset.\n",
			      buf_text(&a->choices.unknown));
}

static void print_advice_json(const struct advice *a)
{
	const struct recommendation *r = &a->recommendation;
	struct json json;

	json_start(&json, stdout, MODEL_SCHEMA);
	model_json_access(&json, &a->access);
	json_bool(&json, "keep", r->keep);
	model_json_settings(&json, &a->choices.list[r->best], &a->hybrid.machine, &a->access);
	json_real(&json, "gain", r->gain);
	json_real(&json, "gain_low", r->gain_low);
	json_real(&json, "gain_high", r->gain_high);
	model_json_claim(&json, &a->hybrid, VALIDATION_GAINS, r->is_calibrated, a->coverage);
	json_real(&json, "predicted", r->seconds);
	json_real(&json, "predicted_now", r->initial_seconds);
	json_bool(&json, "outside", r->is_outside);
	json_text(&json, "unknown", buf_text(&a->choices.unknown));
	json_count(&json, "candidates", a->choices.count);
	json_real(&json, "seconds", a->took);
	json_open(&json, "best", '[');
	for (size_t i = 0; i < a->shown; i++) {
		json_open(&json, NULL, '{');
		json_real(&json, "predicted", a->seconds[i]);
		model_json_settings(&json, &a->choices.list[a->order[i]], &a->hybrid.machine,
				    &a->access);
		json_close(&json);
	}
	json_end(&json);
}

/*
 * Writes a hints file, which ROMIO and `sluice run --params` read, unless no change is recommended.
 */
static int write_advice(const struct command *command, const struct advice *a)
{
	struct param_set set = { 0 };
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };
	int r;

	if (!a->args->output)
		return COMMAND_GOOD;
	if (a->recommendation.keep) {
		command_warn(command, "%s was not written because no change is recommended",
			     a->args->output);
		return COMMAND_GOOD;
	}
	r = settings_to_params(&a->choices.list[a->recommendation.best], &a->hybrid.machine,
			       &a->access, &set, &err);
	if (r >= 0)
		r = param_hints.write(&set, &text, &err);
	param_set_release(&set);
	if (r >= 0)
		r = file_write_all(a->args->output, text.data, text.len, &err);
	return r < 0 ? command_fail(command, "%s", err.text) : COMMAND_GOOD;
}

static int give_advice(const struct command *command, struct advice *a)
{
	struct err err = { 0 };
	int ret = model_access(command, a->args, &a->hybrid.machine, &a->hybrid, &a->access), r;

	if (!ret)
		ret = model_settings(command, a->args, &a->hybrid.machine, &a->access, &a->initial,
				     NULL);
	if (ret)
		return ret;
	r = find_advice(a, &err);
	if (r < 0)
		return command_fail_err(command, r, &err);
	ret = write_advice(command, a);
	if (ret)
		return ret;
	model_warn(command, &a->hybrid);
	if (a->args->json)
		print_advice_json(a);
	else
		print_advice(a);
	return command_finish(command);
}

static int recommend_run(struct command *command)
{
	const struct model_args *args = command->args;
	struct advice advice = { .args = args };
	int ret = model_coverage(command, args, &advice.coverage);

	if (!ret)
		ret = model_open(command, args, &advice.hybrid);
	if (!ret)
		ret = give_advice(command, &advice);
	advice_release(&advice);
	return ret;
}

const struct command_ops command_model_recommend = {
	.name = "recommend",
	.help = "recommend settings for a collective access",
	.about = "Prints the settings with the shortest predicted time and their speedup over the "
		 "current settings: the machine's defaults, or --param. If the prediction "
		 "interval includes a loss, no change is recommended. --output writes the "
		 "settings as a hints file for 'sluice run --params FILE' or for ROMIO_HINTS.\n\n"
		 "  sluice model recommend -n 64 -s 16M -o best.hints",
	.options = recommend_options,
	.args_bytes = sizeof(struct model_args),
	.run = recommend_run,
	.complete = run_argument_complete,
};
