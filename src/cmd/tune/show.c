/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The result of a tuning: the verdict, the parameters, the contribution of each, what was tried,
 * and the commands that apply it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/tune/tune.h"

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
static void append_confirmed(const struct tune_outcome *o, struct buf *out)
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

static void append_unconfirmed(const struct tune_outcome *o, struct buf *out)
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

static void append_verdict(const struct tune_outcome *o, struct buf *out)
{
	const struct tuning_result *result = tuning_result(o->tuning);

	if (result->proof.holds)
		append_confirmed(o, out);
	else
		append_unconfirmed(o, out);
	if (result->proof.holds && result->conditions)
		buf_printf(out, "; valid only under these conditions: %s", result->conditions);
}

static void print_conditions(const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->tuning);

	if (result->conditions)
		term_sentence(stdout, "conditions: %s; without them the result may be different\n",
			      result->conditions);
	if (result->disturbed)
		term_sentence(stdout,
			      "during %zu runs of the confirmation, other processes used far more "
			      "of the processors than usual\n",
			      result->disturbed);
}

static void print_parameters(const struct tune_outcome *o)
{
	static const char *const titles[] = { "parameter", "value", "layer", "safety", NULL };
	const struct tuning_result *result = tuning_result(o->tuning);
	struct param_set set = { 0 };
	struct table table;

	space_set(&tuning_plan(o->tuning)->space, result->best->point, &set);
	table_init(&table, titles);
	for (size_t i = 0; i < set.count; i++) {
		const struct param *p = &set.params[i];

		table_add(&table, "%s", p->tunable->name);
		table_add(&table, "%s%s%s", p->value, p->file ? " for " : "",
			  p->file ? p->file : "");
		table_add(&table, "%s", tunable_layer_name(p->tunable->layer));
		table_add(&table, "%s",
			  tunable_safety_name(tunable_value_safety(
				  p->tunable, p->value, &tuning_plan(o->tuning)->context)));
	}
	printf("\n");
	table_print(&table, stdout, 2);
	table_release(&table);
	param_set_release(&set);
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

/* Parameters of the best candidate that were dropped because they have no effect. */
static void find_dropped(const struct tune_outcome *o, struct param_set *dropped)
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

static void print_dropped(const struct tune_outcome *o)
{
	AUTO_BUF struct buf line = { 0 };
	struct param_set dropped = { 0 };

	find_dropped(o, &dropped);
	if (dropped.count) {
		param_set_line(&dropped, &line);
		term_sentence(stdout, "\ndropped because they have no effect: %s\n",
			      buf_text(&line));
	}
	param_set_release(&dropped);
}

static void add_share(struct table *table, double share)
{
	if (isnan(share))
		table_add(table, "-");
	else
		table_add(table, "%.0f%%", fabs(share) < 0.005 ? 0 : 100 * share);
}

/* If several rows have the same parameters, only the first of full, alone, layer and without is
 * shown. */
static bool is_row_shown(const struct partial *partial, size_t row)
{
	static const int ranks[] = { [PARTIAL_DEFAULT] = 0,
				     [PARTIAL_FULL] = 1,
				     [PARTIAL_ALONE] = 2,
				     [PARTIAL_LAYER] = 3,
				     [PARTIAL_WITHOUT] = 4 };
	const struct partial_row *rows = partial->rows;

	for (size_t i = 0; i < partial->count; i++)
		if (rows[i].same == rows[row].same && ranks[rows[i].kind] < ranks[rows[row].kind])
			return false;
	return true;
}

static const char *ablation_remark(const struct partial_row *row)
{
	return row->refusal ? row->refusal : isinf(row->cost) ? "failed or much slower" : "-";
}

/* The column for remarks is shown only if there is a remark. */
#define ABLATION_COLUMNS 5

static void init_ablation_table(struct table *table, const struct partial *partial)
{
	static const char *const titles[] = { "parameters",	">cost",  ">speedup",
					      ">share of gain", "remark", NULL };
	static const char *const plain[] = { "parameters", ">cost", ">speedup", ">share of gain",
					     NULL };
	bool remarks = false;

	for (size_t i = 0; i < partial->count; i++)
		remarks = remarks || *ablation_remark(&partial->rows[i]) != '-';
	table_init(table, remarks ? titles : plain);
}

static void add_ablation_row(const struct tune_outcome *o, struct table *table,
			     const struct partial_row *row)
{
	AUTO_BUF struct buf cost = { 0 };

	cost_text(tuning_plan(o->tuning)->objective, row->cost, &cost);
	table_add(table, "%s", row->label);
	table_add(table, "%s", buf_text(&cost));
	if (isfinite(row->factor))
		table_add(table, "%.2f", row->factor);
	else
		table_add(table, "-");
	add_share(table, row->share);
	if (table->columns == ABLATION_COLUMNS)
		table_add(table, "%s", ablation_remark(row));
}

static void print_ablation(const struct tune_outcome *o, const struct partial *partial)
{
	size_t shown = 0, without = 0;
	struct table table;

	init_ablation_table(&table, partial);
	for (size_t i = 0; i < partial->count; i++) {
		if (!is_row_shown(partial, i))
			continue;
		shown++;
		without += partial->rows[i].kind == PARTIAL_WITHOUT;
		add_ablation_row(o, &table, &partial->rows[i]);
	}
	/* With a single parameter, the table would only repeat the verdict. */
	if (shown > 2) {
		term_sentence(
			stdout, "\ncontribution per parameter%s\n\n",
			without ? " (rows \"without\": all other parameters, and the lost share of "
				  "the gain)"
				: "");
		table_print(&table, stdout, 2);
	}
	table_release(&table);
}

/* "12% is explained only by combinations; 5% is noise, or needs more trials to explain" */
static void print_unexplained(const struct importance *importance)
{
	double together = round(100 * importance->together);
	double unexplained = round(100 * importance->unexplained);
	AUTO_BUF struct buf text = { 0 };

	if (together > 0)
		buf_printf(&text, "%.0f%% of the variance is explained only by combinations%s",
			   together, unexplained > 0 ? "; " : "");
	if (unexplained > 0)
		buf_printf(&text, "%.0f%% %s noise, or needs more trials to be explained",
			   unexplained, together > 0 ? "is" : "of the variance is");
	if (text.len)
		term_sentence(stdout, "%s\n", buf_text(&text));
}

static void print_importance(const struct tune_outcome *o)
{
	static const char *const titles[] = { "parameter", ">explains", ">best vs. worst",
					      "best value on average", NULL };
	const struct space *space = &tuning_plan(o->tuning)->space;
	struct importance importance = { 0 };
	struct err err = { 0 };
	struct table table;

	/* A single parameter explains all of the variance. */
	if (space->count < 2)
		return;
	if (tuning_importance(o->tuning, &importance, &err) < 0) {
		term_sentence(stdout, "\nimportance of parameters: %s\n", err.text);
		return;
	}
	table_init(&table, titles);
	for (size_t i = 0; i < importance.count; i++) {
		const char *best = space->dimensions[i].values[importance.parts[i].best];

		table_add(&table, "%s", space->dimensions[i].tunable->name);
		add_share(&table, importance.parts[i].share);
		table_add(&table, "%.2f", importance.parts[i].factor);
		table_add(&table, "%s", best ? best : "unset");
	}
	term_sentence(
		stdout,
		"\nimportance: share of the variance of all trials that a parameter explains\n\n");
	table_print(&table, stdout, 2);
	print_unexplained(&importance);
	table_release(&table);
	importance_release(&importance);
}

static void print_tried(const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->tuning);
	const struct tuning_plan *plan = tuning_plan(o->tuning);
	size_t tried = tuning_candidates(o->tuning)->count;
	size_t runs = tuning_history(o->tuning)->next;
	uint64_t points = space_points(&plan->space);
	AUTO_BUF struct buf text = { 0 };

	buf_printf(&text, "%zu point%s tried", tried, tried == 1 ? "" : "s");
	if (points)
		buf_printf(&text, " of %" PRIu64, points);
	buf_printf(&text, " by %s search, %zu run%s in total", plan->search, runs,
		   runs == 1 ? "" : "s");
	for (int s = TRIAL_GOOD + 1; s < TRIAL_STATES; s++)
		if (result->counts[s])
			buf_printf(&text, ", %zu %s", result->counts[s],
				   trial_state_name((enum trial_state)s));
	term_sentence(stdout, "\n%s\n", buf_text(&text));
	if (!o->is_exact)
		term_sentence(stdout, "noise: run times vary by %.1f%%\n", 100 * result->noise);
	if (!isnan(result->unrecorded_before))
		term_printf(stdout,
			    "run time without recording: %.3g s -> %.3g s (medians of interleaved "
			    "runs)\n",
			    result->unrecorded_before, result->unrecorded_after);
	if (result->drift != 1)
		term_printf(
			stdout,
			"drift: the baseline became %.2f times %s during the tuning; each run was "
			"compared with the baseline of its time\n",
			result->drift > 1 ? result->drift : 1 / result->drift,
			result->drift > 1 ? "slower" : "faster");
}

/* Prints the first reason of each kind of failure. */
static void print_failures(const struct tune_outcome *o)
{
	const struct history *history = tuning_history(o->tuning);
	bool is_printed[TRIAL_STATES] = { [TRIAL_GOOD] = true };

	for (size_t i = 0; i < history->next; i++) {
		const struct history_run *run = &history->runs[i];

		if (is_printed[run->state] || !run->reason || !*run->reason)
			continue;
		is_printed[run->state] = true;
		term_sentence(stdout, "%s, first in run %zu: %s\n", trial_state_name(run->state),
			      i + 1, run->reason);
	}
}

static void print_apply(const struct tune_outcome *o)
{
	const struct tuning_plan *plan = tuning_plan(o->tuning);

	printf("\n");
	if (o->entry)
		term_sentence(stdout, "stored as entry %" PRId64 " of the knowledge base\n",
			      o->entry);
	else if (o->pinned)
		term_sentence(stdout, "not stored in the knowledge base: %s\n", o->pinned);
	if (plan->on)
		return;
	printf("to apply it:\n");
	if (o->entry)
		term_printf(stdout, "  sluice run --tune=apply -- %s\n", o->command);
	if (o->output)
		term_printf(stdout, "  sluice run --params %s.json -- %s\n", o->output, o->command);
	if (!o->entry && !o->output)
		printf("  sluice kb tunings %" PRId64 "\n", o->study);
}

static void print_unfinished(const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->tuning);

	if (!result->is_complete)
		printf("\nto continue:\n  sluice tune --resume\n");
}

void tune_show(const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->tuning);
	AUTO_BUF struct buf text = { 0 };

	append_verdict(o, &text);
	term_headline(stdout, buf_text(&text));
	if (result->best)
		print_parameters(o);
	print_dropped(o);
	if (result->partial)
		print_ablation(o, result->partial);
	if (result->proof.holds)
		print_importance(o);
	print_tried(o);
	print_conditions(o);
	print_failures(o);
	if (result->proof.holds)
		print_apply(o);
	print_unfinished(o);
}

static void json_proof(struct json *json, const struct tuning_result *result)
{
	const struct proof *proof = &result->proof;

	json_open(json, "proof", '{');
	json_bool(json, "holds", proof->holds);
	json_count(json, "before_runs", proof->pairs);
	json_count(json, "after_runs", proof->pairs);
	json_real(json, "before", proof->before);
	json_real(json, "after", proof->after);
	json_real(json, "gain", proof->gain);
	json_real(json, "gain_low", proof->low);
	json_real(json, "gain_high", proof->high);
	json_real(json, "unrecorded_before_s", result->unrecorded_before);
	json_real(json, "unrecorded_after_s", result->unrecorded_after);
	json_bool(json, "contradicted", result->is_contradicted);
	json_close(json);
}

static void json_best(struct json *json, const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->tuning);
	struct param_set set = { 0 };

	json_open(json, "best", '{');
	if (result->best) {
		space_set(&tuning_plan(o->tuning)->space, result->best->point, &set);
		json_real(json, "cost", result->best->cost);
		json_open(json, "parameters", '{');
		for (size_t i = 0; i < set.count; i++)
			json_text(json, set.params[i].tunable->name, set.params[i].value);
		json_close(json);
	}
	json_close(json);
	param_set_release(&set);
}

static void json_dropped(struct json *json, const struct tune_outcome *o)
{
	struct param_set dropped = { 0 };

	find_dropped(o, &dropped);
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
		json_real(json, "cost", row->cost);
		json_real(json, "factor", row->factor);
		json_real(json, "share", row->share);
		json_text(json, "refusal", row->refusal);
		json_close(json);
	}
	json_close(json);
}

static void json_importance(struct json *json, const struct tune_outcome *o)
{
	const struct space *space = &tuning_plan(o->tuning)->space;
	struct importance importance = { 0 };

	if (tuning_importance(o->tuning, &importance, NULL) < 0)
		return;
	json_open(json, "importance", '{');
	json_open(json, "parameters", '{');
	for (size_t i = 0; i < importance.count; i++)
		json_real(json, space->dimensions[i].tunable->name, importance.parts[i].share);
	json_close(json);
	json_real(json, "together", importance.together);
	json_real(json, "unexplained", importance.unexplained);
	json_close(json);
	importance_release(&importance);
}

static void json_counts(struct json *json, const struct tune_outcome *o)
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
	json_real(json, "noise", result->noise);
	json_real(json, "drift", result->drift);
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

void tune_show_json(const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->tuning);
	const struct tuning_plan *plan = tuning_plan(o->tuning);
	AUTO_BUF struct buf text = { 0 };
	struct json json;

	append_verdict(o, &text);
	json_start(&json, stdout, TUNE_SCHEMA);
	json_number(&json, "id", o->study);
	json_text(&json, "command", o->command);
	json_text(&json, "verdict", buf_text(&text));
	json_bool(&json, "complete", result->is_complete);
	json_text(&json, "objective", cost_name(plan->objective));
	json_text(&json, "search", plan->search);
	json_count(&json, "seed", plan->seed);
	json_real(&json, "default_cost", result->level);
	json_best(&json, o);
	json_dropped(&json, o);
	json_proof(&json, result);
	json_data(&json, result->compared);
	json_counts(&json, o);
	json_ablation(&json, result->partial);
	json_importance(&json, o);
	if (o->entry)
		json_number(&json, "entry", o->entry);
	else
		json_text(&json, "entry", NULL);
	json_end(&json);
}
