/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice kb show: one entry of the knowledge base, and the runs that it is judged by.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/term.h"
#include "cli/format.h"
#include "cmd/kb/kb.h"
#include "store/entry_runs.h"
#include "store/knowledge.h"
#include "tune/loop/cost.h"

/* "1.42 s"; without a unit if this version does not know the objective. */
static void append_cost(const struct knowledge *k, double cost, struct buf *out)
{
	int kind = option_choice(COST_WORDS, k->objective, strlen(k->objective));

	if (isinf(cost))
		buf_puts(out, "failed");
	else if (kind < 0)
		buf_printf(out, "%.4g", cost);
	else
		cost_text((enum cost_kind)kind, cost, out);
}

/* "I/O 1.42 s -> 614 ms" */
static void append_costs(const struct knowledge *k, struct buf *out)
{
	int kind = option_choice(COST_WORDS, k->objective, strlen(k->objective));

	buf_printf(out, "%s ", kind < 0 ? k->objective : cost_label((enum cost_kind)kind));
	append_cost(k, k->before, out);
	buf_puts(out, " -> ");
	append_cost(k, k->after, out);
}

static void print_speedup(const struct knowledge *k)
{
	AUTO_BUF struct buf costs = { 0 };

	append_costs(k, &costs);
	if (*k->parameters)
		term_sentence(stdout, "speedup      %.2f (95 %% interval %.2f to %.2f): %s\n",
			      k->gain, k->gain_low, k->gain_high, buf_text(&costs));
}

static void print_state(const struct knowledge *k)
{
	char when[FORMAT_TIME];

	term_sentence(stdout, "entry        %" PRId64 "%s\n", k->id, k->pinned ? ", pinned" : "");
	if (k->demoted_ns)
		term_sentence(stdout,
			      "demoted      %s: %s; 'sluice kb pin %" PRId64 "' enables it\n",
			      format_local_time(when, k->demoted_ns), k->demoted_why, k->id);
}

/* Called by knowledge_get(). */
static int print_entry(void *arg, const struct knowledge *k)
{
	AUTO_BUF struct buf line = { 0 };
	char when[FORMAT_TIME];

	(void)arg;
	print_state(k);
	term_sentence(stdout, "program      %s (%s)\n", k->key.program,
		      *k->key.fingerprint ? k->key.fingerprint : "unknown version");
	term_sentence(stdout, "arguments    %s\n", *k->key.arguments ? k->key.arguments : "-");
	term_sentence(stdout, "ranks        %u\n", k->key.ranks);
	term_sentence(stdout, "platform     %s, %s\n", k->key.platform, k->key.filesystem);
	print_speedup(k);
	term_sentence(stdout, "data         %s\n", kb_comparison(k));
	if (*k->conditions)
		term_sentence(stdout, "conditions   %s\n", k->conditions);
	term_sentence(stdout, "found        %s%s%s\n", format_local_time(when, k->found_ns),
		      *k->study ? ", by tuning " : "", k->study);
	kb_append_parameters(k, &line);
	term_sentence(stdout, "parameters   %s\n", buf_text(&line));
	return 0;
}

struct range {
	size_t runs;
	double low, high;
};

static struct range find_range(const struct entry_run *runs, size_t count, bool is_applied)
{
	struct range range = { .low = INFINITY };

	for (size_t i = 0; i < count; i++) {
		if (runs[i].is_applied != is_applied)
			continue;
		range.runs++;
		range.low = fmin(range.low, runs[i].cost);
		range.high = fmax(range.high, runs[i].cost);
	}
	return range;
}

struct runs {
	struct entry_run *list;
	size_t count;
};

/* "runs         8 without parameters: 1.32 s to 1.60 s; 3 with: 602 ms to 640 ms" */
static int print_runs(void *arg, const struct knowledge *k)
{
	const struct runs *runs = arg;
	AUTO_BUF struct buf text = { 0 };

	for (int with = 0; with < 2; with++) {
		struct range range = find_range(runs->list, runs->count, with);

		if (!range.runs)
			continue;
		buf_printf(&text, "%s%zu %s parameters: ", text.len ? "; " : "", range.runs,
			   with ? "with" : "without");
		append_cost(k, range.low, &text);
		buf_puts(&text, " to ");
		append_cost(k, range.high, &text);
	}
	if (text.len)
		term_sentence(stdout, "runs         %s\n", buf_text(&text));
	if (*k->parameters)
		printf("to use it for another run:\n"
		       "  sluice kb export %" PRId64 " --format json > params.json\n"
		       "  sluice run --params params.json -- COMMAND\n",
		       k->id);
	return 0;
}

int kb_print_entry(struct store *store, int64_t id, struct err *err)
{
	struct runs runs = { 0 };
	int r = entry_runs_read(store, id, &runs.list, &runs.count, err);

	if (r >= 0)
		r = knowledge_get(store, id, print_entry, NULL, err);
	if (r >= 0)
		r = knowledge_get(store, id, print_runs, &runs, err);
	free(runs.list);
	return r;
}
