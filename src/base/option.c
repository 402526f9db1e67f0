/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/spelling.h"
#include "base/unit.h"

struct parser {
	const struct option *rows;
	char *args;
	int argc, at; /* argv[at] is the next word */
	char **argv;
	struct err *err;
};

void option_walk_start(struct option_walk *walk, const struct option *rows)
{
	*walk = (struct option_walk){ .next = { rows }, .depth = rows ? 0 : -1 };
}

const struct option *option_walk_next(struct option_walk *walk)
{
	while (walk->depth >= 0) {
		const struct option *row = walk->next[walk->depth]++;

		if (row->name) {
			walk->offset = walk->base[walk->depth] + row->offset;
			return row;
		}
		if (row->kind != OPTION_INCLUDED) {
			walk->depth--;
			continue;
		}
		if (walk->depth + 1 == OPTION_DEPTH)
			abort(); /* a mistake in a constant table */
		walk->base[walk->depth + 1] = walk->base[walk->depth] + row->offset;
		walk->next[++walk->depth] = (const void *)row->value;
	}
	return NULL;
}

int option_choice(const char *words, const char *word, size_t n)
{
	int index = 0;

	for (const char *w = words;; index++) {
		size_t len = strcspn(w, "|");

		if (len == n && memcmp(w, word, n) == 0)
			return index;
		if (!w[len])
			return -1;
		w += len + 1;
	}
}

void option_choice_name(const char *words, int index, char *out, size_t cap)
{
	size_t len;

	while (index-- > 0 && *words) {
		words += strcspn(words, "|");
		words += *words == '|';
	}
	len = strcspn(words, "|");
	if (len >= cap)
		len = cap - 1;
	memcpy(out, words, len);
	out[len] = 0;
}

static int parse_span(const char *text, struct option_span *span)
{
	const char *colon = strchr(text, ':');
	AUTO_FREE char *from = NULL;
	struct option_span parsed = { 0 };
	int ret = 0;

	if (!colon)
		return -EINVAL;
	from = xstrndup(text, (size_t)(colon - text));
	if (*from)
		ret = unit_parse_ns(from, &parsed.from_ns);
	if (!ret && colon[1])
		ret = unit_parse_ns(colon + 1, &parsed.to_ns);
	if (!ret && colon[1] && parsed.to_ns <= parsed.from_ns)
		ret = -EINVAL;
	if (!ret)
		*span = parsed;
	return ret;
}

/* Leaves *out untouched on failure. */
static int parse_kind(enum option_kind kind, const char *words, const char *text, void *out)
{
	int choice;

	switch (kind) {
	case OPTION_FLAG:
		*(bool *)out = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)out = text;
		return 0;
	case OPTION_COUNT:
		return unit_parse_count(text, out);
	case OPTION_SIZE:
		return unit_parse_bytes(text, out);
	case OPTION_TIME:
		return unit_parse_ns(text, out);
	case OPTION_SPAN:
		return parse_span(text, out);
	case OPTION_CHOICE:
		choice = option_choice(words, text, strlen(text));
		if (choice < 0)
			return -EINVAL;
		*(int *)out = choice;
		return 0;
	case OPTION_LIST: {
		struct option_list *list = out;

		list->items = xrealloc(list->items, list->count + 1, sizeof(*list->items));
		list->items[list->count++] = text;
		return 0;
	}
	case OPTION_DIVIDER:
	case OPTION_INCLUDED:
		break;
	}
	return -EINVAL;
}

static const char *kind_example(enum option_kind kind)
{
	switch (kind) {
	case OPTION_COUNT:
		return "a whole number such as 10";
	case OPTION_SIZE:
		return "a size such as 64K or 1G";
	case OPTION_TIME:
		return "a time such as 250us, 10ms, 1.5s or 2d";
	case OPTION_SPAN:
		return "a range such as 1.5:3 or 10ms: whose end is after its start";
	default:
		return "a value";
	}
}

int option_value(enum option_kind kind, const char *words, const char *name, const char *text,
		 void *out, struct err *err)
{
	int ret = parse_kind(kind, words, text, out);

	if (!ret)
		return 0;
	if (ret == -ERANGE)
		return err_set(err, EINVAL, "%s: %s is too large", name, text);
	if (kind == OPTION_CHOICE)
		return err_set(err, EINVAL, "%s: \"%s\" is not one of %s", name, text, words);
	return err_set(err, EINVAL, "%s: \"%s\" is not %s", name, text, kind_example(kind));
}

static void set_default(const struct option *row, void *field)
{
	if (row->kind == OPTION_DIVIDER)
		return;
	if (row->fallback && row->kind != OPTION_LIST)
		option_value(row->kind, row->value, row->name, row->fallback, field, NULL);
	else if (row->kind == OPTION_COUNT || row->kind == OPTION_SIZE)
		*(uint64_t *)field = OPTION_NONE;
	else if (row->kind == OPTION_CHOICE)
		*(int *)field = -1;
	else if (row->kind == OPTION_FLAG)
		*(bool *)field = false;
	else if (row->kind == OPTION_TEXT)
		*(const char **)field = NULL;
	else if (row->kind == OPTION_TIME)
		*(int64_t *)field = 0;
	else if (row->kind == OPTION_SPAN)
		*(struct option_span *)field = (struct option_span){ 0 };
	else
		*(struct option_list *)field = (struct option_list){ 0 };
}

static void set_defaults(const struct option *rows, char *args)
{
	struct option_walk walk;
	const struct option *row;

	option_walk_start(&walk, rows);
	while ((row = option_walk_next(&walk)))
		set_default(row, args + walk.offset);
}

/* Finds the row of a long option; *offset receives the offset of its field. */
static const struct option *find_long(const struct option *rows, const char *name, size_t n,
				      size_t *offset)
{
	struct option_walk walk;
	const struct option *row;

	option_walk_start(&walk, rows);
	while ((row = option_walk_next(&walk))) {
		*offset = walk.offset;
		if (strlen(row->name) == n && memcmp(row->name, name, n) == 0)
			return row;
	}
	return NULL;
}

static const struct option *find_short(const struct option *rows, char letter, size_t *offset)
{
	struct option_walk walk;
	const struct option *row;

	option_walk_start(&walk, rows);
	while ((row = option_walk_next(&walk))) {
		*offset = walk.offset;
		if (row->letter == letter)
			return row;
	}
	return NULL;
}

static int fail_unknown(const struct parser *p, const char *shown)
{
	struct spelling spelling;
	struct option_walk walk;
	const struct option *row;

	spelling_start(&spelling, shown + strspn(shown, "-"));
	option_walk_start(&walk, p->rows);
	while ((row = option_walk_next(&walk)))
		spelling_offer(&spelling, row->name);
	spelling_offer(&spelling, "help");
	if (shown[1] == '-' && spelling.best)
		return err_set(p->err, EINVAL, "unknown option %s; did you mean --%s?", shown,
			       spelling.best);
	return err_set(p->err, EINVAL, "unknown option %s", shown);
}

/* Stores the value that is attached to the option's word, or the next word. */
static int store_value(struct parser *p, const struct option *row, size_t offset,
		       const char *attached, const char *shown)
{
	const char *text = attached;

	if (option_takes_value(row) && !text) {
		if (p->at >= p->argc)
			return err_set(p->err, EINVAL, "option %s requires a value: %s", shown,
				       row->value);
		text = p->argv[p->at++];
	}
	return option_value(row->kind, row->value, shown, text, p->args + offset, p->err);
}

static int parse_long(struct parser *p, char *word)
{
	size_t n = strcspn(word + 2, "=");
	const char *attached = word[2 + n] ? word + 3 + n : NULL;
	size_t offset = 0;
	const struct option *row = find_long(p->rows, word + 2, n, &offset);
	AUTO_FREE char *shown = xstrndup(word, 2 + n);

	if (!row && strcmp(shown, "--help") == 0)
		return OPTION_HELP_WANTED;
	if (!row)
		return fail_unknown(p, shown);
	if (attached && !option_takes_value(row))
		return err_set(p->err, EINVAL, "option %s takes no value", shown);
	return store_value(p, row, offset, attached, shown);
}

/* -v, -vj, -n5, -n 5 */
static int parse_short(struct parser *p, char *word)
{
	for (char *c = word + 1; *c; c++) {
		size_t offset = 0;
		const struct option *row = find_short(p->rows, *c, &offset);
		char shown[3] = { '-', *c, 0 };
		int ret;

		if (!row && *c == 'h')
			return OPTION_HELP_WANTED;
		if (!row)
			return fail_unknown(p, shown);
		if (option_takes_value(row))
			return store_value(p, row, offset, c[1] ? c + 1 : NULL, shown);
		ret = store_value(p, row, offset, NULL, shown);
		if (ret)
			return ret;
	}
	return 0;
}

/* An operand, or a word that divides operands. */
static bool is_operand(const struct parser *p, const char *word)
{
	size_t offset;
	const struct option *row;

	if (word[0] != '-' || !word[1])
		return true;
	row = word[1] == '-' ? find_long(p->rows, word + 2, strlen(word + 2), &offset) : NULL;
	return row && row->kind == OPTION_DIVIDER;
}

/* Parses all words, moves the operands to the front and returns their number. */
static int parse_words(struct parser *p, enum option_order order)
{
	int operands = 0;

	while (p->at < p->argc) {
		char *word = p->argv[p->at];
		int ret;

		if (strcmp(word, "--") == 0) {
			p->at += order != OPTION_KEEP_DASHES;
			break;
		}
		if (is_operand(p, word)) {
			if (order == OPTION_STOP_FIRST)
				break;
			p->argv[operands++] = word;
			p->at++;
			continue;
		}
		p->at++;
		ret = word[1] == '-' ? parse_long(p, word) : parse_short(p, word);
		if (ret)
			return ret;
	}
	while (p->at < p->argc)
		p->argv[operands++] = p->argv[p->at++];
	p->argv[operands] = NULL;
	return operands;
}

int option_parse(const struct option *rows, enum option_order order, void *args, int argc,
		 char **argv, struct err *err)
{
	struct parser p = { .rows = rows, .args = args, .argc = argc, .argv = argv, .err = err };
	int ret;

	set_defaults(rows, args);
	ret = parse_words(&p, order);
	if (ret < 0)
		option_release(rows, args);
	return ret;
}

/* Whether the word, which begins with a dash, takes the next word as its value; or -EINVAL. */
static int takes_next(const struct option *rows, const char *word)
{
	size_t n = strcspn(word + 2, "="), offset;
	const struct option *row;

	if (word[1] == '-') {
		row = find_long(rows, word + 2, n, &offset);
		if (!row || (!option_takes_value(row) && word[2 + n]))
			return -EINVAL;
		return option_takes_value(row) && !word[2 + n];
	}
	for (const char *c = word + 1; *c; c++) {
		row = find_short(rows, *c, &offset);
		if (!row)
			return -EINVAL;
		if (option_takes_value(row))
			return !c[1];
	}
	return 0;
}

int option_skip(const struct option *rows, int argc, char *const *argv)
{
	int at = 0;

	while (at < argc && argv[at][0] == '-' && argv[at][1]) {
		int next;

		if (strcmp(argv[at], "--") == 0)
			return at + 1;
		next = takes_next(rows, argv[at]);
		if (next < 0)
			return next;
		at += 1 + next;
	}
	return at > argc ? -EINVAL : at;
}

void option_release(const struct option *rows, void *args)
{
	struct option_walk walk;
	const struct option *row;

	option_walk_start(&walk, rows);
	while ((row = option_walk_next(&walk))) {
		struct option_list *list = (void *)((char *)args + walk.offset);

		if (row->kind != OPTION_LIST)
			continue;
		free(list->items);
		*list = (struct option_list){ 0 };
	}
}
