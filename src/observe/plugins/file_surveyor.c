/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/plugins/file_surveyor.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/tally/names.h"

/*
 * Keys sort by layer, then file, then process: 8 bits for the layer + 1, 32 for the file, 24 for
 * the process.
 */
#define KEY_PROCESS_BITS 24
#define KEY_FILE_BITS 32
#define KEY_PROCESS_MASK ((UINT64_C(1) << KEY_PROCESS_BITS) - 1)

static uint64_t key_make(unsigned layer, file_id file, uint32_t process)
{
	return ((uint64_t)(layer + 1) << KEY_FILE_BITS | file) << KEY_PROCESS_BITS | process;
}

static unsigned key_layer(uint64_t key)
{
	return (unsigned)(key >> (KEY_FILE_BITS + KEY_PROCESS_BITS)) - 1;
}

static file_id key_file(uint64_t key)
{
	return (file_id)(key >> KEY_PROCESS_BITS);
}

/* NULL if the process number does not fit the key. */
static struct survey *get_survey(void *arg, const struct activity *a, file_id file)
{
	struct file_surveyor *s = arg;
	struct survey *survey;
	uint64_t key;

	if (a->process > KEY_PROCESS_MASK)
		return NULL;
	key = key_make(a->layer, file, a->process);
	survey = map_get(&s->surveys, key);
	if (!survey) {
		survey = xcalloc(1, sizeof(*survey));
		map_put(&s->surveys, key, survey);
	}
	return survey;
}

static int32_t get_parent(void *arg, uint32_t process)
{
	const struct file_surveyor *s = arg;
	const struct sluice_process *p = s->host->process(s->host->self, process);

	return p ? p->parent : -1;
}

static const struct surveyor_ops ops = { get_survey, get_parent };

void file_surveyor_init(struct file_surveyor *surveyor, const struct sluice_host *host)
{
	*surveyor = (struct file_surveyor){ .host = host };
	surveyor_init(&surveyor->core, &ops, surveyor);
}

void file_surveyor_release(struct file_surveyor *surveyor)
{
	for (size_t i = 0; i < surveyor->surveys.cap; i++) {
		if (!surveyor->surveys.entries[i].key)
			continue;
		survey_release(surveyor->surveys.entries[i].value);
		free(surveyor->surveys.entries[i].value);
	}
	map_release(&surveyor->surveys);
	surveyor_release(&surveyor->core);
	nest_release(&surveyor->nest);
	*surveyor = (struct file_surveyor){ 0 };
}

static bool is_covered(struct file_surveyor *s, const struct activity *a, const char *name)
{
	const struct nest_call *enclosing;
	size_t depth = nest_enter(&s->nest, a, &enclosing);

	for (size_t i = 0; i < depth; i++) {
		if (s->host->call(s->host->self, enclosing[i].call)->class == CLASS_PROCESS)
			return true;
		if (enclosing[i].layer == a->layer && enclosing[i].file == a->file)
			return true;
	}
	return a->layer == LAYER_NETWORK || (a->file && !names_is_file(name));
}

void file_surveyor_add(struct file_surveyor *surveyor, const struct activity *activity)
{
	const struct sluice_host *host = surveyor->host;
	const struct call_info *call = host->call(host->self, activity->call);
	const char *name = host->file(host->self, activity->file);

	if (!call || !name || activity->layer >= LAYER_COUNT)
		return;
	surveyor_add(&surveyor->core, activity, call, is_covered(surveyor, activity, name));
}

static int compare_keys(const void *a, const void *b)
{
	const struct map_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

void file_surveyor_list(const struct file_surveyor *surveyor, survey_seen seen, void *arg)
{
	const struct map *map = &surveyor->surveys;
	AUTO_FREE struct map_entry *entries = xcalloc(map->count + 1, sizeof(*entries));
	size_t n = 0;

	for (size_t i = 0; i < map->cap; i++) {
		if (map->entries[i].key)
			entries[n++] = map->entries[i];
	}
	qsort(entries, n, sizeof(*entries), compare_keys);
	for (size_t i = 0; i < n; i++)
		seen(arg, key_layer(entries[i].key), key_file(entries[i].key),
		     (uint32_t)(entries[i].key & KEY_PROCESS_MASK), entries[i].value);
}

struct parts {
	const struct ranks *ranks;
	struct survey_part *list;
	size_t count, cap;
};

/* Leaves out processes that belong to no rank. */
static void part_add(void *arg, unsigned layer, file_id file, uint32_t process,
		     const struct survey *survey)
{
	struct parts *parts = arg;
	bool ranked = parts->ranks && parts->ranks->count;
	int32_t rank = ranked ? ranks_of_process(parts->ranks, process) : -1;

	if (ranked && rank < 0)
		return;
	parts->list = xgrow(parts->list, &parts->cap, parts->count + 1, sizeof(*parts->list));
	parts->list[parts->count++] = (struct survey_part){
		.layer = layer,
		.file = file,
		.member = ranked ? parts->ranks->list[rank].number : (int32_t)process,
		.survey = survey,
	};
}

struct survey_row *file_surveyor_rows(const struct file_surveyor *surveyor,
				      const struct ranks *ranks, size_t *count)
{
	struct parts parts = { .ranks = ranks };
	struct survey_row *rows;

	file_surveyor_list(surveyor, part_add, &parts);
	rows = survey_rows_new(parts.list, parts.count, count);
	free(parts.list);
	return rows;
}
