/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/outcome.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "tune/trial/command_template.h"

bool tuning_has_winner(const struct tuning *tuning)
{
	const struct tuning_result *result = tuning_result(tuning);

	return result->proof.holds && result->is_complete;
}

char *tuning_winner_command(const struct tuning *tuning)
{
	const struct tuning_plan *plan = tuning_plan(tuning);
	struct param_set set = { 0 }, defaults = { 0 };
	struct buf text = { 0 };
	char **filled;

	command_template_defaults(&plan->space, &defaults);
	if (!defaults.count || !tuning_has_winner(tuning)) {
		param_set_release(&defaults);
		return tuning_plan_command(plan);
	}
	space_set(&plan->space, tuning_result(tuning)->best->point, &set);
	filled = command_template_fill(plan->argv, &set, &defaults);
	buf_put_command(&text, filled);
	command_template_free(filled);
	param_set_release(&set);
	param_set_release(&defaults);
	return buf_take(&text);
}

static void append_costs(enum cost_kind kind, const struct proof *proof, struct buf *out)
{
	buf_printf(out, "%s ", cost_label(kind));
	cost_text(kind, proof->before, out);
	buf_puts(out, " -> ");
	cost_text(kind, proof->after, out);
}

/*
 * "2.31 times faster (95 % interval 2.05 to 2.60): I/O 1.42 s -> 614 ms, 5 interleaved pairs of
 * runs; data identical: 2 files, 1.50 GiB"
 */
static void append_confirmed(const struct tuning_outcome *o, struct buf *out)
{
	const struct tuning_result *result = tuning_result(o->tuning);
	const struct proof *proof = &result->proof;

	buf_printf(out, "%.2f times faster", proof->gain);
	if (!o->is_exact)
		buf_printf(out, " (95 %% interval %.2f to %.2f)", proof->low, proof->high);
	buf_puts(out, ": ");
	append_costs(tuning_plan(o->tuning)->objective, proof, out);
	if (o->is_exact) {
		buf_puts(out, " (modelled; no program was run)");
		return;
	}
	buf_printf(out, ", %zu interleaved pairs of runs; data %s", proof->pairs, result->compared);
}

static void append_unconfirmed(const struct tuning_outcome *o, struct buf *out)
{
	const struct tuning_result *result = tuning_result(o->tuning);
	const struct proof *proof = &result->proof;

	if (!result->is_complete) {
		buf_puts(out, "unfinished: ");
		if (result->best)
			buf_printf(
				out,
				"the best candidate so far looks %.2f times faster, which is not "
				"confirmed",
				result->level / result->best->cost);
		else
			buf_puts(out, "no improvement found so far");
	} else if (result->is_contradicted) {
		buf_printf(out,
			   "no improvement confirmed: with recording the program seems to be %.2f "
			   "times faster, but without it takes longer than the baseline "
			   "(%.3g s -> %.3g s)",
			   proof->gain, result->unrecorded_before, result->unrecorded_after);
	} else if (!result->best && !result->rejected) {
		buf_puts(out, "no improvement found");
	} else if (!proof->pairs && !result->rejected) {
		buf_puts(out, "no improvement confirmed: no time was left to confirm one");
	} else if (!proof->pairs) {
		buf_printf(out, "no improvement confirmed: %zu candidates failed when re-run",
			   result->rejected);
	} else if (proof->low == 0) {
		buf_puts(out, "no improvement confirmed: too few pairs of runs, or no time left");
	} else {
		buf_printf(out,
			   "no improvement confirmed: a speedup of %.2f (95 %% interval %.2f to "
			   "%.2f) is not significant",
			   proof->gain, proof->low, proof->high);
	}
}

void outcome_verdict(const struct tuning_outcome *o, struct buf *out)
{
	const struct tuning_result *result = tuning_result(o->tuning);

	if (result->proof.holds)
		append_confirmed(o, out);
	else
		append_unconfirmed(o, out);
	if (result->proof.holds && result->conditions)
		buf_printf(out, "; valid only under these conditions: %s", result->conditions);
}

static bool contains_parameter(const struct param_set *set, const struct param *param)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];

		if (p->tunable == param->tunable && text_equal(p->file, param->file) &&
		    text_equal(p->object, param->object))
			return true;
	}
	return false;
}

void outcome_dropped(const struct tuning_outcome *o, struct param_set *dropped)
{
	const struct space *space = &tuning_plan(o->tuning)->space;
	const struct tuning_result *result = tuning_result(o->tuning);
	struct param_set origin = { 0 }, best = { 0 };

	if (!result->origin)
		return;
	space_set(space, result->origin->point, &origin);
	space_set(space, result->best->point, &best);
	for (size_t i = 0; i < origin.count; i++) {
		const struct param *p = &origin.params[i];

		if (!contains_parameter(&best, p))
			param_set_put(dropped, p->tunable, p->value, p->file, p->object, 0, NULL);
	}
	param_set_release(&origin);
	param_set_release(&best);
}

static void json_proof(struct json *json, const struct tuning_result *result)
{
	const struct proof *proof = &result->proof;

	json_open(json, "proof", '{');
	json_bool(json, "holds", proof->holds);
	json_count(json, "before_runs", proof->pairs);
	json_count(json, "after_runs", proof->pairs);
	json_double(json, "before", proof->before);
	json_double(json, "after", proof->after);
	json_double(json, "gain", proof->gain);
	json_double(json, "gain_low", proof->low);
	json_double(json, "gain_high", proof->high);
	json_double(json, "unrecorded_before_s", result->unrecorded_before);
	json_double(json, "unrecorded_after_s", result->unrecorded_after);
	json_bool(json, "contradicted", result->is_contradicted);
	json_close(json);
}

static void json_best(struct json *json, const struct tuning_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->tuning);
	struct param_set set = { 0 };

	json_open(json, "best", '{');
	if (result->best) {
		space_set(&tuning_plan(o->tuning)->space, result->best->point, &set);
		json_double(json, "cost", result->best->cost);
		json_open(json, "parameters", '{');
		for (size_t i = 0; i < set.count; i++)
			json_text(json, set.params[i].tunable->name, set.params[i].value);
		json_close(json);
	}
	json_close(json);
	param_set_release(&set);
}

static void json_dropped(struct json *json, const struct tuning_outcome *o)
{
	struct param_set dropped = { 0 };

	outcome_dropped(o, &dropped);
	json_open(json, "left_out", '{');
	for (size_t i = 0; i < dropped.count; i++)
		json_text(json, dropped.params[i].tunable->name, dropped.params[i].value);
	json_close(json);
	param_set_release(&dropped);
}

static void json_ablation(struct json *json, const struct partial *partial)
{
	static const char *const kinds[] = { [PARTIAL_DEFAULT] = "default",
					     [PARTIAL_LAYER] = "layer",
					     [PARTIAL_ALONE] = "alone",
					     [PARTIAL_WITHOUT] = "without",
					     [PARTIAL_FULL] = "full" };

	json_open(json, "partial", '[');
	for (size_t i = 0; partial && i < partial->count; i++) {
		const struct partial_row *row = &partial->rows[i];

		json_open(json, NULL, '{');
		json_text(json, "kind", kinds[row->kind]);
		json_text(json, "label", row->label);
		json_bool(json, "shown", partial_is_shown(partial, i));
		json_double(json, "cost", row->cost);
		json_double(json, "factor", row->factor);
		json_double(json, "share", row->share);
		json_text(json, "refusal", row->refusal);
		json_close(json);
	}
	json_close(json);
}

static void json_importance_part(struct json *json, const struct space_dimension *dimension,
				 const struct importance_part *part)
{
	json_open(json, NULL, '{');
	json_text(json, "name", dimension->tunable->name);
	json_double(json, "share", part->share);
	json_text(json, "best", dimension->values[part->best]);
	json_double(json, "factor", part->factor);
	json_close(json);
}

static void json_importance(struct json *json, const struct tuning_outcome *o)
{
	const struct space *space = &tuning_plan(o->tuning)->space;
	struct importance importance = { 0 };

	if (tuning_importance(o->tuning, &importance, NULL) < 0)
		return;
	json_open(json, "importance", '{');
	json_open(json, "parameters", '{');
	for (size_t i = 0; i < importance.count; i++)
		json_double(json, space->dimensions[i].tunable->name, importance.parts[i].share);
	json_close(json);
	json_open(json, "details", '[');
	for (size_t i = 0; i < importance.count; i++)
		json_importance_part(json, &space->dimensions[i], &importance.parts[i]);
	json_close(json);
	json_double(json, "together", importance.together);
	json_double(json, "unexplained", importance.unexplained);
	json_close(json);
	importance_release(&importance);
}

static void json_counts(struct json *json, const struct tuning_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->tuning);

	json_count(json, "runs", tuning_history(o->tuning)->next);
	json_count(json, "points_tried", tuning_candidates(o->tuning)->count);
	json_count(json, "points", space_points(&tuning_plan(o->tuning)->space));
	json_count(json, "questions", result->asked.asked);
	json_open(json, "states", '{');
	for (int s = 0; s < TRIAL_STATES; s++)
		json_count(json, trial_state_name((enum trial_state)s), result->counts[s]);
	json_close(json);
	json_double(json, "noise", result->noise);
	json_double(json, "drift", result->drift);
	json_count(json, "rejected", result->rejected);
	json_count(json, "unproved", result->unproved);
	json_count(json, "disturbed", result->disturbed);
	json_text(json, "conditions", result->conditions);
}

/* "data" is the word before the colon: identical, partly, verified, not compared. */
static void json_data(struct json *json, const char *compared)
{
	AUTO_FREE char *word = xstrndup(compared, strcspn(compared, ":"));

	json_text(json, "data", word);
	json_text(json, "compared", compared);
}

void outcome_json(const struct tuning_outcome *o, struct json *json)
{
	const struct tuning_result *result = tuning_result(o->tuning);
	const struct tuning_plan *plan = tuning_plan(o->tuning);
	AUTO_BUF struct buf text = { 0 };

	outcome_verdict(o, &text);
	json_number(json, "id", tuning_history(o->tuning)->study);
	json_text(json, "command", o->command);
	json_text(json, "verdict", buf_text(&text));
	json_bool(json, "complete", result->is_complete);
	json_text(json, "objective", cost_name(plan->objective));
	json_text(json, "search", plan->search);
	json_count(json, "seed", plan->seed);
	json_double(json, "default_cost", result->level);
	json_best(json, o);
	json_dropped(json, o);
	json_proof(json, result);
	json_data(json, result->compared);
	json_counts(json, o);
	json_ablation(json, result->partial);
	json_importance(json, o);
	if (o->entry)
		json_number(json, "entry", o->entry);
	else
		json_text(json, "entry", NULL);
}
