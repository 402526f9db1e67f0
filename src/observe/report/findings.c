/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/mem.h"

/* A text that was met before, and how often or where. */
struct met {
	char *key;
	size_t number;
	UT_hash_handle hh;
};

struct maker {
	const struct ranks *ranks;
	struct finding *list;
	size_t count, cap;
	struct spread *others; /* of each finding, over processes that are no ranks, */
	struct spread *nodes;  /* and over nodes */
	size_t other_cap, node_cap;
	struct met *findings; /* number: index in list */
	struct met *given;    /* number: how often a process gave it */
};

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static struct met *met_find(struct met **table, const char *key, size_t number, bool *is_new)
{
	struct met *met;

	HASH_FIND_STR(*table, key, met);
	*is_new = !met;
	if (met)
		return met;
	met = xcalloc(1, sizeof(*met));
	met->key = xstrdup(key);
	met->number = number;
	HASH_ADD_KEYPTR(hh, *table, met->key, strlen(met->key), met);
	return met;
}

static void met_release(struct met *table)
{
	struct met *met, *next;

	HASH_ITER(hh, table, met, next)
	{
		HASH_DEL(table, met);
		free(met->key);
		free(met);
	}
}

static bool number_of(const struct note *note, double *number)
{
	const char *text = text_of(note->value);
	char *end;

	*number = strtod(text, &end);
	return end != text && !*end;
}

/* How often the process has given this before. */
static size_t repetition(struct maker *m, const struct note *note)
{
	AUTO_FREE char *key =
		xprintf("%d\x1f%s\x1f%s\x1f%s", (int)note->process, text_of(note->host),
			text_of(note->source), text_of(note->name));
	bool is_new;

	return met_find(&m->given, key, 0, &is_new)->number++;
}

static size_t finding_of(struct maker *m, const struct note *note, bool is_number)
{
	AUTO_BUF struct buf key = { 0 };
	bool is_new;
	size_t i;

	buf_printf(&key, "%s\x1f%s\x1f", text_of(note->source), text_of(note->name));
	if (is_number)
		buf_printf(&key, "%zu", repetition(m, note));
	else
		buf_printf(&key, "=%s", text_of(note->value));
	i = met_find(&m->findings, buf_text(&key), m->count, &is_new)->number;
	if (!is_new)
		return i;
	m->list = xgrow(m->list, &m->cap, m->count + 1, sizeof(*m->list));
	m->others = xgrow(m->others, &m->other_cap, m->count + 1, sizeof(*m->others));
	m->nodes = xgrow(m->nodes, &m->node_cap, m->count + 1, sizeof(*m->nodes));
	m->list[i] = (struct finding){ .first = note, .is_number = is_number };
	m->others[i] = m->nodes[i] = (struct spread){ 0 };
	m->count++;
	return i;
}

static void add(struct maker *m, const struct note *note)
{
	double number;
	bool is_number = number_of(note, &number);
	size_t i = finding_of(m, note, is_number);
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

struct finding *findings_new(const struct trace_head *head, const struct ranks *ranks,
			     const char *kind, size_t *count)
{
	struct maker m = { .ranks = ranks };

	for (size_t i = 0; i < head->note_count; i++) {
		if (strcmp(text_of(head->notes[i].kind), kind) == 0)
			add(&m, &head->notes[i]);
	}
	for (size_t i = 0; i < m.count; i++) {
		if (!m.list[i].spread.count)
			m.list[i].spread = m.others[i].count ? m.others[i] : m.nodes[i];
	}
	met_release(m.findings);
	met_release(m.given);
	free(m.others);
	free(m.nodes);
	*count = m.count;
	return m.list;
}

const struct finding *findings_find(const struct finding *findings, size_t count,
				    const char *source, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(finding_source(&findings[i]), source) &&
		    !strcmp(finding_name(&findings[i]), name))
			return &findings[i];
	}
	return NULL;
}

const char *finding_source(const struct finding *finding)
{
	return text_of(finding->first->source);
}

const char *finding_name(const struct finding *finding)
{
	return text_of(finding->first->name);
}

const char *finding_value(const struct finding *finding)
{
	return text_of(finding->first->value);
}
