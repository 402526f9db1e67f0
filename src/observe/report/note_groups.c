/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-17.
 */
#include "observe/report/note_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

/* A text that was seen before, with an index or count. */
struct seen {
	char *key;
	size_t number;
	UT_hash_handle hh;
};

struct maker {
	const struct ranks *ranks;
	struct note_group *list;
	size_t count, cap;
	struct spread *others; /* for each group: over processes that belong to no rank */
	struct spread *nodes;  /* and over nodes */
	size_t other_cap, node_cap;
	struct seen *groups; /* number: index in list */
	struct seen *given;  /* number: how often a process reported it */
};

static struct seen *seen_find(struct seen **table, const char *key, size_t number, bool *is_new)
{
	struct seen *seen;

	HASH_FIND_STR(*table, key, seen);
	*is_new = !seen;
	if (seen)
		return seen;
	seen = xcalloc(1, sizeof(*seen));
	seen->key = xstrdup(key);
	seen->number = number;
	HASH_ADD_KEYPTR(hh, *table, seen->key, strlen(seen->key), seen);
	return seen;
}

static void seen_release(struct seen *table)
{
	struct seen *seen, *next;

	HASH_ITER(hh, table, seen, next)
	{
		HASH_DEL(table, seen);
		free(seen->key);
		free(seen);
	}
}

static bool parse_number(const struct note *note, double *number)
{
	const char *text = text_or_empty(note->value);
	char *end;

	*number = strtod(text, &end);
	return end != text && !*end;
}

/* Returns how often the process has reported this before. */
static size_t count_repetition(struct maker *m, const struct note *note)
{
	AUTO_FREE char *key =
		xprintf("%d\x1f%s\x1f%s\x1f%s", (int)note->process, text_or_empty(note->host),
			text_or_empty(note->source), text_or_empty(note->name));
	bool is_new;

	return seen_find(&m->given, key, 0, &is_new)->number++;
}

static size_t note_group_get(struct maker *m, const struct note *note, bool is_number)
{
	AUTO_BUF struct buf key = { 0 };
	bool is_new;
	size_t i;

	buf_printf(&key, "%s\x1f%s\x1f", text_or_empty(note->source), text_or_empty(note->name));
	if (is_number)
		buf_printf(&key, "%zu", count_repetition(m, note));
	else
		buf_printf(&key, "=%s", text_or_empty(note->value));
	i = seen_find(&m->groups, buf_text(&key), m->count, &is_new)->number;
	if (!is_new)
		return i;
	m->list = xgrow(m->list, &m->cap, m->count + 1, sizeof(*m->list));
	m->others = xgrow(m->others, &m->other_cap, m->count + 1, sizeof(*m->others));
	m->nodes = xgrow(m->nodes, &m->node_cap, m->count + 1, sizeof(*m->nodes));
	m->list[i] = (struct note_group){ .first = note, .is_number = is_number };
	m->others[i] = m->nodes[i] = (struct spread){ 0 };
	m->count++;
	return i;
}

static void add_note(struct maker *m, const struct note *note)
{
	double number;
	bool is_number = parse_number(note, &number);
	size_t i = note_group_get(m, note, is_number);
	int32_t rank = note->process < 0 ? -1 : ranks_of_process(m->ranks, (uint32_t)note->process);

	m->list[i].count++;
	if (!is_number)
		return;
	m->list[i].sum += number;
	if (note->process < 0)
		spread_add(&m->nodes[i], -1, number);
	else if (rank >= 0)
		spread_add(&m->list[i].spread, m->ranks->list[rank].number, number);
	else
		spread_add(&m->others[i], note->process, number);
}

struct note_group *note_groups_new(const struct trace_head *head, const struct ranks *ranks,
				   const char *kind, size_t *count)
{
	struct maker m = { .ranks = ranks };

	for (size_t i = 0; i < head->note_count; i++) {
		if (strcmp(text_or_empty(head->notes[i].kind), kind) == 0)
			add_note(&m, &head->notes[i]);
	}
	for (size_t i = 0; i < m.count; i++) {
		if (!m.list[i].spread.count)
			m.list[i].spread = m.others[i].count ? m.others[i] : m.nodes[i];
	}
	seen_release(m.groups);
	seen_release(m.given);
	free(m.others);
	free(m.nodes);
	*count = m.count;
	return m.list;
}

const struct note_group *note_groups_find(const struct note_group *groups, size_t count,
					  const char *source, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(note_group_source(&groups[i]), source) &&
		    !strcmp(note_group_name(&groups[i]), name))
			return &groups[i];
	}
	return NULL;
}

const char *note_group_source(const struct note_group *group)
{
	return text_or_empty(group->first->source);
}

const char *note_group_name(const struct note_group *group)
{
	return text_or_empty(group->first->name);
}

const char *note_group_value(const struct note_group *group)
{
	return text_or_empty(group->first->value);
}

static void put_note_group(struct json *json, const struct note_group *f)
{
	json_open(json, NULL, '{');
	json_text(json, "source", note_group_source(f));
	json_text(json, "name", note_group_name(f));
	json_count(json, "count", f->count);
	if (f->is_number) {
		json_double(json, "sum", f->sum);
		spread_json(json, "spread", &f->spread);
	} else {
		json_text(json, "value", note_group_value(f));
	}
	json_close(json);
}

void note_groups_json(struct json *json, const char *key, const struct trace_head *head,
		      const struct ranks *ranks, const char *kind)
{
	size_t count;
	AUTO_FREE struct note_group *groups = note_groups_new(head, ranks, kind, &count);

	json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		put_note_group(json, &groups[i]);
	json_close(json);
}
