/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/plugin_host.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"
#include "contract/hints.h"
#include "contract/knowledge.h"
#include "contract/policy.h"
#include "contract/spool.h"
#include "observe/stats/mount_table.h"
#include "observe/watch/plugins.h"

/* Number of activities to collect for a plug-in that does not receive all layers. */
#define PICK 256

struct listener {
	const struct sluice_plugin *plugin;
	struct plugin_host *plugins;
	size_t index;
	char *name;
	uint32_t layers;
	void *state;
	struct sluice_host host;
	uint64_t notes, notes_left_out;
	char *warning; /* the plug-in's last warning */
	bool is_started;
};

struct plugin_host {
	struct plugin_host_options options;
	struct listener **list; /* pointers, because a plug-in keeps the address of its host */
	size_t count, cap;
	char **files;
	size_t file_count, file_cap;
	struct sluice_process *processes;
	size_t process_count, process_cap;
	int64_t now_ns;
	struct activity *picked;
	struct mount_table mounts; /* of the node; empty until a plug-in asks */
	char *page;		   /* path of the knowledge page; NULL until a plug-in asks */
};

static void set_running(const struct plugin_host *a, int plugin)
{
	if (a->options.running)
		a->options.running(a->options.arg, plugin);
}

static void write_note(struct listener *l, int32_t process, const char *kind, const char *name,
		       const char *value)
{
	const struct plugin_host_options *o = &l->plugins->options;
	struct note row = {
		.time_ns = l->plugins->now_ns,
		.process = process,
		.host = o->run->host,
		.source = l->name,
		.kind = (char *)kind,
		.name = (char *)name,
		.value = (char *)value,
	};

	if (l->notes++ < PLUGIN_HOST_NOTES_MAX)
		o->note(o->arg, &row);
	else
		l->notes_left_out++;
}

/* The page that the daemon of this node serves. */
static const char *site_page(struct plugin_host *a)
{
	AUTO_FREE char *socket = xstrdup(config_text(a->options.config, SETTING_SITE_SOCKET));
	const char *variable = getenv(POLICY_SITE_VARIABLE);

	if (!a->page)
		a->page = place_join(variable && variable[0] == '/' ? variable : dirname(socket),
				     KNOWLEDGE_NAME);
	return a->page;
}

static const char *host_option(void *self, const char *key)
{
	struct listener *l = self;
	const struct config *config = l->plugins->options.config;
	AUTO_FREE char *section = xprintf("plugin.%s", l->name);
	const char *text = config_extra(config, section, key);

	if (!strcmp(key, "page") && !text && !l->plugins->options.replayed)
		return site_page(l->plugins);
	if (!strcmp(key, "model") && !text && !l->plugins->options.replayed)
		return config_text(config, SETTING_MODEL_PATH);
	if (strcmp(key, "store") != 0)
		return text;
	if (l->plugins->options.replayed)
		return NULL;
	/* All built-in plug-ins share one store. */
	if (!text)
		text = config_text(config, SETTING_STORE_PATH);
	return text;
}

static const struct call_info *host_call(void *self, uint32_t number)
{
	const struct plugin_host_options *o = &((struct listener *)self)->plugins->options;

	return number < o->call_count ? &o->calls[number] : NULL;
}

static const char *host_file(void *self, file_id id)
{
	const struct plugin_host *a = ((struct listener *)self)->plugins;

	if (!id)
		return "";
	return id < a->file_count ? a->files[id] : NULL;
}

/* A replayed trace may be of another machine. */
static const char *host_filesystem(void *self, file_id id)
{
	struct plugin_host *a = ((struct listener *)self)->plugins;
	const char *path = host_file(self, id);

	if (!path || path[0] != '/' || a->options.replayed)
		return "";
	if (!a->mounts.count)
		mount_table_load(&a->mounts);
	return mount_table_find(&a->mounts, path);
}

static const struct sluice_process *host_process(void *self, uint32_t index)
{
	const struct plugin_host *a = ((struct listener *)self)->plugins;

	return index < a->process_count && a->processes[index].host ? &a->processes[index] : NULL;
}

static const char *host_user(void *self)
{
	return ((struct listener *)self)->plugins->options.run->user;
}

static const char *host_run(void *self)
{
	return ((struct listener *)self)->plugins->options.run->uuid;
}

static int64_t host_now(void *self)
{
	return ((struct listener *)self)->plugins->now_ns;
}

static void host_text(void *self, int32_t process, const char *group, const char *field,
		      const char *value)
{
	AUTO_FREE char *name = xprintf("%s/%s", group, field);

	write_note(self, process, NOTE_REPORT, name, value);
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
	/* A warning before a failed start becomes part of the error. */
	if (l->is_started)
		write_note(l, -1, NOTE_DEGRADED, NOTE_WARNING, text);
}

static bool hints_are_changeable(const char *hints)
{
	char key[SLUICE_KEY_BYTES], value[SLUICE_VALUE_BYTES];

	if (!*hints || strlen(hints) >= SUGGESTION_HINTS_BYTES)
		return false;
	while (hints_next(&hints, key, sizeof(key), value, sizeof(value)))
		if (hints_change_index(key) < 0 || !hints_is_safe(key, value, false))
			return false;
	return true;
}

static int host_suggest(void *self, const struct sluice_suggestion *from)
{
	struct suggestion *table = ((struct listener *)self)->plugins->options.control->suggestions;
	int i = 0;

	if (!hints_are_changeable(from->hints))
		return -EINVAL;
	while (i < SUGGESTIONS && atomic_load(&table[i].state) != SUGGESTION_FREE)
		i++;
	if (i == SUGGESTIONS)
		return -ENOSPC;
	table[i].is_write = from->is_write;
	table[i].ranks = from->ranks;
	table[i].bytes = from->bytes;
	table[i].span = from->span;
	table[i].opened = suggestion_hash(from->opened);
	strcpy(table[i].hints, from->hints);
	/* Publishes the row; pairs with the acquire in suggested_find(). */
	atomic_store_explicit(&table[i].state, SUGGESTION_VALID, memory_order_release);
	return i;
}

static void host_withdraw(void *self, int number)
{
	struct control *control = ((struct listener *)self)->plugins->options.control;

	if (number >= 0 && number < SUGGESTIONS)
		atomic_store(&control->suggestions[number].state, SUGGESTION_WITHDRAWN);
}

static void host_applied(void *self, const char *name, const char *value)
{
	write_note(self, -1, NOTE_APPLIED, name, value);
}

struct plugin_host *plugin_host_new(const struct plugin_host_options *options)
{
	struct plugin_host *a = xcalloc(1, sizeof(*a));

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

void plugin_host_free(struct plugin_host *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->count; i++) {
		const struct sluice_async *hooks = a->list[i]->plugin->async;

		set_running(a, (int)i);
		if (hooks->stop)
			hooks->stop(a->list[i]->state);
		set_running(a, -1);
		listener_free(a->list[i]);
	}
	for (size_t i = 0; i < a->file_count; i++)
		free(a->files[i]);
	for (size_t i = 0; i < a->process_count; i++)
		process_release(&a->processes[i]);
	free(a->files);
	mount_table_release(&a->mounts);
	free(a->page);
	free(a->processes);
	free(a->picked);
	free(a->list);
	free(a);
}

static bool has_guest_part(const struct sluice_plugin *plugin)
{
	size_t i = 0;

	while (plugin_builtin[i] && plugin_builtin[i] != plugin)
		i++;
	return plugin_builtin[i] && plugin_guest_find(plugin->name);
}

static struct listener *listener_new(struct plugin_host *a, const struct sluice_plugin *plugin,
				     const char *name, uint32_t layers)
{
	struct listener *l = xcalloc(1, sizeof(*l));

	*l = (struct listener){ .plugin = plugin,
				.plugins = a,
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
		.filesystem = host_filesystem,
	};
	if (a->options.control && has_guest_part(plugin)) {
		l->host.suggest = host_suggest;
		l->host.withdraw = host_withdraw;
		l->host.applied = host_applied;
	}
	return l;
}

int plugin_host_add(struct plugin_host *a, const struct sluice_plugin *plugin, const char *name,
		    uint32_t layers, struct err *err)
{
	struct listener *l = listener_new(a, plugin, name, layers);
	int r = 0;

	set_running(a, (int)a->count);
	if (plugin->async->start)
		r = plugin->async->start(&l->host, &l->state);
	set_running(a, -1);
	if (r < 0) {
		r = err_set(err, -r, "plug-in %s failed to start: %s", name,
			    l->warning ? l->warning : strerror(-r));
		listener_free(l);
		return r;
	}
	a->list = xgrow(a->list, &a->cap, a->count + 1, sizeof(struct listener *));
	a->list[a->count++] = l;
	l->is_started = true;
	if (l->warning)
		write_note(l, -1, NOTE_DEGRADED, NOTE_WARNING, l->warning);
	return 0;
}

size_t plugin_host_count(const struct plugin_host *a)
{
	return a->count;
}

void plugin_host_file(struct plugin_host *a, file_id id, const char *path)
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

void plugin_host_process(struct plugin_host *a, const struct process_info *p)
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

/* Passes only the activities of its layers, in pieces. */
static void pass_selected(struct plugin_host *a, struct listener *l, const struct activity *batch,
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

void plugin_host_activities(struct plugin_host *a, const struct activity *batch, size_t n)
{
	uint32_t layers = 0;

	for (size_t i = 0; i < n; i++) {
		layers |= UINT32_C(1) << batch[i].layer;
		plugin_host_time(a, batch[i].start_ns + batch[i].duration_ns);
	}
	for (size_t i = 0; i < a->count; i++) {
		struct listener *l = a->list[i];

		set_running(a, (int)i);
		if ((layers & l->layers) == layers)
			l->plugin->async->batch(l->state, batch, n);
		else if (layers & l->layers)
			pass_selected(a, l, batch, n);
	}
	set_running(a, -1);
}

void plugin_host_time(struct plugin_host *a, int64_t now_ns)
{
	if (now_ns > a->now_ns)
		a->now_ns = now_ns;
}

void plugin_host_tick(struct plugin_host *a)
{
	for (size_t i = 0; i < a->count; i++) {
		set_running(a, (int)i);
		if (a->list[i]->plugin->async->tick)
			a->list[i]->plugin->async->tick(a->list[i]->state, a->now_ns);
	}
	set_running(a, -1);
}

bool plugin_host_is_detector(const struct plugin_host *a, size_t plugin)
{
	return a->list[plugin]->plugin->async->health != NULL;
}

bool plugin_host_health(struct plugin_host *a, size_t plugin, uint32_t process,
			struct sluice_health *health)
{
	const struct listener *l = a->list[plugin];
	bool had;

	set_running(a, (int)plugin);
	had = l->plugin->async->health(l->state, process, health);
	set_running(a, -1);
	return had;
}

void plugin_host_report(struct plugin_host *a)
{
	for (size_t i = 0; i < a->count; i++) {
		struct listener *l = a->list[i];
		char text[32];

		set_running(a, (int)i);
		if (l->plugin->async->report)
			l->plugin->async->report(l->state);
		if (!l->notes_left_out)
			continue;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)l->notes_left_out);
		l->notes = 0;
		write_note(l, -1, NOTE_DEGRADED, "report lines dropped", text);
	}
	set_running(a, -1);
}
