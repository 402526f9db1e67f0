/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/audience.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"

/* Activities that are picked at a time for a plug-in that does not see all layers. */
#define PICK 256

struct listener {
	const struct sluice_plugin *plugin;
	struct audience *audience;
	size_t index;
	char *name;
	uint32_t layers;
	void *state;
	struct sluice_host host;
	uint64_t notes, notes_left_out;
	char *warning; /* the last that it gave */
	bool is_started;
};

struct audience {
	struct audience_options options;
	struct listener **list; /* pointers: a plug-in keeps that of its host */
	size_t count, cap;
	char **files;
	size_t file_count, file_cap;
	struct sluice_process *processes;
	size_t process_count, process_cap;
	int64_t now_ns;
	struct activity *picked;
};

static void turn(const struct audience *a, int plugin)
{
	if (a->options.turn)
		a->options.turn(a->options.arg, plugin);
}

static void note(struct listener *l, int32_t process, const char *kind, const char *name,
		 const char *value)
{
	const struct audience_options *o = &l->audience->options;
	struct note row = {
		.time_ns = l->audience->now_ns,
		.process = process,
		.host = o->run->host,
		.source = l->name,
		.kind = (char *)kind,
		.name = (char *)name,
		.value = (char *)value,
	};

	if (l->notes++ < AUDIENCE_NOTES_MAX)
		o->note(o->arg, &row);
	else
		l->notes_left_out++;
}

/* ---- what plug-ins may ask ---- */

static const char *host_option(void *self, const char *key)
{
	struct listener *l = self;
	const struct config *config = l->audience->options.config;
	AUTO_FREE char *section = xprintf("plugin.%s", l->name);
	const char *text = config_extra(config, section, key);

	if (strcmp(key, "store") != 0)
		return text;
	if (l->audience->options.replayed)
		return NULL;
	/* What all plug-ins of ours know of each other is in one place. */
	if (!text)
		text = config_text(config, SETTING_STORE_PATH);
	return text;
}

static const struct call_info *host_call(void *self, uint32_t number)
{
	const struct audience_options *o = &((struct listener *)self)->audience->options;

	return number < o->call_count ? &o->calls[number] : NULL;
}

static const char *host_file(void *self, file_id id)
{
	const struct audience *a = ((struct listener *)self)->audience;

	if (!id)
		return "";
	return id < a->file_count ? a->files[id] : NULL;
}

static const struct sluice_process *host_process(void *self, uint32_t index)
{
	const struct audience *a = ((struct listener *)self)->audience;

	return index < a->process_count && a->processes[index].host ? &a->processes[index] : NULL;
}

static const char *host_user(void *self)
{
	return ((struct listener *)self)->audience->options.run->user;
}

static const char *host_run(void *self)
{
	return ((struct listener *)self)->audience->options.run->uuid;
}

static int64_t host_now(void *self)
{
	return ((struct listener *)self)->audience->now_ns;
}

static void host_text(void *self, int32_t process, const char *group, const char *field,
		      const char *value)
{
	AUTO_FREE char *name = xprintf("%s/%s", group, field);

	note(self, process, NOTE_REPORT, name, value);
}

static void host_number(void *self, int32_t process, const char *group, const char *field,
			double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.17g", value);
	host_text(self, process, group, field, text);
}

static void host_warn(void *self, const char *text)
{
	struct listener *l = self;

	free(l->warning);
	l->warning = xstrdup(text);
	/* What is said before a refusal is its reason. */
	if (l->is_started)
		note(l, -1, NOTE_DEGRADED, NOTE_WARNING, text);
}

/* ---- the audience ---- */

struct audience *audience_new(const struct audience_options *options)
{
	struct audience *a = xcalloc(1, sizeof(*a));

	a->options = *options;
	a->picked = xcalloc(PICK, sizeof(*a->picked));
	return a;
}

static void listener_free(struct listener *l)
{
	free(l->name);
	free(l->warning);
	free(l);
}

static void process_release(struct sluice_process *p)
{
	free((char *)p->host);
	free((char *)p->program);
	free((char *)p->command);
}

void audience_free(struct audience *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->count; i++) {
		const struct sluice_async *hooks = a->list[i]->plugin->async;

		turn(a, (int)i);
		if (hooks->stop)
			hooks->stop(a->list[i]->state);
		turn(a, -1);
		listener_free(a->list[i]);
	}
	for (size_t i = 0; i < a->file_count; i++)
		free(a->files[i]);
	for (size_t i = 0; i < a->process_count; i++)
		process_release(&a->processes[i]);
	free(a->files);
	free(a->processes);
	free(a->picked);
	free(a->list);
	free(a);
}

static struct listener *listener_new(struct audience *a, const struct sluice_plugin *plugin,
				     const char *name, uint32_t layers)
{
	struct listener *l = xcalloc(1, sizeof(*l));

	*l = (struct listener){ .plugin = plugin,
				.audience = a,
				.index = a->count,
				.name = xstrdup(name),
				.layers = layers };
	l->host = (struct sluice_host){
		.bytes = sizeof(struct sluice_host),
		.self = l,
		.option = host_option,
		.call = host_call,
		.file = host_file,
		.process = host_process,
		.user = host_user,
		.run = host_run,
		.now_ns = host_now,
		.number = host_number,
		.text = host_text,
		.warn = host_warn,
	};
	return l;
}

int audience_add(struct audience *a, const struct sluice_plugin *plugin, const char *name,
		 uint32_t layers, struct err *err)
{
	struct listener *l = listener_new(a, plugin, name, layers);
	int r = 0;

	turn(a, (int)a->count);
	if (plugin->async->start)
		r = plugin->async->start(&l->host, &l->state);
	turn(a, -1);
	if (r < 0) {
		r = err_set(err, -r, "plug-in %s does not start: %s", name,
			    l->warning ? l->warning : strerror(-r));
		listener_free(l);
		return r;
	}
	a->list = xgrow(a->list, &a->cap, a->count + 1, sizeof(struct listener *));
	a->list[a->count++] = l;
	l->is_started = true;
	if (l->warning)
		note(l, -1, NOTE_DEGRADED, NOTE_WARNING, l->warning);
	return 0;
}

size_t audience_count(const struct audience *a)
{
	return a->count;
}

const char *audience_name(const struct audience *a, size_t plugin)
{
	return a->list[plugin]->name;
}

void audience_file(struct audience *a, file_id id, const char *path)
{
	size_t need = (size_t)id + 1;

	if (need > a->file_count) {
		a->files = xgrow(a->files, &a->file_cap, need, sizeof(*a->files));
		while (a->file_count < need)
			a->files[a->file_count++] = NULL;
	}
	free(a->files[id]);
	a->files[id] = xstrdup(path);
}

void audience_process(struct audience *a, const struct process_info *p)
{
	size_t need = (size_t)p->index + 1;

	if (need > a->process_count) {
		a->processes = xgrow(a->processes, &a->process_cap, need, sizeof(*a->processes));
		while (a->process_count < need)
			a->processes[a->process_count++] = (struct sluice_process){ 0 };
	}
	process_release(&a->processes[p->index]);
	a->processes[p->index] = (struct sluice_process){
		.index = p->index,
		.pid = p->pid,
		.rank = p->rank,
		.parent = p->parent,
		.host = xstrdup(p->host ? p->host : ""),
		.program = xstrdup(p->program ? p->program : ""),
		.command = xstrdup(p->command ? p->command : ""),
	};
}

/* Only the activities of its layers, in pieces. */
static void picked_give(struct audience *a, struct listener *l, const struct activity *batch,
			size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(l->layers >> batch[i].layer & 1))
			continue;
		a->picked[count++] = batch[i];
		if (count == PICK) {
			l->plugin->async->batch(l->state, a->picked, count);
			count = 0;
		}
	}
	if (count)
		l->plugin->async->batch(l->state, a->picked, count);
}

void audience_activities(struct audience *a, const struct activity *batch, size_t n)
{
	uint32_t layers = 0;

	for (size_t i = 0; i < n; i++) {
		layers |= UINT32_C(1) << batch[i].layer;
		audience_time(a, batch[i].start_ns + batch[i].duration_ns);
	}
	for (size_t i = 0; i < a->count; i++) {
		struct listener *l = a->list[i];

		turn(a, (int)i);
		if ((layers & l->layers) == layers)
			l->plugin->async->batch(l->state, batch, n);
		else if (layers & l->layers)
			picked_give(a, l, batch, n);
	}
	turn(a, -1);
}

void audience_time(struct audience *a, int64_t now_ns)
{
	if (now_ns > a->now_ns)
		a->now_ns = now_ns;
}

void audience_tick(struct audience *a)
{
	for (size_t i = 0; i < a->count; i++) {
		turn(a, (int)i);
		if (a->list[i]->plugin->async->tick)
			a->list[i]->plugin->async->tick(a->list[i]->state, a->now_ns);
	}
	turn(a, -1);
}

bool audience_is_detector(const struct audience *a, size_t plugin)
{
	return a->list[plugin]->plugin->async->health != NULL;
}

bool audience_health(struct audience *a, size_t plugin, uint32_t process,
		     struct sluice_health *health)
{
	const struct listener *l = a->list[plugin];
	bool had;

	turn(a, (int)plugin);
	had = l->plugin->async->health(l->state, process, health);
	turn(a, -1);
	return had;
}

void audience_report(struct audience *a)
{
	for (size_t i = 0; i < a->count; i++) {
		struct listener *l = a->list[i];
		char text[32];

		turn(a, (int)i);
		if (l->plugin->async->report)
			l->plugin->async->report(l->state);
		if (!l->notes_left_out)
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)l->notes_left_out);
		l->notes = 0;
		note(l, -1, NOTE_DEGRADED, "report lines left out", text);
	}
	turn(a, -1);
}
