/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Knowledge from elsewhere. It will be applied to programs, so everything about it is checked:
 * parameters by the catalogue, figures for sense, texts for what a terminal would act on.
 */
#include "cmd/kb/kb.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/option.h"
#include "params/set.h"
#include "store/knowledge.h"
#include "store/outcomes.h"
#include "tune/loop/cost.h"

struct entry {
	struct knowledge knowledge; /* texts are those of the document, but for: */
	struct buf parameters;
};

struct entries {
	struct entry *items;
	size_t count;
};

static void entries_release(struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		buf_release(&entries->items[i].parameters);
	free(entries->items);
}

/* ---- fields ---- */

static int text_get(const json_t *entry, const char *key, bool needed, const char **text,
		    struct err *err)
{
	const char *value = json_string_value(json_object_get(entry, key));

	if (!value || (needed && !*value))
		return err_set(err, EINVAL, "\"%s\" is missing or no text", key);
	for (const char *p = value; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return err_set(err, EINVAL, "\"%s\" has control characters", key);
	*text = value;
	return 0;
}

static int count_get(const json_t *entry, const char *key, int64_t max, int64_t *count,
		     struct err *err)
{
	const json_t *value = json_object_get(entry, key);

	*count = json_integer_value(value);
	if (!json_is_integer(value) || *count < 0 || *count > max)
		return err_set(err, EINVAL, "\"%s\" is no number from 0 to %lld", key,
			       (long long)max);
	return 0;
}

static int figure_get(const json_t *entry, const char *key, double *figure, struct err *err)
{
	const json_t *value = json_object_get(entry, key);

	*figure = json_number_value(value);
	if (!json_is_number(value) || !isfinite(*figure) || !(*figure > 0))
		return err_set(err, EINVAL, "\"%s\" is no number above 0", key);
	return 0;
}

static int key_read(const json_t *entry, struct knowledge_key *key, struct err *err)
{
	int64_t ranks, size;
	int r = text_get(entry, "program", true, &key->program, err);

	if (r >= 0)
		r = text_get(entry, "fingerprint", false, &key->fingerprint, err);
	if (r >= 0)
		r = text_get(entry, "arguments", false, &key->arguments, err);
	if (r >= 0)
		r = text_get(entry, "platform", true, &key->platform, err);
	if (r >= 0)
		r = text_get(entry, "filesystem", true, &key->filesystem, err);
	if (r >= 0 && filesystem_by_name(key->filesystem) < 0)
		r = err_set(err, EINVAL, "\"filesystem\" %s is none that is known",
			    key->filesystem);
	if (r >= 0)
		r = count_get(entry, "ranks", UINT32_MAX, &ranks, err);
	if (r >= 0)
		r = count_get(entry, "size_class", OUTCOMES_SIZE_CLASSES - 1, &size, err);
	if (r < 0)
		return r;
	key->ranks = (uint32_t)ranks;
	key->size_class = (unsigned)size;
	return 0;
}

static int figures_read(const json_t *entry, struct knowledge *k, struct err *err)
{
	static const char *const keys[] = { "before", "after", "gain", "gain_low", "gain_high" };
	double *const figures[] = { &k->before, &k->after, &k->gain, &k->gain_low, &k->gain_high };

	for (int i = 0; i < 5; i++)
		if (figure_get(entry, keys[i], figures[i], err) < 0)
			return -EINVAL;
	if (k->gain_low > k->gain || k->gain > k->gain_high)
		return err_set(err, EINVAL, "\"gain\" is not between gain_low and gain_high");
	return 0;
}

/* ---- parameters ---- */

/* The first problem is the reason. */
static void problem_keep(void *arg, const struct param *param, bool drop, const char *text)
{
	struct err *err = arg;

	(void)param;
	if (drop && !err->code)
		err_set(err, EINVAL, "%s", text);
}

static int set_check(const struct param_set *set, struct err *err)
{
	struct tunable_context anywhere = { .allowed = TUNABLE_SEMANTICS };
	struct err found = { 0 };

	if (!set->count)
		return err_set(err, EINVAL, "there are no parameters");
	param_set_check(set, &anywhere, problem_keep, &found);
	return found.code ? err_set(err, EINVAL, "%s", found.text) : 0;
}

static int parameters_read(const json_t *entry, struct buf *out, struct err *err)
{
	json_t *document = json_pack("{s:O}", "parameters", json_object_get(entry, "parameters"));
	AUTO_FREE char *text = document ? json_dumps(document, 0) : NULL;
	struct param_set set = { 0 };
	struct err found = { 0 };
	int r;

	json_decref(document);
	if (!text)
		return err_set(err, EINVAL, "\"parameters\" is missing");
	r = param_set_read_text(&set, "parameters", text, strlen(text), problem_keep, &found, err);
	if (r >= 0 && found.code)
		r = err_set(err, EINVAL, "%s", found.text);
	if (r >= 0)
		r = set_check(&set, err);
	if (r >= 0)
		r = param_json.write(&set, out, err);
	param_set_release(&set);
	return r;
}

/* ---- entries ---- */

static int entry_read(const json_t *from, struct entry *entry, struct err *err)
{
	struct knowledge *k = &entry->knowledge;
	int r = key_read(from, &k->key, err);

	if (r >= 0)
		r = text_get(from, "objective", true, &k->objective, err);
	if (r >= 0 && option_choice(COST_WORDS, k->objective, strlen(k->objective)) < 0)
		r = err_set(err, EINVAL, "\"objective\" is none of " COST_WORDS);
	if (r >= 0)
		r = figures_read(from, k, err);
	if (r >= 0)
		r = count_get(from, "found_ns", INT64_MAX, &k->found_ns, err);
	if (r >= 0)
		r = parameters_read(from, &entry->parameters, err);
	k->parameters = buf_text(&entry->parameters);
	k->pinned = json_is_true(json_object_get(from, "pinned"));
	k->study = "";
	return r;
}

static int entries_read(const json_t *root, struct entries *entries, struct err *err)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	const json_t *list = json_object_get(root, "entries"), *from;
	size_t i;

	if (!schema || strcmp(schema, KB_SCHEMA) != 0)
		return err_set(err, EINVAL, "its \"schema\" is not " KB_SCHEMA);
	if (!json_is_array(list))
		return err_set(err, EINVAL, "there is no array \"entries\"");
	entries->items = xcalloc(json_array_size(list) + 1, sizeof(*entries->items));
	json_array_foreach(list, i, from)
	{
		const char *program = NULL;

		entries->count++;
		if (entry_read(from, &entries->items[i], err) >= 0)
			continue;
		/* A name that a terminal would act on is not repeated. */
		if (text_get(from, "program", true, &program, NULL) < 0)
			program = "?";
		return err_prefix(err, "entry %zu (%.40s)", i + 1, program);
	}
	return 0;
}

static int entries_put(struct store *store, const struct entries *entries, struct kb_import *done,
		       struct err *err)
{
	AUTO_FREE const struct knowledge **list = xcalloc(entries->count + 1, sizeof(*list));
	size_t pinned = 0;
	int r;

	for (size_t i = 0; i < entries->count; i++)
		list[i] = &entries->items[i].knowledge;
	r = knowledge_put_all(store, list, entries->count, &pinned, err);
	if (r >= 0)
		*done = (struct kb_import){ (unsigned)(entries->count - pinned), (unsigned)pinned };
	return r;
}

int kb_import(struct store *store, const char *path, struct kb_import *done, struct err *err)
{
	struct entries entries = { 0 };
	json_error_t wrong;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &wrong);
	int r;

	if (!root)
		return wrong.line > 0
			       ? err_set(err, EINVAL, "%s:%d: %s", path, wrong.line, wrong.text)
			       : err_set(err, EINVAL, "%s", wrong.text);
	r = entries_read(root, &entries, err);
	if (r < 0)
		err_prefix(err, "%s", path);
	else
		r = entries_put(store, &entries, done, err);
	entries_release(&entries);
	json_decref(root);
	return r;
}
