/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/watch/replay.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "observe/watch/audience.h"
#include "observe/watch/plugins.h"

#define BATCH 1024
#define TICK_NS 100000000

static int plugin_start(struct audience *audience, const struct plugin_choice *choice,
			struct err *err)
{
	const struct sluice_plugin *plugin;

	if (choice->refusal)
		return err_set(err, EINVAL, "%s", choice->refusal);
	plugin = plugin_load(choice, err);
	if (!plugin)
		return -err->code;
	return audience_add(audience, plugin, choice->short_name, choice->layers, err);
}

/* Those of a name with two halves that are in-line have nothing to do here. */
static int plugins_start(struct audience *audience, const struct plugin_choices *choices,
			 struct err *err)
{
	for (size_t i = 0; i < choices->count; i++) {
		const struct plugin_choice *choice = &choices->list[i];
		int r = choice->kind == SLUICE_INLINE ? 0 : plugin_start(audience, choice, err);

		if (r < 0)
			return r;
	}
	if (!audience_count(audience))
		return err_set(err, EINVAL, "no asynchronous plug-in is named");
	return 0;
}

static void facts_show(struct audience *audience, const struct trace_head *head)
{
	for (size_t i = 0; i < head->file_count; i++)
		audience_file(audience, (file_id)i, head->files[i]);
	for (size_t i = 0; i < head->process_count; i++)
		audience_process(audience, &head->processes[i]);
}

static int activities_show(struct audience *audience, struct trace *trace, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	int64_t due_ns = TICK_NS;
	ssize_t n;

	while ((n = trace_next(trace, batch, BATCH, err)) > 0) {
		audience_activities(audience, batch, (size_t)n);
		if (batch[n - 1].start_ns < due_ns)
			continue;
		/* Once for all the time that has passed: there is nobody to sleep for. */
		audience_tick(audience);
		due_ns = batch[n - 1].start_ns + TICK_NS;
	}
	return (int)n;
}

int replay_trace(struct trace *trace, const struct replay_options *o, struct err *err)
{
	struct plugin_choices choices = { 0 };
	struct audience_options options = {
		.config = o->config,
		.run = &trace->head.run,
		.calls = trace->head.calls,
		.call_count = trace->head.call_count,
		.arg = o->arg,
		.note = o->note,
		.replayed = true,
	};
	struct audience *audience = audience_new(&options);
	int r;

	plugin_choices_add(&choices, o->plugins, PLUGIN_ALL_LAYERS, o->origin);
	r = plugins_start(audience, &choices, err);
	if (r >= 0) {
		facts_show(audience, &trace->head);
		r = activities_show(audience, trace, err);
	}
	if (r >= 0) {
		audience_time(audience, trace->head.end.duration_ns);
		audience_report(audience);
	}
	audience_free(audience);
	plugin_choices_release(&choices);
	return r;
}
