/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/background.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/date.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/knowledge.h"
#include "trace/format.h"
#include "trace/runs/runs.h"

#define RUNS_OPENED 40 /* reading a head takes about a millisecond */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The program that a command names; names of traces contain it, too. */
static char *program_of(const char *command)
{
	AUTO_FREE char *word = xstrndup(command, strcspn(command, " "));

	return xstrdup(base_name(word));
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(text_or_empty(a), text_or_empty(b));
}

static bool is_earlier_run(const struct trace_head *past, const struct trace_head *head)
{
	return !same_text(past->run.uuid, head->run.uuid) &&
	       same_text(past->run.command, head->run.command) &&
	       same_text(past->run.directory, head->run.directory) &&
	       past->run.started_ns < head->run.started_ns && past->end.complete &&
	       past->end.exit_status == 0 && past->end.duration_ns > 0;
}

static void add_past(struct background *b, const char *path, const struct trace_head *head)
{
	struct err err = { 0 };
	struct trace trace;

	if (trace_open(&trace, path, NULL, &err) < 0)
		return;
	if (is_earlier_run(&trace.head, head)) {
		b->past = xgrow(b->past, &b->past_cap, b->past_count + 1, sizeof(*b->past));
		b->past[b->past_count++] =
			(struct past_run){ trace.head.run.started_ns, trace.head.end.duration_ns };
	}
	trace_close(&trace);
}

static void read_past(struct background *b, const struct config *config,
		      const struct trace_head *head)
{
	AUTO_FREE char *part = xprintf("-%s-", b->program);
	struct runs runs = { 0 };
	size_t opened = 0;

	if (runs_read(&runs, config_text(config, SETTING_TRACE_DIR), NULL) < 0)
		return;
	for (size_t i = 0; i < runs.count && opened < RUNS_OPENED; i++) {
		if (!strstr(runs.list[i].name, part))
			continue;
		add_past(b, runs.list[i].path, head);
		opened++;
	}
	runs_release(&runs);
}

static int add_known(void *arg, const struct knowledge *k)
{
	struct background *b = arg;
	char date[DATE_TEXT];

	if (!*k->parameters || k->demoted_ns || k->gain <= 1 ||
	    strcmp(base_name(k->key.program), b->program) != 0)
		return 0;
	b->known = xgrow(b->known, &b->known_cap, b->known_count + 1, sizeof(*b->known));
	b->known[b->known_count++] = (struct known_gain){
		.parameters = xstrdup(k->parameters),
		.gain = k->gain,
		.low = k->gain_low,
		.high = k->gain_high,
		.from = xprintf("tuned on %s", date_text(date, (double)k->found_ns / 1e9)),
	};
	return 0;
}

/* The program of a rank, because a parallel run names its launcher. */
static char *known_program(const struct trace_head *head, const char *fallback)
{
	for (size_t i = 0; i < head->process_count; i++) {
		if (head->processes[i].rank >= 0 && head->processes[i].program)
			return xstrdup(base_name(head->processes[i].program));
	}
	return xstrdup(fallback);
}

static void read_known(struct background *b, const struct config *config,
		       const struct trace_head *head)
{
	AUTO_FREE char *launched = b->program;
	struct err err = { 0 };
	struct store *store = NULL;

	b->program = known_program(head, launched);
	if (store_open_existing(&store, config_text(config, SETTING_STORE_PATH), &err) < 0)
		return;
	knowledge_list(store, add_known, b, &err);
	store_close(store);
}

static bool is_local(const struct trace_head *head)
{
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1) < 0 || !head->process_count)
		return false;
	for (size_t i = 0; i < head->process_count; i++) {
		if (!same_text(head->processes[i].host, host))
			return false;
	}
	return true;
}

void background_init(struct background *background, const struct config *config,
		     const struct trace_head *head)
{
	*background =
		(struct background){ .program = program_of(text_or_empty(head->run.command)) };
	read_past(background, config, head);
	read_known(background, config, head);
	background->is_local = is_local(head);
}

void background_release(struct background *background)
{
	for (size_t i = 0; i < background->known_count; i++) {
		free((char *)background->known[i].parameters);
		free((char *)background->known[i].from);
	}
	free(background->known);
	free(background->past);
	free(background->program);
	*background = (struct background){ 0 };
}
