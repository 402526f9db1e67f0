/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/arbitration.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "contract/outcomes.h"
#include "observe/collect/collector.h"
#include "params/set.h"

struct decision {
	const struct tunable *tunable;
	enum source source;
	char *origin;
	char *value; /* the first, if it differs between files */
	char *file;  /* pattern of that value; NULL: all files */
};

void arbitration_clear(struct arbitration *a)
{
	for (size_t i = 0; i < a->count; i++) {
		free(a->decisions[i].origin);
		free(a->decisions[i].value);
		free(a->decisions[i].file);
	}
	a->count = 0;
	buf_clear(&a->conflicts);
	buf_clear(&a->best);
}

void arbitration_release(struct arbitration *a)
{
	arbitration_clear(a);
	free(a->decisions);
	buf_release(&a->conflicts);
	buf_release(&a->best);
	*a = (struct arbitration){ 0 };
}

static const struct decision *find_decision(const struct arbitration *a,
					    const struct tunable *tunable)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->decisions[i].tunable == tunable)
			return &a->decisions[i];
	return NULL;
}

bool arbitration_has(const struct arbitration *a, const struct tunable *tunable)
{
	return find_decision(a, tunable) != NULL;
}

/* Programs may ask for parameters of files; a dataset has no name before it is created. */
static void add_best(struct arbitration *a, enum source source, const struct param *p)
{
	if (!p->object && !strpbrk(p->value, "\t\n"))
		buf_printf(&a->best, "%s\t%s\t%s\t%s\n", p->file ? p->file : "*", p->tunable->name,
			   p->value, source_word(source));
}

void arbitration_suggest(struct arbitration *a, enum source source, const struct param_set *set)
{
	/* The first line that matches decides: patterns come before all files. */
	for (size_t i = 0; i < set->count; i++)
		if (set->params[i].file)
			add_best(a, source, &set->params[i]);
	for (size_t i = 0; i < set->count; i++)
		if (!set->params[i].file)
			add_best(a, source, &set->params[i]);
}

static void decide(struct arbitration *a, enum source source, const char *origin,
		   const struct param *p)
{
	a->decisions = xgrow(a->decisions, &a->cap, a->count + 1, sizeof(*a->decisions));
	a->decisions[a->count++] = (struct decision){
		.tunable = p->tunable,
		.source = source,
		.origin = xstrdup(origin),
		.value = xstrdup(p->value),
		.file = p->file ? xstrdup(p->file) : NULL,
	};
}

/* "4 (user: FILE) instead of 8 (knowledge: entry 3)" */
static void note_loser(struct arbitration *a, const struct decision *winner, enum source source,
		       const char *origin, const struct param *p, const char *why)
{
	if (winner && strcmp(winner->value, p->value) == 0)
		return;
	if (winner)
		buf_printf(&a->conflicts, "%s\t%s\t%s (%s: %s)", source_word(winner->source),
			   p->tunable->name, winner->value, source_word(winner->source),
			   winner->origin);
	else
		buf_printf(&a->conflicts, "%s\t%s\tthe default", source_word(SOURCE_DEFAULT),
			   p->tunable->name);
	buf_printf(&a->conflicts, " instead of %s (%s: %s)%s%s\n", p->value, source_word(source),
		   origin, why ? ": " : "", why ? why : "");
}

void arbitration_add(struct arbitration *a, enum source source, const char *origin,
		     const struct param_set *set, const char *withheld)
{
	size_t earlier = a->count;

	for (size_t i = 0; i < set->count; i++) {
		const struct param *p = &set->params[i];
		const struct decision *winner = find_decision(a, p->tunable);

		if (withheld)
			note_loser(a, winner, source, origin, p, winner ? NULL : withheld);
		else if (!winner)
			decide(a, source, origin, p);
		else if (winner < a->decisions + earlier)
			note_loser(a, winner, source, origin, p, NULL);
	}
	arbitration_suggest(a, source, set);
}

static void add_note(struct collector *collector, const char *kind, const char *source,
		     const char *name, const char *value)
{
	struct note note = { .time_ns = -1,
			     .process = -1,
			     .source = (char *)source,
			     .kind = (char *)kind,
			     .name = (char *)name,
			     .value = (char *)value };

	collector_note(collector, &note);
}

void arbitration_report(const struct arbitration *a, struct collector *collector)
{
	AUTO_FREE char *lines = xstrdup(buf_text(&a->conflicts));
	char *line, *rest = lines;

	for (size_t i = 0; i < a->count; i++)
		add_note(collector, NOTE_DECISION, source_word(a->decisions[i].source),
			 a->decisions[i].tunable->name, a->decisions[i].origin);
	while ((line = strsep(&rest, "\n")) && *line) {
		const char *source = strsep(&line, "\t"), *name = strsep(&line, "\t");

		add_note(collector, NOTE_CONFLICT, source, name, line);
	}
}

/* The source of a parameter of the run with this value; NULL: it is none of them. */
static const char *find_source(const struct control *control, const char *name, const char *value)
{
	static char word[16];
	AUTO_FREE char *lines = xstrndup(control->advice.best, sizeof(control->advice.best) - 1);
	char *line, *rest = lines;

	while ((line = strsep(&rest, "\n")) && *line) {
		const char *fields[4] = { "", "", "", "" };

		for (int i = 0; i < 4 && line; i++)
			fields[i] = strsep(&line, "\t");
		if (strcmp(fields[1], name) == 0 && (!value || strcmp(fields[2], value) == 0)) {
			snprintf(word, sizeof(word), "%s", fields[3]);
			return word;
		}
	}
	return NULL;
}

static const char *word_of(const struct control *control, unsigned source, const char *key,
			   const char *value)
{
	const char *word;

	if (source < SOURCE_COUNT)
		return source_word(source);
	word = find_source(control, key, source == OUTCOME_SET ? value : NULL);
	return word		       ? word
	       : source == OUTCOME_SET ? source_word(SOURCE_PROGRAM)
				       : source_word(SOURCE_USER);
}

static void report_conflict(struct collector *collector, const struct control *control,
			    const struct outcome_conflict *shared)
{
	struct outcome_conflict c = { .winner = shared->winner, .loser = shared->loser };
	AUTO_FREE char *winner = NULL, *loser = NULL, *value = NULL;
	uint32_t times = atomic_load(&shared->times);

	/* A process may write to the page at any time. */
	memcpy(c.key, shared->key, sizeof(c.key) - 1);
	memcpy(c.value, shared->value, sizeof(c.value) - 1);
	memcpy(c.other, shared->other, sizeof(c.other) - 1);
	winner = xstrdup(word_of(control, c.winner, c.key, c.value));
	loser = xstrdup(word_of(control, c.loser, c.key, c.other));
	value = xprintf("%s (%s) instead of %s (%s), %u time%s", c.value, winner, c.other, loser,
			times, times == 1 ? "" : "s");
	add_note(collector, NOTE_CONFLICT, winner, c.key, value);
}

void arbitration_report_guest(struct collector *collector)
{
	const struct control *control = collector_control(collector);
	const struct outcomes *outcomes = &control->outcomes;
	uint32_t over = atomic_load(&outcomes->conflicts_over);

	for (size_t i = 0; i < OUTCOMES_CONFLICTS; i++)
		if (atomic_load(&outcomes->conflicts[i].state) == OUTCOME_CONFLICT_COMPLETE)
			report_conflict(collector, control, &outcomes->conflicts[i]);
	if (over) {
		AUTO_FREE char *value = xprintf("%u more conflicts", over);

		add_note(collector, NOTE_CONFLICT, "", "", value);
	}
}
