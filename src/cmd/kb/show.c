/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice kb show: one entry of the knowledge base, and the runs that it is judged by.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/term.h"
#include "cli/format.h"
#include "cmd/kb/kb.h"
#include "store/knowledge.h"
#include "tune/loop/entry.h"

static void print_speedup(const struct knowledge *k)
{
	AUTO_BUF struct buf costs = { 0 };

	entry_append_costs(k, &costs);
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
	term_sentence(stdout, "data         %s\n", entry_comparison(k));
	if (*k->conditions)
		term_sentence(stdout, "conditions   %s\n", k->conditions);
	term_sentence(stdout, "found        %s%s%s\n", format_local_time(when, k->found_ns),
		      *k->study ? ", by tuning " : "", k->study);
	entry_append_parameters(k, &line);
	term_sentence(stdout, "parameters   %s\n", buf_text(&line));
	return 0;
}

/* "runs         8 without parameters: 1.32 s to 1.60 s; 3 with: 602 ms to 640 ms" */
static int print_runs(void *arg, const struct knowledge *k)
{
	const struct entry_usage *usage = arg;
	AUTO_BUF struct buf text = { 0 };

	for (int with = 0; with < 2; with++) {
		const struct entry_range *range = with ? &usage->with : &usage->without;

		if (!range->runs)
			continue;
		buf_printf(&text, "%s%zu %s parameters: ", text.len ? "; " : "", range->runs,
			   with ? "with" : "without");
		entry_append_cost(k, range->low, &text);
		buf_puts(&text, " to ");
		entry_append_cost(k, range->high, &text);
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
	struct entry_usage usage;
	int r = entry_usage_read(&usage, store, id, err);

	if (r >= 0)
		r = knowledge_get(store, id, print_entry, NULL, err);
	if (r >= 0)
		r = knowledge_get(store, id, print_runs, &usage, err);
	return r;
}
