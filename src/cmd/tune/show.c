/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The result of a tuning: the verdict, the parameters, the contribution of each, what was tried,
 * and the commands that apply it.
 */
#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cmd/tune/tune.h"

static void print_conditions(const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->what.tuning);

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
	const struct tuning_result *result = tuning_result(o->what.tuning);
	struct param_set set = { 0 };
	struct table table;

	space_set(&tuning_plan(o->what.tuning)->space, result->best->point, &set);
	table_init(&table, titles);
	for (size_t i = 0; i < set.count; i++) {
		const struct param *p = &set.params[i];

		table_add(&table, "%s", p->tunable->name);
		table_add(&table, "%s%s%s", p->value, p->file ? " for " : "",
			  p->file ? p->file : "");
		table_add(&table, "%s", tunable_layer_name(p->tunable->layer));
		table_add(&table, "%s",
			  tunable_safety_name(tunable_value_safety(
				  p->tunable, p->value, &tuning_plan(o->what.tuning)->context)));
	}
	printf("\n");
	table_print(&table, stdout, 2);
	table_release(&table);
	param_set_release(&set);
}

static void print_dropped(const struct tune_outcome *o)
{
	AUTO_BUF struct buf line = { 0 };
	struct param_set dropped = { 0 };

	outcome_dropped(&o->what, &dropped);
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

	cost_text(tuning_plan(o->what.tuning)->objective, row->cost, &cost);
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
		if (!partial_is_shown(partial, i))
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
	const struct space *space = &tuning_plan(o->what.tuning)->space;
	struct importance importance = { 0 };
	struct err err = { 0 };
	struct table table;

	/* A single parameter explains all of the variance. */
	if (space->count < 2)
		return;
	if (tuning_importance(o->what.tuning, &importance, &err) < 0) {
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
	const struct tuning_result *result = tuning_result(o->what.tuning);
	const struct tuning_plan *plan = tuning_plan(o->what.tuning);
	size_t tried = tuning_candidates(o->what.tuning)->count;
	size_t runs = tuning_history(o->what.tuning)->next;
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
	if (!o->what.is_exact)
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
	const struct history *history = tuning_history(o->what.tuning);
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
	const struct tuning_plan *plan = tuning_plan(o->what.tuning);

	printf("\n");
	if (o->what.entry)
		term_sentence(stdout, "stored as entry %" PRId64 " of the knowledge base\n",
			      o->what.entry);
	else if (o->pinned)
		term_sentence(stdout, "not stored in the knowledge base: %s\n", o->pinned);
	if (plan->on)
		return;
	printf("to apply it:\n");
	if (o->what.entry)
		term_printf(stdout, "  sluice run --tune=apply -- %s\n", o->what.command);
	if (o->output)
		term_printf(stdout, "  sluice run --params %s.json -- %s\n", o->output,
			    o->what.command);
	if (!o->what.entry && !o->output)
		printf("  sluice kb tunings %" PRId64 "\n", o->study);
}

static void print_unfinished(const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->what.tuning);

	if (!result->is_complete)
		printf("\nto continue:\n  sluice tune --resume\n");
}

void tune_show(const struct tune_outcome *o)
{
	const struct tuning_result *result = tuning_result(o->what.tuning);
	AUTO_BUF struct buf text = { 0 };

	outcome_verdict(&o->what, &text);
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

void tune_show_json(const struct tune_outcome *o)
{
	struct json json;

	json_start(&json, stdout, TUNE_SCHEMA);
	outcome_json(&o->what, &json);
	json_end(&json);
}
