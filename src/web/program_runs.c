/* SPDX-License-Identifier: BSD-3-Clause */
#include "web/program_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/compare/file_pattern.h"
#include "web/run_index.h"

#define UNKNOWN_PROGRAM "(unknown)"

/* A copy in which bytes that are not UTF-8 are U+FFFD, as JSON shows them. */
static char *copy_shown(const char *text)
{
	struct buf copy = { 0 };
	uint32_t code;

	for (size_t n; *text; text += n ? n : 1) {
		n = escape_decode(text, &code);
		if (n)
			buf_add(&copy, text, n);
		else
			buf_puts(&copy, "\xef\xbf\xbd");
	}
	return buf_take(&copy);
}

/* Names of files have a slash, or a period before a letter. Numbers and options have neither. */
static bool is_file_name(const char *word)
{
	const char *dot = strrchr(word, '.');

	return strchr(word, '/') ||
	       (dot && dot > word && strspn(dot + 1, "0123456789") < strlen(dot + 1));
}

char *program_runs_pattern(const char *arguments)
{
	const struct file_context no_context = { .directory = "" };
	struct buf pattern = { 0 };

	while (*arguments) {
		size_t n = strcspn(arguments, " "), blanks;
		AUTO_FREE char *word = xstrndup(arguments, n);
		AUTO_FREE char *changed =
			is_file_name(word) ? file_pattern(word, &no_context) : xstrdup(word);

		buf_puts(&pattern, changed);
		arguments += n;
		blanks = strspn(arguments, " ");
		buf_add(&pattern, arguments, blanks);
		arguments += blanks;
	}
	return buf_take(&pattern);
}

static void set_group(struct program_run *run)
{
	AUTO_FREE char *key = xprintf("%s\n%" PRIu64 "\n%s\n%s", run->arguments, run->ranks,
				      run->filesystem, run->platform);

	snprintf(run->group, sizeof(run->group), "%012" PRIx64, XXH64(key, strlen(key), 0) >> 16);
}

static void add_row(void *arg, const struct run_row *row)
{
	struct program_runs *runs = arg;
	struct program_run *run;

	if (row->error)
		return;
	runs->list = xgrow(runs->list, &runs->cap, runs->count + 1, sizeof(*runs->list));
	run = &runs->list[runs->count++];
	*run = (struct program_run){
		.program = copy_shown(*row->program ? row->program : UNKNOWN_PROGRAM),
		/* Without a description of the program, its command has to do. */
		.arguments = program_runs_pattern(*row->platform ? row->arguments : row->command),
		.command = xstrdup(row->command),
		.fingerprint = xstrdup(row->fingerprint),
		.filesystem = xstrdup(row->filesystem),
		.platform = xstrdup(row->platform),
		.applied = xstrdup(row->applied),
		.tags = xstrdup(row->tags),
		.state = row->state,
		.started_ns = row->started_ns,
		.duration_ns = row->duration_ns,
		.exit_status = row->exit_status,
		.ranks = row->ranks,
		.is_comparable = strcmp(row->state, "complete") == 0 && row->exit_status == 0,
		.has_figures = row->figures_state == RUN_FIGURES_READ,
		.is_unread = row->figures_state == RUN_FIGURES_UNREAD,
		.figures = row->figures,
	};
	memcpy(run->id, row->id, sizeof(run->id));
	set_group(run);
}

static int compare_runs(const void *a, const void *b)
{
	const struct program_run *x = a, *y = b;
	int order = strcmp(x->program, y->program);

	if (order)
		return order;
	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void mark_groups(struct program_runs *runs)
{
	struct map seen = { 0 };

	for (size_t i = runs->count; i-- > 0;) {
		struct program_run *run = &runs->list[i];
		AUTO_FREE char *text = xprintf("%s/%s", run->group, run->program);
		uint64_t key = XXH64(text, strlen(text), 0);

		key += !key;
		run->ends_group = !map_get(&seen, key);
		map_put(&seen, key, run);
	}
	map_release(&seen);
}

int program_runs_read(struct program_runs *runs, struct run_index *index, struct err *err)
{
	int r;

	*runs = (struct program_runs){ 0 };
	r = run_index_visit(index, add_row, runs, err);
	if (runs->count)
		qsort(runs->list, runs->count, sizeof(*runs->list), compare_runs);
	mark_groups(runs);
	return r;
}

void program_runs_release(struct program_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct program_run *run = &runs->list[i];

		free(run->program);
		free(run->arguments);
		free(run->command);
		free(run->fingerprint);
		free(run->filesystem);
		free(run->platform);
		free(run->applied);
		free(run->tags);
	}
	free(runs->list);
	*runs = (struct program_runs){ 0 };
}

size_t program_runs_same(const struct program_runs *runs, size_t first)
{
	size_t end = first;

	while (end < runs->count && strcmp(runs->list[end].program, runs->list[first].program) == 0)
		end++;
	return end - first;
}

size_t program_runs_find(const struct program_runs *runs, const char *program)
{
	for (size_t i = 0; i < runs->count; i++)
		if (strcmp(runs->list[i].program, program) == 0)
			return i;
	return SIZE_MAX;
}

bool program_run_is_tested(const struct program_run *run, const char *group)
{
	return run->is_comparable && run->has_figures && strcmp(run->group, group) == 0;
}

double program_run_value(const struct program_run *run, enum trend_measure measure)
{
	const struct run_figures *figures = &run->figures;
	double bytes = (double)figures->bytes_read + (double)figures->bytes_written;

	if (measure == TREND_DURATION)
		return (double)run->duration_ns;
	if (!run->has_figures)
		return NAN;
	switch (measure) {
	case TREND_IO_TIME:
		return figures->io_ns;
	case TREND_THROUGHPUT:
		return figures->io_ns > 0 ? bytes / figures->io_ns * NS_PER_S : (double)NAN;
	case TREND_CALLS:
		return (double)figures->calls;
	case TREND_READ:
		return (double)figures->bytes_read;
	case TREND_WRITTEN:
		return (double)figures->bytes_written;
	default:
		return NAN;
	}
}
