/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice kb import: entries from another machine. Because they will be applied to programs, all of
 * an entry is checked: its parameters against the catalog, its figures for plausibility, its texts
 * for control characters.
 */
#include "cmd/kb/kb.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/option.h"
#include "params/set.h"
#include "store/knowledge.h"
#include "store/outcomes.h"
#include "tune/loop/cost.h"
#include "tune/loop/entry.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)

struct entry {
	struct knowledge knowledge; /* its texts belong to the JSON document, except: */
	struct buf parameters;
};

struct entries {
	struct entry *items;
	size_t count;
};

static void release_entries(struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		buf_release(&entries->items[i].parameters);
	free(entries->items);
}

static int read_text(const json_t *entry, const char *key, bool needed, const char **text,
		     struct err *err)
{
	const char *value = json_string_value(json_object_get(entry, key));

	if (!value || (needed && !*value))
		return err_set(err, EINVAL, "\"%s\" is missing or not a string", key);
	if (escape_is_needed(value))
		return err_set(err, EINVAL, "\"%s\" contains control characters", key);
	*text = value;
	return 0;
}

static int read_count(const json_t *entry, const char *key, int64_t max, int64_t *count,
		      struct err *err)
{
	const json_t *value = json_object_get(entry, key);

	*count = json_integer_value(value);
	if (!json_is_integer(value) || *count < 0 || *count > max)
		return err_set(err, EINVAL, "\"%s\" must be a number from 0 to %lld", key,
			       (long long)max);
	return 0;
}

static int read_positive(const json_t *entry, const char *key, double *figure, struct err *err)
{
	const json_t *value = json_object_get(entry, key);

	*figure = json_number_value(value);
	if (!json_is_number(value) || !isfinite(*figure) || !(*figure > 0))
		return err_set(err, EINVAL, "\"%s\" must be a positive number", key);
	return 0;
}

static int read_key(const json_t *entry, struct knowledge_key *key, struct err *err)
{
	int64_t ranks, size;
	int r = read_text(entry, "program", true, &key->program, err);

	if (r >= 0)
		r = read_text(entry, "fingerprint", false, &key->fingerprint, err);
	if (r >= 0)
		r = read_text(entry, "arguments", false, &key->arguments, err);
	if (r >= 0)
		r = read_text(entry, "platform", true, &key->platform, err);
	if (r >= 0)
		r = read_text(entry, "filesystem", true, &key->filesystem, err);
	if (r >= 0 && filesystem_by_name(key->filesystem) < 0)
		r = err_set(err, EINVAL, "unknown \"filesystem\" %s", key->filesystem);
	if (r >= 0)
		r = read_count(entry, "ranks", UINT32_MAX, &ranks, err);
	if (r >= 0)
		r = read_count(entry, "size_class", OUTCOMES_SIZE_CLASSES - 1, &size, err);
	if (r < 0)
		return r;
	key->ranks = (uint32_t)ranks;
	key->size_class = (unsigned)size;
	return 0;
}

static int read_figures(const json_t *entry, struct knowledge *k, struct err *err)
{
	static const char *const keys[] = { "before", "after", "gain", "gain_low", "gain_high" };
	double *const figures[] = { &k->before, &k->after, &k->gain, &k->gain_low, &k->gain_high };

	for (int i = 0; i < 5; i++)
		if (read_positive(entry, keys[i], figures[i], err) < 0)
			return -EINVAL;
	if (k->gain_low > k->gain || k->gain > k->gain_high)
		return err_set(err, EINVAL, "\"gain\" is not between gain_low and gain_high");
	return 0;
}

/* Keeps the first problem that would make Sluice ignore a parameter. */
static void keep_first_problem(void *arg, const struct param *param, bool drop, const char *text)
{
	struct err *err = arg;

	(void)param;
	if (drop && !err->code)
		err_set(err, EINVAL, "%s", text);
}

static int check_parameters(const struct param_set *set, struct err *err)
{
	struct tunable_context anywhere = { .allowed = TUNABLE_SEMANTICS };
	struct err found = { 0 };

	param_set_check(set, &anywhere, keep_first_problem, &found);
	return found.code ? err_set(err, EINVAL, "%s", found.text) : 0;
}

static int read_parameters(const json_t *entry, struct buf *out, struct err *err)
{
	json_t *document = json_pack("{s:O}", "parameters", json_object_get(entry, "parameters"));
	AUTO_FREE char *text = document ? json_dumps(document, 0) : NULL;
	struct param_set set = { 0 };
	struct err found = { 0 };
	int r;

	json_decref(document);
	if (!text)
		return err_set(err, EINVAL, "\"parameters\" is missing");
	r = param_set_read_text(&set, "parameters", text, strlen(text), keep_first_problem, &found,
				err);
	if (r >= 0 && found.code)
		r = err_set(err, EINVAL, "%s", found.text);
	if (r >= 0)
		r = check_parameters(&set, err);
	if (r >= 0 && set.count)
		r = param_json.write(&set, out, err);
	param_set_release(&set);
	return r;
}

/* An entry without parameters says that nothing better than the default was found. */
static int check_gain(const struct knowledge *k, struct err *err)
{
	if (*k->parameters || (k->gain == 1 && k->gain_low == 1 && k->gain_high == 1))
		return 0;
	return err_set(err, EINVAL, "\"parameters\" is empty, but \"gain\" is not 1");
}

/* Files of earlier versions say nothing about demotion. */
static int read_demotion(const json_t *from, struct knowledge *k, struct err *err)
{
	int r = 0;

	k->demoted_why = "";
	if (json_object_get(from, "demoted_ns"))
		r = read_count(from, "demoted_ns", INT64_MAX, &k->demoted_ns, err);
	if (r >= 0 && k->demoted_ns)
		r = read_text(from, "demoted_why", false, &k->demoted_why, err);
	return r;
}

static int read_entry(const json_t *from, struct entry *entry, struct err *err)
{
	struct knowledge *k = &entry->knowledge;
	int r = read_key(from, &k->key, err);

	if (r >= 0)
		r = read_text(from, "objective", true, &k->objective, err);
	if (r >= 0 && option_choice(COST_WORDS, k->objective, strlen(k->objective)) < 0)
		r = err_set(err, EINVAL, "\"objective\" must be one of " COST_WORDS);
	if (r >= 0)
		r = read_figures(from, k, err);
	if (r >= 0)
		r = read_count(from, "found_ns", INT64_MAX, &k->found_ns, err);
	if (r >= 0)
		r = read_parameters(from, &entry->parameters, err);
	k->parameters = buf_text(&entry->parameters);
	if (r >= 0 && json_is_string(json_object_get(from, "compared")))
		r = read_text(from, "compared", false, &k->compared, err);
	if (r >= 0)
		r = check_gain(k, err);
	if (r >= 0)
		r = read_demotion(from, k, err);
	k->pinned = json_is_true(json_object_get(from, "pinned"));
	k->study = "";
	return r;
}

static int read_entries(const json_t *root, struct entries *entries, struct err *err)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	const json_t *list = json_object_get(root, "entries"), *from;
	size_t i;
	int r = json_check_schema(schema, KB_SCHEMA, err);

	if (r < 0)
		return r;
	if (!json_is_array(list))
		return err_set(err, EINVAL, "\"entries\" is missing or not an array");
	entries->items = xcalloc(json_array_size(list) + 1, sizeof(*entries->items));
	json_array_foreach(list, i, from)
	{
		const char *program = NULL;

		entries->count++;
		if (read_entry(from, &entries->items[i], err) >= 0)
			continue;
		/* A name with control characters is not printed. */
		if (read_text(from, "program", true, &program, NULL) < 0)
			program = "?";
		return err_prefix(err, "entry %zu (%.40s)", i + 1, program);
	}
	return 0;
}

static int store_entries(struct store *store, const struct entries *entries, struct kb_import *done,
			 struct err *err)
{
	AUTO_FREE const struct knowledge **list = xcalloc(entries->count + 1, sizeof(*list));
	size_t kept = 0;
	int r;

	for (size_t i = 0; i < entries->count; i++)
		list[i] = &entries->items[i].knowledge;
	r = knowledge_put_all(store, list, entries->count, &kept, err);
	if (r >= 0)
		*done = (struct kb_import){ (unsigned)(entries->count - kept), (unsigned)kept };
	return r;
}

int kb_import(struct store *store, const char *path, struct kb_import *done, struct err *err)
{
	struct entries entries = { 0 };
	AUTO_BUF struct buf text = { 0 };
	json_error_t wrong;
	json_t *root;
	int r = file_read_all(&text, path, FILE_BYTES_MAX, err);

	if (r < 0)
		return r;
	root = json_loadb(buf_text(&text), text.len, JSON_REJECT_DUPLICATES, &wrong);
	if (!root)
		return err_set(err, EINVAL, "%s:%d: %s", path, wrong.line, wrong.text);
	r = read_entries(root, &entries, err);
	if (r < 0)
		err_prefix(err, "%s", path);
	else
		r = store_entries(store, &entries, done, err);
	release_entries(&entries);
	json_decref(root);
	return r;
}
