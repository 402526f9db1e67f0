/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/apply/rules.h"

#include <string.h>

#include "capture/record/kernel.h"

uint32_t rules_places;
struct rules rules_own;

uint32_t rules_read(struct rules *rules, const char page[PARAMETERS_BYTES])
{
	uint32_t places = 0;
	char *at;

	rules->count = 0;
	memcpy(rules->text, page, PARAMETERS_BYTES);
	rules->text[PARAMETERS_BYTES - 1] = 0;
	at = parameters_read_title(rules->text, &rules->application_wins);
	if (!at)
		return 0;
	while (rules->count < RULES_MAX && parameters_read_line(&at, &rules->rule[rules->count]))
		rules->count++;
	for (unsigned i = 0; i < rules->count; i++) {
		places |= UINT32_C(1) << rules->rule[i].place;
		if (strcmp(rules->rule[i].name, PARAMETERS_ALIGNMENT) == 0)
			places |= RULES_ALIGN;
		if (strcmp(rules->rule[i].name, PARAMETERS_SPREAD_DIRECTORIES) == 0)
			places |= RULES_SPREAD;
		if (strncmp(rules->rule[i].name, PARAMETERS_CHUNK_CACHE,
			    strlen(PARAMETERS_CHUNK_CACHE)) == 0)
			places |= RULES_CACHE;
	}
	return places | RULES_ON;
}

void rules_join(const char page[PARAMETERS_BYTES], struct outcomes *outcomes)
{
	/* A forked child has its parent's rules. */
	if (rules_places || !page[0])
		return;
	rules_own.outcomes = outcomes;
	rules_places = rules_read(&rules_own, page);
}

/* The first rule with this name; the count if there is none, or if nothing is noted. */
static unsigned first_with_name(const struct rules *rules, const char *name)
{
	unsigned i = rules->outcomes ? 0 : rules->count;

	while (i < rules->count && strcmp(rules->rule[i].name, name) != 0)
		i++;
	return i;
}

void rules_note_applied(const struct rules *rules, const char *name)
{
	unsigned i = first_with_name(rules, name);

	if (i < rules->count)
		outcomes_set(&rules->outcomes->applied[i / 32], i % 32);
}

void rules_note_refusal(const struct rules *rules, const char *name, const char *reason)
{
	unsigned i = first_with_name(rules, name);

	if (i < rules->count)
		outcomes_set(&rules->outcomes->refused[i], outcomes_reason(reason));
}

static void note_place(const struct rules *rules, enum parameters_place place)
{
	if (rules->outcomes)
		outcomes_set(&rules->outcomes->places, place);
}

static const struct parameters_line *note_match(const struct rules *rules,
						const struct parameters_line *rule)
{
	unsigned number = (unsigned)(rule - rules->rule);

	if (rules->outcomes)
		outcomes_set(&rules->outcomes->matched[number / 32], number % 32);
	return rule;
}

/* Skips a prefix of ROMIO such as "ufs:". */
static const char *skip_prefix(const char *path)
{
	size_t n = strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n && path[n] == ':' ? path + n + 1 : path;
}

/* Appends one component to an absolute path of `used` bytes. Its new length; 0: it does not fit. */
static size_t append_component(char *to, size_t used, const char *component, size_t n)
{
	if (!n || (n == 1 && component[0] == '.'))
		return used;
	if (n == 2 && !memcmp(component, "..", 2)) {
		while (used > 1 && to[--used] != '/')
			;
		return used ? used : 1;
	}
	if (used + 1 + n >= RULES_PATH_BYTES)
		return 0;
	if (used > 1)
		to[used++] = '/';
	memcpy(to + used, component, n);
	return used + n;
}

/* Appends all components of a path to one of `used` bytes. */
static size_t append_components(char *to, size_t used, const char *path)
{
	while (*path && used) {
		size_t n = strcspn(path, "/");

		used = append_component(to, used, path, n);
		path += n + (path[n] == '/');
	}
	return used;
}

const char *rules_path(char to[RULES_PATH_BYTES], const char *path)
{
	size_t used = 1;

	path = skip_prefix(path);
	/* The kernel returns a path without "." and "..". */
	if (path[0] != '/' && kernel_call(SYS_getcwd, to, RULES_PATH_BYTES) > 0 && to[0] == '/')
		used = strlen(to);
	to[0] = '/';
	used = append_components(to, used, path);
	to[used] = 0;
	return to;
}

bool rules_match(const char *pattern, const char *path)
{
	if (!strncmp(pattern, "./", 2))
		pattern += 2;
	if (parameters_match(pattern, path))
		return true;
	if (!strchr(pattern, '/') || pattern[0] == '/' || pattern[0] == '*')
		return false;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		if (parameters_glob(pattern, slash + 1))
			return true;
	return false;
}

const char *rules_object(char to[RULES_PATH_BYTES], const char *group, const char *name)
{
	size_t used;

	to[0] = '/';
	used = append_components(to, 1, group);
	used = used ? append_components(to, used, name) : 0;
	to[used ? used : 1] = 0;
	return to;
}

bool rules_match_object(const char *pattern, const char *object)
{
	if (!strcmp(pattern, "*"))
		return true;
	if (pattern[0] == '/' || !strchr(pattern, '/'))
		return parameters_match(pattern, object);
	return parameters_glob(pattern, object + (object[0] == '/'));
}

static bool rule_matches(const struct parameters_line *rule, enum parameters_place place,
			 const char *path, const char *object)
{
	return rule->place == place && rules_match(rule->file, path) &&
	       rules_match_object(rule->object, object);
}

/* Does an earlier rule for the same name match? */
static bool rule_is_overridden(const struct rules *rules, const struct parameters_line *rule,
			       const char *path, const char *object)
{
	for (const struct parameters_line *r = rules->rule; r < rule; r++)
		if (!strcmp(r->name, rule->name) && rule_matches(r, rule->place, path, object))
			return true;
	return false;
}

const struct parameters_line *rules_next(const struct rules *rules,
					 const struct parameters_line *at,
					 enum parameters_place place, const char *path,
					 const char *object)
{
	note_place(rules, place);
	for (at = at ? at + 1 : rules->rule; at < rules->rule + rules->count; at++)
		if (rule_matches(at, place, path, object) &&
		    !rule_is_overridden(rules, at, path, object))
			return note_match(rules, at);
	return NULL;
}

const struct parameters_line *rules_find(const struct rules *rules, enum parameters_place place,
					 const char *path, const char *object, const char *name)
{
	note_place(rules, place);
	for (const struct parameters_line *r = rules->rule; r < rules->rule + rules->count; r++)
		if (!strcmp(r->name, name) && rule_matches(r, place, path, object))
			return note_match(rules, r);
	return NULL;
}

const char *rules_value(const struct rules *rules, enum parameters_place place, const char *path,
			const char *object, const char *name)
{
	const struct parameters_line *rule = rules_find(rules, place, path, object, name);

	return rule ? rule->value : NULL;
}

bool rules_number(const char **at, uint64_t *number)
{
	const char *p = *at;
	uint64_t n = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	if (p == *at)
		return false;
	*at = p;
	*number = n;
	return true;
}

bool rules_parse_number(const char *text, uint64_t *number)
{
	return rules_number(&text, number) && !*text;
}

#define RATIO_DECIMALS 6
#define RATIO_UNIT 1000000

bool rules_parse_ratio(const char *text, double *ratio)
{
	uint64_t whole, parts = 0;
	int decimals = 0;

	if (!rules_number(&text, &whole) || whole > 1)
		return false;
	if (*text == '.')
		text++;
	for (; decimals < RATIO_DECIMALS; decimals++) {
		bool is_digit = *text >= '0' && *text <= '9';

		parts = parts * 10 + (is_digit ? (uint64_t)(*text++ - '0') : 0);
	}
	if (*text || (whole && parts))
		return false;
	*ratio = (double)whole + (double)parts / RATIO_UNIT;
	return true;
}

void rules_put_ratio(char *to, double ratio)
{
	uint64_t parts = ratio > 0 ? (uint64_t)(ratio * RATIO_UNIT + 0.5) : 0;
	char *end = rules_put_number(to, parts / RATIO_UNIT);

	parts %= RATIO_UNIT;
	if (!parts)
		return;
	*end++ = '.';
	for (uint64_t unit = RATIO_UNIT / 10; parts; unit /= 10) {
		*end++ = (char)('0' + parts / unit);
		parts %= unit;
	}
	*end = 0;
}

char *rules_put_number(char *to, uint64_t number)
{
	char digits[24];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (n)
		*to++ = digits[--n];
	*to = 0;
	return to;
}

const char *rules_prefix(char to[RULES_PATH_BYTES], const char *key, const char *value,
			 const char *path)
{
	size_t v, p = strnlen(path, RULES_PATH_BYTES);
	bool is_key = !strcmp(value, "true");

	if (is_key)
		value = key;
	v = strlen(value);
	if (!v || !strcmp(value, "false") || strchr(path, ':') ||
	    v + is_key + p >= RULES_PATH_BYTES)
		return NULL;
	memcpy(to, value, v);
	if (is_key)
		to[v++] = ':';
	memcpy(to + v, path, p + 1);
	return to;
}
