/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/replay.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/watch/plugin_host.h"
#include "observe/watch/plugins.h"

#define BATCH 1024
#define TICK_NS 100000000

static int plugin_start(struct plugin_host *plugins, const struct plugin_choice *choice,
			struct err *err)
{
	const struct sluice_plugin *plugin;

	if (choice->refusal)
		return err_set(err, EINVAL, "%s", choice->refusal);
	plugin = plugin_load(choice, err);
	if (!plugin)
		return -err->code;
	return plugin_host_add(plugins, plugin, choice->short_name, choice->layers, err);
}

/* In-line parts of a plug-in are skipped. */
static int plugins_start(struct plugin_host *plugins, const struct plugin_choices *choices,
			 struct err *err)
{
	for (size_t i = 0; i < choices->count; i++) {
		const struct plugin_choice *choice = &choices->list[i];
		int r = choice->kind == SLUICE_INLINE ? 0 : plugin_start(plugins, choice, err);

		if (r < 0)
			return r;
	}
	if (!plugin_host_count(plugins))
		return err_set(err, EINVAL, "no asynchronous plug-in is given");
	return 0;
}

static void pass_facts(struct plugin_host *plugins, const struct trace_head *head)
{
	for (size_t i = 0; i < head->file_count; i++)
		plugin_host_file(plugins, (file_id)i, head->files[i]);
	for (size_t i = 0; i < head->process_count; i++)
		plugin_host_process(plugins, &head->processes[i]);
}

static int pass_activities(struct plugin_host *plugins, struct trace *trace, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	int64_t due_ns = TICK_NS;
	ssize_t n;

	while ((n = trace_next(trace, batch, BATCH, err)) > 0) {
		plugin_host_activities(plugins, batch, (size_t)n);
		if (batch[n - 1].start_ns < due_ns)
			continue;
		/* One tick for all the time that has passed is enough. */
		plugin_host_tick(plugins);
		due_ns = batch[n - 1].start_ns + TICK_NS;
	}
	return (int)n;
}

int replay_trace(struct trace *trace, const struct replay_options *o, struct err *err)
{
	struct plugin_choices choices = { 0 };
	struct plugin_host_options options = {
		.config = o->config,
		.run = &trace->head.run,
		.calls = trace->head.calls,
		.call_count = trace->head.call_count,
		.arg = o->arg,
		.note = o->note,
		.replayed = true,
	};
	struct plugin_host *plugins = plugin_host_new(&options);
	int r;

	plugin_choices_add(&choices, o->plugins, PLUGIN_ALL_LAYERS, o->origin);
	r = plugins_start(plugins, &choices, err);
	if (r >= 0) {
		pass_facts(plugins, &trace->head);
		r = pass_activities(plugins, trace, err);
	}
	if (r >= 0) {
		plugin_host_time(plugins, trace->head.end.duration_ns);
		plugin_host_report(plugins);
	}
	plugin_host_free(plugins);
	plugin_choices_release(&choices);
	return r;
}
