/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints accesses, settings and costs for the subcommands of `sluice model`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/format.h"
#include "cmd/model/model.h"
#include "params/set.h"

const char *model_show_seconds(char out[UNIT_TEXT], double seconds)
{
	if (!isinf(seconds))
		return format_seconds(out, seconds);
	snprintf(out, UNIT_TEXT, "unlimited");
	return out;
}

static const char *learner_name(const struct cost *cost)
{
	return cost->pipeline.learner ? cost->pipeline.learner->name : "constant";
}

static void add_real(struct table *table, const char *format, double value)
{
	char text[32];

	snprintf(text, sizeof(text), format, value);
	table_add(table, "%s", isfinite(value) ? text : "-");
}

static void print_costs(const struct hybrid *hybrid)
{
	static const char *const titles[] = { "operation", "",	  ">rows", ">cells",
					      "method",	   ">R2", ">RMSE", ">median error",
					      ">noise",	   NULL };
	struct table table;

	table_init(&table, titles);
	for (int i = 0; i < OPERATIONS; i++) {
		const struct cost *cost = &hybrid->costs.of[i];

		if (!cost->is_fitted)
			continue;
		table_add(&table, "%s", operations[i].name);
		table_add(&table, "%s", operations[i].title);
		table_add(&table, "%zu", cost->rows);
		table_add(&table, "%zu", cost->cell_count);
		table_add(&table, "%s", learner_name(cost));
		add_real(&table, "%.3f", cost->score.log_r2);
		add_real(&table, "%.3f", cost->score.log_rmse);
		add_real(&table, "%.1f%%", 100 * cost->score.median_error);
		add_real(&table, "%.1f%%", 100 * cost->noise);
	}
	table_print(&table, stdout, 0);
	table_release(&table);
}

/* True if a better candidate of the same method precedes it. */
static bool is_beaten(const struct cost *cost, size_t entry)
{
	for (size_t i = 0; i < entry; i++)
		if (strcmp(cost->entries[i].learner, cost->entries[entry].learner) == 0)
			return true;
	return false;
}

static void print_candidates(const struct cost *cost, enum operation operation, bool all)
{
	static const char *const titles[] = { "method",	     ">RMSE",	 ">R2",
					      "preparation", "settings", NULL };
	struct table table;

	term_printf(stdout, "\n%s (%s)\n", operations[operation].name, operations[operation].title);
	table_init(&table, titles);
	for (size_t i = 0; i < cost->entry_count; i++) {
		const struct cost_entry *entry = &cost->entries[i];

		if (!all && is_beaten(cost, i))
			continue;
		table_add(&table, "%s", entry->learner);
		add_real(&table, "%.4f", entry->rmse);
		add_real(&table, "%.3f", entry->r2);
		table_add(&table, "%s", *entry->recipe ? entry->recipe : "none");
		table_add(&table, "%s",
			  entry->failure     ? entry->failure
			  : *entry->settings ? entry->settings
					     : "defaults");
	}
	table_print(&table, stdout, 2);
	table_release(&table);
}

void model_show_costs(const struct hybrid *hybrid, bool all)
{
	print_costs(hybrid);
	term_sentence(
		stdout,
		"\n"
		"R2, RMSE (of logarithms) and median error are for held-out arguments; noise is "
		"the variation of repeated measurements\n");
	for (int i = 0; i < OPERATIONS; i++) {
		const struct cost *cost = &hybrid->costs.of[i];

		if (cost->left_out)
			term_sentence(stdout,
				      "%s: %zu cells were ignored because their mean time is not "
				      "positive\n",
				      operations[i].name, cost->left_out);
	}
	for (int i = 0; all && i < OPERATIONS; i++)
		if (hybrid->costs.of[i].entry_count)
			print_candidates(&hybrid->costs.of[i], (enum operation)i, true);
}
