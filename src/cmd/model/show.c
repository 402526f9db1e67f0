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

static const char *plural_suffix(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void model_show_access(const struct access *access, char out[256])
{
	char each[UNIT_TEXT], all[UNIT_TEXT], block[UNIT_TEXT], pieces[64] = "";

	if (access->pattern == ACCESS_STRIDED)
		snprintf(pieces, sizeof(pieces), ", in interleaved blocks of %s",
			 unit_bytes(block, (double)access->block_bytes));
	snprintf(out, 256, "%" PRIu64 " rank%s on %" PRIu64 " node%s %s%s %s each%s (%s in total)",
		 access->ranks, plural_suffix(access->ranks), access->nodes,
		 plural_suffix(access->nodes), access->is_read ? "read" : "write",
		 access->ranks == 1 ? "s" : "", unit_bytes(each, (double)access->rank_bytes),
		 pieces, unit_bytes(all, (double)access->rank_bytes * (double)access->ranks));
}

char *model_show_settings(const struct settings *chosen, const struct machine *machine,
			  const struct access *access)
{
	struct param_set set = { 0 };
	struct buf line = { 0 };
	struct err err = { 0 };

	if (settings_to_params(chosen, machine, access, &set, &err) < 0)
		buf_puts(&line, err.text);
	else if (!set.count)
		buf_puts(&line, "the default");
	else
		param_set_line(&set, &line);
	param_set_release(&set);
	return buf_take(&line);
}

void model_json_access(struct json *json, const struct access *access)
{
	json_open(json, "access", '{');
	json_text(json, "direction", access->is_read ? "read" : "write");
	json_text(json, "pattern", access->pattern == ACCESS_STRIDED ? "strided" : "contiguous");
	json_count(json, "ranks", access->ranks);
	json_count(json, "nodes", access->nodes);
	json_count(json, "rank_bytes", access->rank_bytes);
	if (access->pattern == ACCESS_STRIDED) {
		json_count(json, "block_bytes", access->block_bytes);
		json_count(json, "stride_bytes", access->stride_bytes);
	}
	json_close(json);
}

void model_json_settings(struct json *json, const struct settings *chosen,
			 const struct machine *machine, const struct access *access)
{
	struct param_set set = { 0 };

	json_open(json, "settings", '{');
	if (settings_to_params(chosen, machine, access, &set, NULL) >= 0)
		for (size_t i = 0; i < set.count; i++)
			json_text(json, set.params[i].tunable->name, set.params[i].value);
	param_set_release(&set);
	json_close(json);
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
