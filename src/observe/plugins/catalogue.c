/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-14.
 */
#include "observe/plugins/catalogue.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "store/catalog.h"
#include "trace/facts.h"

#define CALLS_MAX 65536 /* activity.call has 16 bits */
#define DEVICES "/sys/block"

/* A hint set with which a process opened a file. */
struct hint_set {
	uint32_t process;
	file_id hints;
};

struct catalogue {
	const struct sluice_host *host;
	char *store;
	char node[256];
	uint8_t used[CALLS_MAX]; /* for each call, one bit per layer */
	bool processes[CATALOGUE_PROCESSES_MAX];
	struct hint_set sets[CATALOGUE_HINT_SETS_MAX]; /* distinct sets in order of arrival */
	size_t set_count;
	struct map attributes; /* ids of the attributes that this run used */
	unsigned calls, devices;
};

/* Type of a field. Fields without a name are not attributes. */
static const char *field_type(enum field field)
{
	switch (field) {
	case FIELD_SIZE:
	case FIELD_OFFSET:
	case FIELD_SPAN:
		return "bytes";
	case FIELD_PATH:
	case FIELD_PATH2:
	case FIELD_NAME:
	case FIELD_HINTS:
		return "text";
	case FIELD_FLAGS:
	case FIELD_MODE:
		return "bits";
	default:
		return "number";
	}
}

/* Name of a field in records of this class. Sizes and results of transfers have their own names. */
static const char *attribute_name(enum field field, enum call_class class)
{
#define SIZE_NAME(name, text, size, result) size,
#define RESULT_NAME(name, text, size, result) result,
#define FIELD_NAME(name, text) text,
	static const char *const sizes[] = { CLASS_LIST(SIZE_NAME) };
	static const char *const results[] = { CLASS_LIST(RESULT_NAME) };
	static const char *const names[] = { FIELD_LIST(FIELD_NAME) };
#undef SIZE_NAME
#undef RESULT_NAME
#undef FIELD_NAME

	if (field == FIELD_SIZE && sizes[class])
		return sizes[class];
	if (field == FIELD_RESULT && results[class])
		return results[class];
	return names[field];
}

static int attribute_put(struct catalogue *c, struct store *store, const char *layer,
			 const struct call_info *call, enum field field, struct err *err)
{
	const char *name = attribute_name(field, call->class);
	bool is_bytes = name && strncmp(name, "quantity/", strlen("quantity/")) == 0;
	int64_t id;

	if (!name)
		return 0;
	id = catalog_attribute(store, layer, name, is_bytes ? "bytes" : field_type(field), err);
	if (id > 0)
		map_put(&c->attributes, (uint64_t)id, c);
	return id < 0 ? (int)id : 0;
}

static int call_put(struct catalogue *c, struct store *store, unsigned number, unsigned layer,
		    struct err *err)
{
	const struct call_info *call = c->host->call(c->host->self, number);
	int64_t id = catalog_thing(store, THING_LAYER, 0, layer_name(layer), err);
	int r = 0;

	if (id > 0)
		id = catalog_thing(store, THING_CALL, id, call->name, err);
	if (id < 0)
		return (int)id;
	c->calls++;
	/* Every record has a result. */
	r = attribute_put(c, store, layer_name(layer), call, FIELD_RESULT, err);
	for (size_t i = 0; r >= 0 && i < call->field_count; i++)
		r = attribute_put(c, store, layer_name(layer), call, call->fields[i], err);
	return r;
}

static int calls_put(struct catalogue *c, struct store *store, struct err *err)
{
	int r = 0;

	for (unsigned number = 0; number < CALLS_MAX; number++) {
		for (unsigned layer = 0; c->used[number] >> layer; layer++) {
			if (c->used[number] >> layer & 1)
				r = call_put(c, store, number, layer, err);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Unused device nodes, such as free loop devices, have size 0. */
static bool device_has_media(const char *name)
{
	AUTO_FREE char *path = xprintf(DEVICES "/%s/size", name);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	uint64_t sectors = 0;

	return f && fscanf(f, "%" SCNu64, &sectors) == 1 && sectors > 0;
}

static int node_put(struct catalogue *c, struct store *store, struct err *err)
{
	int64_t node = catalog_thing(store, THING_NODE, 0, c->node, err), id = 0;
	DIR *dir = node > 0 ? opendir(DEVICES) : NULL;
	struct dirent *entry;

	while (id >= 0 && dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !device_has_media(entry->d_name))
			continue;
		id = catalog_thing(store, THING_DEVICE, node, entry->d_name, err);
		c->devices++;
	}
	if (dir)
		closedir(dir);
	return node < 0 ? (int)node : id < 0 ? (int)id : 0;
}

static int fact_put(struct catalogue *c, struct store *store, int32_t process, const char *key,
		    const char *value, struct err *err)
{
	if (!value || !*value)
		return 0;
	return catalog_fact_set(store, c->host->run(c->host->self), process, key, value, err);
}

/* Returns the job id of the batch system: the first of these variables that is set. */
static const char *job_id(void)
{
	static const char *const names[] = { "SLURM_JOB_ID", "PBS_JOBID",   "LSB_JOBID",
					     "COBALT_JOBID", "FLUX_JOB_ID", "JOB_ID" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

static int put_start_facts(struct catalogue *c, struct store *store, struct err *err)
{
	char started[32];
	int r;

	snprintf(started, sizeof(started), "%lld", (long long)(clock_realtime_ns() / NS_PER_S));
	r = fact_put(c, store, -1, "started", started, err);
	if (r >= 0)
		r = fact_put(c, store, -1, "user", c->host->user(c->host->self), err);
	if (r >= 0)
		r = fact_put(c, store, -1, "host", c->node, err);
	if (r >= 0)
		r = fact_put(c, store, -1, "job", job_id(), err);
	return r;
}

static int process_put(struct catalogue *c, struct store *store, const struct sluice_process *p,
		       struct err *err)
{
	int32_t index = (int32_t)p->index;
	char text[16];
	int r = fact_put(c, store, index, "program", p->program, err);

	if (r >= 0)
		r = fact_put(c, store, index, "command", p->command, err);
	if (r >= 0)
		r = fact_put(c, store, index, "host", p->host, err);
	if (r < 0 || p->rank < 0)
		return r;
	snprintf(text, sizeof(text), "%d", p->rank);
	return fact_put(c, store, index, "rank", text, err);
}

static int processes_put(struct catalogue *c, struct store *store, struct err *err)
{
	const struct sluice_process *first = NULL;
	int32_t ranks = 0;
	char text[16];
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < CATALOGUE_PROCESSES_MAX; i++) {
		const struct sluice_process *p =
			c->processes[i] ? c->host->process(c->host->self, i) : NULL;

		if (!p)
			continue;
		first = first ? first : p;
		ranks = p->rank >= ranks ? p->rank + 1 : ranks;
		r = process_put(c, store, p, err);
	}
	if (r >= 0 && first)
		r = fact_put(c, store, -1, "program", first->program, err);
	if (r >= 0 && first)
		r = fact_put(c, store, -1, "command", first->command, err);
	if (r < 0 || !ranks)
		return r;
	snprintf(text, sizeof(text), "%d", ranks);
	return fact_put(c, store, -1, "ranks", text, err);
}

/* The first set of a process has the key "hints", the next ones "hints/2" and so on. */
static int hints_put(struct catalogue *c, struct store *store, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < c->set_count; i++) {
		const struct hint_set *set = &c->sets[i];
		unsigned number = 1;
		char key[32] = "hints";

		for (size_t j = 0; j < i; j++)
			number += c->sets[j].process == set->process;
		if (number > 1)
			snprintf(key, sizeof(key), "hints/%u", number);
		r = fact_put(c, store, (int32_t)set->process, key,
			     c->host->file(c->host->self, set->hints), err);
	}
	return r;
}

static int put_end_facts(struct catalogue *c, struct store *store, struct err *err)
{
	int r = calls_put(c, store, err);

	if (r >= 0)
		r = node_put(c, store, err);
	if (r >= 0)
		r = processes_put(c, store, err);
	if (r >= 0)
		r = hints_put(c, store, err);
	if (r >= 0)
		r = catalog_keep_runs(store, CATALOGUE_RUNS_KEPT, err);
	return r;
}

/* Runs `put` in one transaction. After a failure it warns once and does not use the store again. */
static void store_put(struct catalogue *c,
		      int (*put)(struct catalogue *, struct store *, struct err *))
{
	struct store *store = NULL;
	struct err err = { 0 };
	int r;

	if (!c->store)
		return;
	r = store_open(&store, c->store, &err);
	if (r >= 0)
		r = store_begin(store, &err);
	if (r >= 0) {
		r = put(c, store, &err);
		if (r < 0)
			store_end(store, 0, NULL);
		else
			r = store_end(store, 1, &err);
	}
	store_close(store);
	if (r < 0) {
		c->host->warn(c->host->self, err.text);
		free(c->store);
		c->store = NULL;
	}
}

static int catalogue_start(const struct sluice_host *host, void **state)
{
	const char *store = host->option(host->self, "store");
	struct catalogue *c;

	if (!store || !*store) {
		host->warn(host->self,
			   "plugin.catalogue.store: no store is configured; set store.path");
		return -EINVAL;
	}
	c = xcalloc(1, sizeof(*c));
	c->host = host;
	c->store = xstrdup(store);
	if (gethostname(c->node, sizeof(c->node) - 1) != 0)
		c->node[0] = 0;
	store_put(c, put_start_facts);
	*state = c;
	return 0;
}

static void remember_hints(struct catalogue *c, const struct activity *a)
{
	for (size_t i = 0; i < c->set_count; i++) {
		if (c->sets[i].process == a->process && c->sets[i].hints == a->hints)
			return;
	}
	if (c->set_count < CATALOGUE_HINT_SETS_MAX)
		c->sets[c->set_count++] = (struct hint_set){ a->process, a->hints };
}

static void catalogue_batch(void *state, const struct activity *activities, size_t count)
{
	struct catalogue *c = state;

	for (size_t i = 0; i < count; i++) {
		const struct activity *a = &activities[i];

		c->used[a->call] |= (uint8_t)(1u << a->layer);
		if (a->process < CATALOGUE_PROCESSES_MAX)
			c->processes[a->process] = true;
		if ((a->present & PRESENT(HINTS)) && a->hints)
			remember_hints(c, a);
	}
}

static void catalogue_report(void *state)
{
	struct catalogue *c = state;
	const struct sluice_host *host = c->host;

	store_put(c, put_end_facts);
	if (!c->store)
		return;
	host->number(host->self, -1, "registered", "calls", c->calls);
	host->number(host->self, -1, "registered", "attributes", (double)c->attributes.count);
	host->number(host->self, -1, "registered", "devices", c->devices);
}

static void catalogue_stop(void *state)
{
	struct catalogue *c = state;

	map_release(&c->attributes);
	free(c->store);
	free(c);
}

static const struct sluice_async catalogue = {
	.start = catalogue_start,
	.batch = catalogue_batch,
	.report = catalogue_report,
	.stop = catalogue_stop,
};

const struct sluice_plugin plugin_catalogue = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "catalogue",
	.help = "registers layers, calls, attributes, devices and the facts of the run in the "
		"store",
	.async = &catalogue,
};
