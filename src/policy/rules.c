/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/rules.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/trusted.h"
#include "contract/policy.h"
#include "contract/spool.h"
#include "predict/describe.h"

#define FILE_MAX (1u << 20)
#define LIMIT_DEFAULT (256.0 * 1024 * 1024)
#define LIMIT_MAX (64.0 * 1024 * 1024 * 1024)

/* The page being read; rows[] has offsets into it. */
struct reading {
	double limit;
	unsigned skip_line;
	struct policy *page;
};

static const struct describe_row rows[] = {
	{ "policy", "limit", DESCRIBE_BYTES, 0, SPOOL_FIRST_CHUNKS *(double)SPOOL_CHUNK_BYTES,
	  LIMIT_MAX, offsetof(struct reading, limit) },
};

/* A number, or the id that `find` returns for a name. */
static bool find_id(const char *text, bool (*find)(const char *name, uint32_t *id), uint32_t *id)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (text[0] >= '0' && text[0] <= '9' && !*end && number < POLICY_NOBODY) {
		*id = (uint32_t)number;
		return true;
	}
	return find(text, id);
}

static bool find_user(const char *name, uint32_t *id)
{
	const struct passwd *entry = getpwnam(name);

	if (entry)
		*id = entry->pw_uid;
	return entry != NULL;
}

static bool find_group(const char *name, uint32_t *id)
{
	const struct group *entry = getgrnam(name);

	if (entry)
		*id = entry->gr_gid;
	return entry != NULL;
}

static void set_mode(struct describe *d, struct policy_rule *rule, const char *text)
{
#define MODE_NAME(name, word, help) word,
	static const char *const words[] = { POLICY_MODES(MODE_NAME) };
#undef MODE_NAME

	for (uint32_t i = 0; i < POLICY_MODE_COUNT; i++) {
		if (strcmp(words[i], text) != 0)
			continue;
		rule->mode = i;
		return;
	}
	describe_complain(d, "invalid mode '%.64s': expected off, counters, flight or trace", text);
}

static void set_pattern(struct describe *d, char *to, size_t bytes, const char *word,
			const char *text)
{
	if (!*text)
		describe_complain(d, "%s has no value; leave the word out to match all", word);
	else if (strlen(text) >= bytes)
		describe_complain(d, "%s is too long: at most %zu characters are allowed", word,
				  bytes - 1);
	else
		memcpy(to, text, strlen(text) + 1);
}

static void set_sample(struct describe *d, struct policy_rule *rule, const char *text)
{
	size_t n = strlen(text);
	double percent;

	if (n && text[n - 1] == '%')
		n--;
	if (!number_parse(text, n, &percent) || !(percent >= 0 && percent <= 100))
		describe_complain(d, "invalid sample '%.64s': expected a percentage, such as 10%%",
				  text);
	else
		rule->sample = (uint32_t)(percent * POLICY_ALL / 100 + 0.5);
}

enum rule_word {
#define WORD_ENUM(name, ...) WORD_##name,
	RULE_WORDS(WORD_ENUM) WORD_COUNT
#undef WORD_ENUM
};

static const char *const word_names[] = {
#define WORD_NAME(name, word, ...) word,
	RULE_WORDS(WORD_NAME)
#undef WORD_NAME
};

static void set_word(struct describe *d, struct policy_rule *rule, enum rule_word word,
		     const char *text)
{
	switch (word) {
	case WORD_MODE:
		set_mode(d, rule, text);
		break;
	case WORD_USER:
		if (!find_id(text, find_user, &rule->user))
			describe_complain(d, "unknown user '%.64s'", text);
		break;
	case WORD_GROUP:
		if (!find_id(text, find_group, &rule->group))
			describe_complain(d, "unknown group '%.64s'", text);
		break;
	case WORD_PROGRAM:
		set_pattern(d, rule->program, sizeof(rule->program), "program", text);
		break;
	case WORD_PARTITION:
		set_pattern(d, rule->partition, sizeof(rule->partition), "partition", text);
		break;
	case WORD_SAMPLE:
		set_sample(d, rule, text);
		break;
	case WORD_COUNT:
		break;
	}
}

/* Reads KEY=VALUE. Returns the word, or WORD_COUNT after an error. */
static enum rule_word read_word(struct describe *d, char *word, const char **value)
{
	char *equals = strchr(word, '=');

	if (equals) {
		*equals = 0;
		*value = equals + 1;
		for (int i = 0; i < WORD_COUNT; i++)
			if (!strcmp(word, word_names[i]))
				return (enum rule_word)i;
	}
	describe_complain(d,
			  "invalid word '%.64s' in a rule: expected mode=, user=, group=, "
			  "program=, partition= or sample=",
			  word);
	return WORD_COUNT;
}

static void add_rule(struct describe *d, const char *text)
{
	struct policy *page = ((struct reading *)d->into)->page;
	struct policy_rule rule = { .user = POLICY_NOBODY,
				    .group = POLICY_NOBODY,
				    .sample = POLICY_ALL };
	AUTO_FREE char *copy = xstrdup(text);
	unsigned seen = 0;
	char *rest;

	for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		const char *value;
		enum rule_word kind = read_word(d, word, &value);

		if (kind == WORD_COUNT)
			return;
		if (seen & 1u << kind)
			describe_complain(d, "the rule has %s twice", word_names[kind]);
		seen |= 1u << kind;
		set_word(d, &rule, kind, value);
	}
	if (!(seen & 1u << WORD_MODE))
		describe_complain(d, "the rule has no mode; add mode=off, counters, flight or "
				     "trace");
	else if (page->rule_count == POLICY_RULES)
		describe_complain(d, "too many rules: at most %d are allowed", POLICY_RULES);
	else
		page->rules[page->rule_count++] = rule;
}

static void set_skip(struct describe *d, const char *text)
{
	struct reading *reading = d->into;
	char *skip = reading->page->skip;
	size_t n = strlen(text);

	if (reading->skip_line)
		describe_complain(d, "duplicate skip; the first one is in line %u",
				  reading->skip_line);
	else if (n + 1 >= POLICY_SKIP_BYTES)
		describe_complain(d, "skip is too long: at most %d characters are allowed",
				  POLICY_SKIP_BYTES - 2);
	if (d->err.code)
		return;
	reading->skip_line = d->line;
	memset(skip, 0, POLICY_SKIP_BYTES);
	for (size_t i = 0; i < n; i++)
		skip[i] = strchr(", \t", text[i]) ? '\n' : text[i];
	skip[n] = '\n';
}

static void set_act(struct describe *d, const char *text)
{
	struct policy *page = ((struct reading *)d->into)->page;

	if (strcmp(text, POLICY_ACT_SERVED) != 0)
		describe_complain(d, "invalid act '%.64s': expected " POLICY_ACT_SERVED, text);
	else
		memcpy(page->act, POLICY_ACT_SERVED, sizeof(POLICY_ACT_SERVED));
}

static bool set_value(struct describe *d, const char *section, const char *key, const char *text)
{
	if (strcmp(section, "policy") != 0)
		return false;
	if (!strcmp(key, "rule"))
		add_rule(d, text);
	else if (!strcmp(key, "skip"))
		set_skip(d, text);
	else if (!strcmp(key, "act"))
		set_act(d, text);
	else if (strcmp(key, "limit") != 0)
		describe_complain(
			d, "unknown key '%.64s' in [policy]: expected rule, skip, act or limit",
			key);
	return strcmp(key, "limit") != 0;
}

int rules_parse(struct policy *page, const char *name, const char *text, size_t bytes,
		struct err *err)
{
	AUTO_FREE struct policy *fresh = xcalloc(1, sizeof(*fresh));
	struct reading reading = { .limit = LIMIT_DEFAULT, .page = fresh };
	struct describe describe = {
		.name = name,
		.into = &reading,
		.rows = rows,
		.row_count = sizeof(rows) / sizeof(rows[0]),
		.take = set_value,
		.sections = "[policy]",
	};

	if (describe_read(&describe, text, bytes) < 0) {
		if (err)
			*err = describe.err;
		return -describe.err.code;
	}
	memcpy(page->skip, fresh->skip, sizeof(page->skip));
	memcpy(page->act, fresh->act, sizeof(page->act));
	memcpy(page->rules, fresh->rules, sizeof(page->rules));
	page->rule_count = fresh->rule_count;
	page->chunks_max = (uint32_t)(reading.limit / SPOOL_CHUNK_BYTES);
	return 0;
}

int rules_load(struct policy *page, const char *path, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	int r = trusted_read_file(&text, path, FILE_MAX, err);

	return r < 0 ? r : rules_parse(page, path, buf_text(&text), text.len, err);
}
