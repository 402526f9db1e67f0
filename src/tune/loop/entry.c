/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/entry.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/option.h"
#include "params/set.h"
#include "store/entry_runs.h"
#include "store/knowledge.h"
#include "tune/loop/cost.h"

int entry_parse_parameters(const struct knowledge *k, struct param_set *set, struct err *err)
{
	AUTO_FREE char *name = xprintf("entry %" PRId64, k->id);

	*set = (struct param_set){ 0 };
	if (!*k->parameters)
		return 0;
	return param_set_read_text(set, name, k->parameters, strlen(k->parameters), NULL, NULL,
				   err);
}

void entry_append_parameters(const struct knowledge *k, struct buf *line)
{
	struct param_set set;

	if (!*k->parameters) {
		buf_puts(line, "- (nothing better than the default was found)");
		return;
	}
	if (entry_parse_parameters(k, &set, NULL) < 0)
		buf_puts(line, "(invalid)");
	else
		param_set_line(&set, line);
	param_set_release(&set);
}

static void json_parameters(struct json *json, const struct knowledge *k)
{
	struct param_set set;

	if (entry_parse_parameters(k, &set, NULL) < 0) {
		json_text(json, "parameters", NULL);
		return;
	}
	json_open(json, "parameters", '[');
	for (size_t i = 0; i < set.count; i++) {
		const struct param *p = &set.params[i];

		json_open(json, NULL, '{');
		json_text(json, "name", p->tunable->name);
		json_text(json, "value", p->value);
		if (p->file)
			json_text(json, "file", p->file);
		if (p->object)
			json_text(json, "object", p->object);
		json_close(json);
	}
	json_close(json);
	param_set_release(&set);
}

void entry_json(const struct knowledge *k, struct json *json)
{
	json_number(json, "id", k->id);
	json_text(json, "program", k->key.program);
	json_text(json, "fingerprint", k->key.fingerprint);
	json_text(json, "arguments", k->key.arguments);
	json_text(json, "platform", k->key.platform);
	json_text(json, "filesystem", k->key.filesystem);
	json_count(json, "ranks", k->key.ranks);
	json_count(json, "size_class", k->key.size_class);
	json_text(json, "objective", k->objective);
	json_double(json, "before", k->before);
	json_double(json, "after", k->after);
	json_double(json, "gain", k->gain);
	json_double(json, "gain_low", k->gain_low);
	json_double(json, "gain_high", k->gain_high);
	json_number(json, "found_ns", k->found_ns);
	json_text(json, "study", k->study);
	json_bool(json, "pinned", k->pinned);
	json_text(json, "compared", *k->compared ? k->compared : NULL);
	json_number(json, "demoted_ns", k->demoted_ns);
	json_text(json, "demoted_why", k->demoted_why);
	json_text(json, "conditions", *k->conditions ? k->conditions : NULL);
	json_parameters(json, k);
}

const char *entry_comparison(const struct knowledge *k)
{
	return !*k->parameters ? "-" : *k->compared ? k->compared : "unknown";
}

void entry_append_cost(const struct knowledge *k, double cost, struct buf *out)
{
	int kind = option_choice(COST_WORDS, k->objective, strlen(k->objective));

	if (isinf(cost))
		buf_puts(out, "failed");
	else if (kind < 0)
		buf_printf(out, "%.4g", cost);
	else
		cost_text((enum cost_kind)kind, cost, out);
}

void entry_append_costs(const struct knowledge *k, struct buf *out)
{
	int kind = option_choice(COST_WORDS, k->objective, strlen(k->objective));

	buf_printf(out, "%s ", kind < 0 ? k->objective : cost_label((enum cost_kind)kind));
	entry_append_cost(k, k->before, out);
	buf_puts(out, " -> ");
	entry_append_cost(k, k->after, out);
}

static struct entry_range find_range(const struct entry_run *runs, size_t count, bool is_applied)
{
	struct entry_range range = { .low = INFINITY };

	for (size_t i = 0; i < count; i++) {
		if (runs[i].is_applied != is_applied)
			continue;
		range.runs++;
		range.low = fmin(range.low, runs[i].cost);
		range.high = fmax(range.high, runs[i].cost);
	}
	return range;
}

int entry_usage_read(struct entry_usage *usage, struct store *store, int64_t id, struct err *err)
{
	struct entry_run *runs = NULL;
	size_t count = 0;
	int r = entry_runs_read(store, id, &runs, &count, err);

	if (r >= 0) {
		usage->with = find_range(runs, count, true);
		usage->without = find_range(runs, count, false);
	}
	free(runs);
	return r;
}
