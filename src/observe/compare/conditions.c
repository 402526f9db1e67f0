/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/conditions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "observe/tally/overhead_notes.h"
#include "observe/tally/parameters.h"
#include "trace/format.h"

/* Takes the name and the value. */
static void add_owned(struct conditions *c, const char *kind, char *name, char *value,
		      bool needs_both)
{
	c->list = xgrow(c->list, &c->cap, c->count + 1, sizeof(*c->list));
	c->list[c->count++] = (struct condition){ kind, name, value, needs_both };
}

/* A value that is NULL or "" is not known. */
static void add_fact(struct conditions *c, const char *kind, const char *name, const char *value)
{
	if (value && *value)
		add_owned(c, kind, xstrdup(name), xstrdup(value), true);
}

static void add_count(struct conditions *c, const char *kind, const char *name, size_t count)
{
	add_owned(c, kind, xstrdup(name), xprintf("%zu", count), true);
}

static const struct note *find_note(const struct trace_head *head, const char *kind,
				    const char *name)
{
	for (size_t i = 0; i < head->note_count; i++)
		if (text_equal(head->notes[i].kind, kind) && text_equal(head->notes[i].name, name))
			return &head->notes[i];
	return NULL;
}

const char *conditions_fact(const struct trace_head *head, const char *name)
{
	const struct note *note = find_note(head, NOTE_PROGRAM, name);

	return note ? note->value : NULL;
}

/* The executable of the first rank, else of the first process. */
static const char *find_executable(const struct trace_head *head)
{
	for (size_t i = 0; i < head->process_count; i++)
		if (head->processes[i].rank >= 0)
			return head->processes[i].program;
	return head->process_count ? head->processes[0].program : NULL;
}

static void add_program(struct conditions *c, const struct trace_head *head)
{
	add_fact(c, "program", "executable", find_executable(head));
	add_fact(c, "program", "binary", conditions_fact(head, PROGRAM_FINGERPRINT));
	/* A described program without arguments has none; otherwise they are not known. */
	if (c->is_described)
		add_owned(c, "program", xstrdup("arguments"),
			  xstrdup(text_or_empty(conditions_fact(head, PROGRAM_ARGUMENTS))), true);
	add_fact(c, "program", "command", head->run.command);
}

/* The hosts of all processes, counted. */
static size_t count_hosts(const struct trace_head *head)
{
	AUTO_FREE const char **hosts = xcalloc(head->process_count + 1, sizeof(*hosts));
	size_t count = 0;

	for (size_t i = 0; i < head->process_count; i++) {
		const char *host = text_or_empty(head->processes[i].host);
		size_t k = 0;

		while (k < count && strcmp(hosts[k], host) != 0)
			k++;
		if (k == count)
			hosts[count++] = host;
	}
	return count;
}

static void add_scale(struct conditions *c, const struct trace_head *head)
{
	size_t ranks = 0;

	for (size_t i = 0; i < head->process_count; i++)
		if (head->processes[i].ranks > 0 && (size_t)head->processes[i].ranks > ranks)
			ranks = (size_t)head->processes[i].ranks;
	add_count(c, "scale", "ranks", ranks);
	add_count(c, "scale", "processes", head->process_count);
	add_count(c, "scale", "nodes", count_hosts(head));
}

/* What Sluice did: parameters that were given, and acts of plug-ins. */
static void add_applied(struct conditions *c, const struct trace_head *head)
{
	for (size_t i = 0; i < head->note_count; i++) {
		const struct note *note = &head->notes[i];
		bool is_given = text_equal(note->source, PARAMETERS_SOURCE);

		if (!text_equal(note->kind, NOTE_APPLIED) || note->process >= 0)
			continue;
		add_owned(c, "parameters",
			  is_given ? xstrdup(text_or_empty(note->name))
				   : xprintf("%s: %s", text_or_empty(note->source),
					     text_or_empty(note->name)),
			  xstrdup(text_or_empty(note->value)), false);
	}
}

static void add_variables(struct conditions *c, const struct trace_head *head)
{
	for (size_t i = 0; i < head->note_count; i++) {
		const struct note *note = &head->notes[i];

		if (text_equal(note->kind, NOTE_PROGRAM) &&
		    text_starts_with(text_or_empty(note->name), PROGRAM_VARIABLE))
			add_owned(c, "environment", xstrdup(note->name + strlen(PROGRAM_VARIABLE)),
				  xstrdup(text_or_empty(note->value)), false);
	}
}

static void add_machine(struct conditions *c, const struct trace_head *head)
{
	const struct note *processors = find_note(head, NOTE_NODE, NODE_PROCESSORS);

	add_fact(c, "machine", "host", head->run.host);
	add_fact(c, "machine", "platform", conditions_fact(head, PROGRAM_PLATFORM));
	add_fact(c, "machine", "processors", processors ? processors->value : NULL);
	add_fact(c, "machine", "kernel", conditions_fact(head, PROGRAM_KERNEL));
	add_fact(c, "file system", "type", conditions_fact(head, PROGRAM_FILESYSTEM));
	add_fact(c, "file system", "directory", head->run.directory);
	add_fact(c, "sluice", "version", head->run.version);
}

void conditions_init(struct conditions *c, const struct trace_head *head)
{
	*c = (struct conditions){ .is_described = conditions_fact(head, PROGRAM_NAME) };
	add_program(c, head);
	add_scale(c, head);
	add_applied(c, head);
	add_variables(c, head);
	add_machine(c, head);
}

void conditions_release(struct conditions *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->list[i].name);
		free(c->list[i].value);
	}
	free(c->list);
	*c = (struct conditions){ 0 };
}

static const struct condition *find_condition(const struct conditions *c,
					      const struct condition *like)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->list[i].kind, like->kind) == 0 &&
		    strcmp(c->list[i].name, like->name) == 0)
			return &c->list[i];
	return NULL;
}

/* Variables of a run that is not described are not known. */
static bool may_lack(const struct conditions *c, const struct condition *condition)
{
	return !condition->needs_both &&
	       (c->is_described || strcmp(condition->kind, "environment") != 0);
}

void conditions_compare(const struct conditions *before, const struct conditions *after,
			conditions_visit visit, void *arg)
{
	for (size_t i = 0; i < before->count; i++) {
		const struct condition *old = &before->list[i], *new = find_condition(after, old);

		if (new ? strcmp(old->value, new->value) != 0 : may_lack(after, old))
			visit(arg, old, old->value, new ? new->value : NULL);
	}
	for (size_t i = 0; i < after->count; i++) {
		const struct condition *new = &after->list[i];

		if (!find_condition(before, new) && may_lack(before, new))
			visit(arg, new, NULL, new->value);
	}
}
