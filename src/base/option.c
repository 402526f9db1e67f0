/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"

struct parser {
	const struct option *rows;
	char *args;
	int argc, at; /* at: the next word to look at */
	char **argv;
	struct err *err;
};

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

/* Only what its kind says is written; *out stays untouched on failure. */
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
	}
	return -EINVAL;
}

static const char *kind_wants(enum option_kind kind)
{
	switch (kind) {
	case OPTION_COUNT:
		return "a whole number such as 10";
	case OPTION_SIZE:
		return "a size such as 64K or 1G";
	case OPTION_TIME:
		return "a time such as 250us, 10ms or 1.5s";
	case OPTION_SPAN:
		return "times such as 1.5:3 or 10ms:, the end after the start";
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
	return err_set(err, EINVAL, "%s: \"%s\" is not %s", name, text, kind_wants(kind));
}

static void fill_defaults(const struct option *rows, char *args)
{
	for (const struct option *row = rows; row && row->name; row++) {
		void *field = args + row->offset;

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
}

static const struct option *find_long(const struct option *rows, const char *name, size_t n)
{
	for (const struct option *row = rows; row && row->name; row++) {
		if (strlen(row->name) == n && memcmp(row->name, name, n) == 0)
			return row;
	}
	return NULL;
}

static const struct option *find_short(const struct option *rows, char letter)
{
	for (const struct option *row = rows; row && row->name; row++) {
		if (row->letter == letter)
			return row;
	}
	return NULL;
}

/* Gives row its value: the one attached to the word, or the next word. */
static int take(struct parser *p, const struct option *row, const char *attached, const char *shown)
{
	const char *text = attached;

	if (row->kind != OPTION_FLAG && !text) {
		if (p->at >= p->argc)
			return err_set(p->err, EINVAL, "%s needs a value: %s", shown, row->value);
		text = p->argv[p->at++];
	}
	return option_value(row->kind, row->value, shown, text, p->args + row->offset, p->err);
}

static int parse_long(struct parser *p, char *word)
{
	size_t n = strcspn(word + 2, "=");
	const char *attached = word[2 + n] ? word + 3 + n : NULL;
	const struct option *row = find_long(p->rows, word + 2, n);
	AUTO_FREE char *shown = xstrndup(word, 2 + n);

	if (!row && strcmp(shown, "--help") == 0)
		return OPTION_HELP_WANTED;
	if (!row)
		return err_set(p->err, EINVAL, "there is no option %s", shown);
	if (attached && row->kind == OPTION_FLAG)
		return err_set(p->err, EINVAL, "%s takes no value", shown);
	return take(p, row, attached, shown);
}

/* -v, -vj, -n5, -n 5 */
static int parse_short(struct parser *p, char *word)
{
	for (char *c = word + 1; *c; c++) {
		const struct option *row = find_short(p->rows, *c);
		char shown[3] = { '-', *c, 0 };
		int ret;

		if (!row && *c == 'h')
			return OPTION_HELP_WANTED;
		if (!row)
			return err_set(p->err, EINVAL, "there is no option %s", shown);
		if (row->kind != OPTION_FLAG)
			return take(p, row, c[1] ? c + 1 : NULL, shown);
		ret = take(p, row, NULL, shown);
		if (ret)
			return ret;
	}
	return 0;
}

/* Walks over the words; operands are moved to the front. Returns their number. */
static int parse_words(struct parser *p, enum option_order order)
{
	int operands = 0;

	while (p->at < p->argc) {
		char *word = p->argv[p->at];
		int ret;

		if (strcmp(word, "--") == 0) {
			p->at++;
			break;
		}
		if (word[0] != '-' || !word[1]) {
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

	fill_defaults(rows, args);
	ret = parse_words(&p, order);
	if (ret < 0)
		option_release(rows, args);
	return ret;
}

void option_release(const struct option *rows, void *args)
{
	for (const struct option *row = rows; row && row->name; row++) {
		struct option_list *list = (void *)((char *)args + row->offset);

		if (row->kind != OPTION_LIST)
			continue;
		free(list->items);
		*list = (struct option_list){ 0 };
	}
}
