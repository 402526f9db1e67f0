/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice tune --dry-run: prints the search space, the number of runs, and an estimate of the time.
 */
#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/format.h"
#include "cmd/tune/tune.h"

static void add_dimension(struct table *table, const struct space_dimension *d)
{
	AUTO_BUF struct buf values = { 0 };

	for (size_t i = 0; i < d->count; i++)
		buf_printf(&values, "%s%s", i ? " " : "", d->values[i] ? d->values[i] : "-");
	table_add(table, "%s", d->tunable->name);
	table_add(table, "%s", tunable_layer_name(d->tunable->layer));
	table_add(table, "%s", tunable_safety_name(d->tunable->safety));
	table_add(table, "%s", buf_text(&values));
}

static void print_json(const struct tuning_plan *plan, double run_s, uint64_t simplify, double runs)
{
	AUTO_FREE char *command = tuning_plan_command(plan);
	AUTO_BUF struct buf space = { 0 };
	struct json json;

	space_write(&plan->space, &space);
	json_start(&json, stdout, TUNE_SCHEMA);
	json_text(&json, "command", command);
	json_text(&json, "objective", cost_name(plan->objective));
	json_text(&json, "search", plan->search);
	json_count(&json, "dimensions", plan->space.count);
	json_count(&json, "points", space_points(&plan->space));
	json_text(&json, "space", buf_text(&space));
	json_count(&json, "runs", plan->runs);
	json_count(&json, "simplify_most", simplify);
	json_double(&json, "runs_most", runs);
	json_double(&json, "seconds_most", runs * run_s);
	json_end(&json);
}

void tune_show_dry_run(const struct tuning_plan *plan, double run_s, bool json)
{
	static const char *const titles[] = { "parameter", "layer", "safety", "values (-: unset)",
					      NULL };
	unsigned pairs = plan->on ? 1 : plan->pairs; /* a simulation needs no repetition */
	/* The ablation takes at most half as many runs as the search. */
	uint64_t simplify = tuning_simplify_most(plan, plan->on);
	double runs = (double)plan->runs + (double)simplify + 2.0 * pairs +
		      (plan->partial ? (double)plan->runs / 2 : 0);
	uint64_t points = space_points(&plan->space);
	char one[UNIT_TEXT], all[UNIT_TEXT];
	struct table table;

	if (json) {
		print_json(plan, run_s, simplify, runs);
		return;
	}
	term_sentence(stdout, "%" PRIu64 " points%s, %s search\n\n", points,
		      plan->space_text ? ""
				       : " at most (the space is narrowed after the first run)",
		      plan->search);
	table_init(&table, titles);
	for (size_t i = 0; i < plan->space.count; i++)
		add_dimension(&table, &plan->space.dimensions[i]);
	table_print(&table, stdout, 2);
	table_release(&table);
	term_sentence(stdout,
		      "\nat most %" PRIu64 " runs for the search, %" PRIu64
		      " to drop parameters without effect, %u pair%s to confirm the winner%s\n",
		      plan->runs, simplify, pairs, pairs == 1 ? "" : "s",
		      plan->partial ? ", and half as many as for the search for the ablation" : "");
	if (plan->on)
		term_sentence(stdout, "simulated runs take no machine time\n");
	else if (isnan(run_s))
		term_sentence(stdout, "the duration of a run is unknown until the first one\n");
	else
		term_sentence(stdout, "an earlier run took %s: at most about %s in total\n",
			      format_seconds(one, run_s), format_seconds(all, runs * run_s));
}
