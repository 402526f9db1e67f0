/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses the best hints for each kind of accesses to a file: by operation, size class and offsets.
 * Papers: SIOX-39.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "contract/hints.h"
#include "observe/plugins/hint_choice_internal.h"

#define KEY_BYTES 64
#define VALUE_BYTES 256

/* A set of hints; NULL: the defaults. */
struct best {
	const char *hints;
	double gain;
};

/* A kind of accesses, and the samples of them: those of one operation and size class. */
struct kind {
	struct known *list; /* borrows its texts */
	size_t count;
	double seconds;	    /* with the defaults, where they are known well enough */
	double opened_gain; /* of the hints for the whole file; 1 if that is not known */
	struct best best;   /* of all sets */
	struct best beside; /* of those that override all hints for the whole file */
};

/* Are the hints safe, and can all of them change while a file is open? */
static bool set_can_change(const char *hints)
{
	char key[KEY_BYTES], value[VALUE_BYTES];

	if (!*hints || !hint_set_is_safe(hints))
		return false;
	while (hints_next(&hints, key, sizeof(key), value, sizeof(value)))
		if (hints_change_index(key) < 0)
			return false;
	return true;
}

/* Does the first set have all keys of the second? */
static bool set_overrides(const char *hints, const char *others)
{
	char key[KEY_BYTES], value[VALUE_BYTES], own[KEY_BYTES], unused[VALUE_BYTES];

	while (hints_next(&others, key, sizeof(key), value, sizeof(value))) {
		const char *at = hints;
		bool has = false;

		while (!has && hints_next(&at, own, sizeof(own), unused, sizeof(unused)))
			has = !strcmp(own, key);
		if (!has)
			return false;
	}
	return true;
}

static bool is_same_kind(const struct known *a, const struct known *b)
{
	return a->size_class == b->size_class && !strcmp(a->operation, b->operation);
}

static struct kind kind_make(const struct known *list, size_t count, const struct known *like,
			     uint64_t learn)
{
	struct kind kind = { .list = xcalloc(count, sizeof(*list)) };

	for (size_t i = 0; i < count; i++) {
		if (!is_same_kind(&list[i], like))
			continue;
		kind.list[kind.count++] = list[i];
		if (!*list[i].hints && list[i].outcome.runs >= learn)
			kind.seconds += list[i].outcome.seconds;
	}
	return kind;
}

static void best_update(struct best *best, const char *hints, double gain)
{
	if (gain > best->gain)
		*best = (struct best){ hints, gain };
}

/* opened: the hints for the whole file; NULL: none. */
static void kind_choose(struct kind *kind, char mode, const char *opened,
			const struct history_options *options)
{
	double least = 1 + options->margin, gain;

	gain = opened ? known_speedup(kind->list, kind->count, mode, opened, options->learn) : 0;
	kind->opened_gain = gain > 0 ? gain : 1;
	kind->best = (struct best){ NULL, least };
	kind->beside = (struct best){ NULL, least * fmax(1, kind->opened_gain) };
	for (size_t i = 0; i < kind->count; i++) {
		const char *hints = kind->list[i].hints;

		if (!set_can_change(hints))
			continue;
		gain = known_speedup(kind->list, kind->count, mode, hints, options->learn);
		if (!known_places(kind->list, kind->count, mode, hints, options->learn))
			continue;
		best_update(&kind->best, hints, gain);
		if (opened && set_overrides(hints, opened))
			best_update(&kind->beside, hints, gain);
	}
}

/* Is it the first entry of its kind in the list? */
static bool is_first(const struct known *list, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (is_same_kind(&list[j], &list[i]))
			return false;
	return true;
}

static bool is_collective(const struct kind *kind)
{
	return strstr(kind->list->operation, "_all");
}

/* The hints that files of this mode are opened with; NULL: none. */
static const char *hints_at_open(const struct hint_choices *choices, const struct known *known,
				 char mode)
{
	return hint_choices_find(choices, known->program, known->extension, mode);
}

/* The predicted seconds of all accesses that were seen with the defaults. */
struct prediction {
	double opened; /* with the hints for the whole file */
	double all;    /* with the best of each kind; independent accesses of several ranks: none */
	double alone;  /* the same for files of a single rank, where these have the best, too */
	double beside; /* with the hints for the whole file, or for the kind */
};

static double seconds_with(const struct kind *kind, const struct best *best, double otherwise)
{
	return kind->seconds / (best->hints ? best->gain : otherwise);
}

static void predict(struct prediction *p, const struct kind *kind)
{
	double opened = kind->seconds / kind->opened_gain;
	bool changes = is_collective(kind);

	p->opened += opened;
	p->all += changes ? seconds_with(kind, &kind->best, 1) : kind->seconds;
	p->alone += seconds_with(kind, &kind->best, 1);
	p->beside += changes ? seconds_with(kind, &kind->beside, kind->opened_gain) : opened;
}

static void choice_add(struct hint_choices *choices, size_t *cap, const struct kind *kind,
		       char mode, enum access_files files)
{
	const struct best *best = files == ACCESS_FILES_BESIDE ? &kind->beside : &kind->best;
	const struct known *known = kind->list;

	if (!best->hints || (files == ACCESS_FILES_BESIDE && !is_collective(kind)))
		return;
	choices->accesses = xgrow(choices->accesses, cap, choices->access_count + 1,
				  sizeof(*choices->accesses));
	choices->accesses[choices->access_count++] =
		(struct access_choice){ xstrdup(known->program),
					xstrdup(known->extension),
					mode,
					files,
					xstrdup(known->operation),
					known->size_class,
					xstrdup(best->hints),
					best->gain };
}

static void choices_add(struct hint_choices *choices, const struct kind *kinds, size_t count,
			char mode, enum access_files files)
{
	size_t cap = choices->access_count;

	for (size_t i = 0; i < count; i++)
		choice_add(choices, &cap, &kinds[i], mode, files);
}

void access_choices_add(struct hint_choices *choices, const struct known *list, size_t count,
			char mode, const struct history_options *options)
{
	AUTO_FREE struct kind *kinds = xcalloc(count, sizeof(*kinds));
	const char *opened = hints_at_open(choices, list, mode);
	size_t kind_count = 0;
	struct prediction p = { 0 };
	double bar;

	for (size_t i = 0; i < count; i++) {
		if (!known_is_of_mode(&list[i], mode) || !is_first(list, i))
			continue;
		kinds[kind_count] = kind_make(list, count, &list[i], options->learn);
		kind_choose(&kinds[kind_count], mode, opened, options);
		predict(&p, &kinds[kind_count++]);
	}
	bar = p.opened / (1 + options->margin);
	if (p.all < bar && (!opened || p.all < p.beside)) {
		choices_add(choices, kinds, kind_count, mode, ACCESS_FILES_ALL);
	} else {
		if (p.alone < bar)
			choices_add(choices, kinds, kind_count, mode, ACCESS_FILES_ALONE);
		if (opened && p.beside < bar)
			choices_add(choices, kinds, kind_count, mode, ACCESS_FILES_BESIDE);
	}
	for (size_t i = 0; i < kind_count; i++)
		free(kinds[i].list);
}

void access_choices_release(struct hint_choices *choices)
{
	for (size_t i = 0; i < choices->access_count; i++) {
		free(choices->accesses[i].program);
		free(choices->accesses[i].extension);
		free(choices->accesses[i].operation);
		free(choices->accesses[i].hints);
	}
	free(choices->accesses);
}

static void write_choice(struct buf *out, const struct access_choice *c,
			 const struct history_options *options)
{
	static const char *const words[] = { [ACCESS_FILES_ALL] = "access",
					     [ACCESS_FILES_ALONE] = "alone",
					     [ACCESS_FILES_BESIDE] = "beside" };
	const char *suffix = strstr(c->operation, HINTS_STRIDED);
	size_t n = suffix ? (size_t)(suffix - c->operation) : strlen(c->operation);

	buf_printf(out, "%s %s %c %.*s ", words[c->files], c->extension, c->mode, (int)n,
		   c->operation);
	if (c->size_class == HINTS_ANY_SIZE)
		buf_puts(out, "any");
	else
		buf_printf(out, "%u", c->size_class);
	buf_printf(out, " %s %s\n",
		   suffix		? "strided"
		   : options->by_offset ? "contiguous"
					: "any",
		   c->hints);
}

void access_choices_write(struct buf *out, const struct hint_choices *choices,
			  const struct history_options *options)
{
	const char *program = NULL;

	if (!choices->access_count || !options->changes)
		return;
	buf_printf(out, "changes %llu\n", (unsigned long long)options->changes);
	if (options->calls)
		buf_printf(out, "calls %s\n", options->calls);
	for (size_t i = 0; i < choices->access_count; i++) {
		if (!program || strcmp(program, choices->accesses[i].program) != 0)
			buf_printf(out, "program %s\n", choices->accesses[i].program);
		program = choices->accesses[i].program;
		write_choice(out, &choices->accesses[i], options);
	}
}
