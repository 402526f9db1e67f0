/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A template for an asynchronous plug-in: it has all hooks, and counts calls and bytes of each
 * process. It runs in the watcher, a separate process of Sluice; see docs/reference/plugins.md.
 *
 *	cc -shared -fPIC -I PREFIX/include -o async_skeleton.so async_skeleton.c
 *	sluice --set plugins.load=$PWD/async_skeleton.so run -- ./program
 *	sluice report
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/plugin.h>

struct totals {
	uint64_t calls, bytes, slow;
	uint64_t calls_reported, slow_reported; /* already reported by health() */
	int64_t excess_ns;
};

struct state {
	const struct sluice_host *host;
	int64_t slow_ns; /* option "slow_us": a call that takes longer is slow */
	uint64_t ticks;
	struct totals *totals; /* per process, by index */
	size_t count;
};

/* Reads the options of [plugin.async_skeleton]. If it returns an error, the run continues without
 * the plug-in. */
static int start(const struct sluice_host *host, void **out)
{
	const char *slow_us = host->option(host->self, "slow_us");
	struct state *state = calloc(1, sizeof(*state));
	char *end = NULL;

	if (!state)
		return -ENOMEM;
	state->host = host;
	state->slow_ns = slow_us ? 1000 * strtoll(slow_us, &end, 10) : 1000000;
	if (end && (*end || state->slow_ns <= 0)) {
		host->warn(host->self, "slow_us must be a number of microseconds");
		free(state);
		return -EINVAL;
	}
	*out = state;
	return 0;
}

/* Processes are numbered from 0, in the order of their first activity. */
static struct totals *find_totals(struct state *state, uint32_t process)
{
	if (process >= state->count) {
		size_t count = (size_t)process + 1;
		struct totals *grown = realloc(state->totals, count * sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + state->count, 0, (count - state->count) * sizeof(*grown));
		state->totals = grown;
		state->count = count;
	}
	return &state->totals[process];
}

/*
 * Gets a batch of activities. The array is valid during the call only. A field of an activity is
 * valid if its PRESENT() bit is set; the result is always valid.
 */
static void batch(void *arg, const struct activity *activities, size_t count)
{
	struct state *state = arg;

	for (size_t i = 0; i < count; i++) {
		const struct activity *a = &activities[i];
		const struct call_info *call = state->host->call(state->host->self, a->call);
		struct totals *totals = find_totals(state, a->process);

		if (!totals || !call)
			continue;
		totals->calls++;
		if ((call->class == CLASS_READ || call->class == CLASS_WRITE) && a->result > 0)
			totals->bytes += (uint64_t)a->result;
		if (a->duration_ns > state->slow_ns) {
			totals->slow++;
			totals->excess_ns += a->duration_ns - state->slow_ns;
		}
	}
}

/* Makes the plug-in a detector: adds what it has seen of the process since the last call. */
static bool health(void *arg, uint32_t process, struct sluice_health *sum)
{
	struct state *state = arg;
	struct totals *totals = find_totals(state, process);
	uint64_t slow, calls;

	if (!totals)
		return false;
	slow = totals->slow - totals->slow_reported;
	calls = totals->calls - totals->calls_reported;
	if (!calls)
		return false;
	sum->counts[SLUICE_VERY_SLOW] += slow;
	sum->counts[SLUICE_NORMAL] += calls - slow;
	sum->excess_ns += totals->excess_ns;
	totals->slow_reported = totals->slow;
	totals->calls_reported = totals->calls;
	totals->excess_ns = 0;
	return true;
}

/* Called about ten times per second, even if there are no activities. */
static void tick(void *arg, int64_t now_ns)
{
	struct state *state = arg;

	(void)now_ns;
	state->ticks++;
}

/* Adds lines to the report; they are stored in the trace. */
static void report(void *arg)
{
	const struct state *state = arg;
	const struct sluice_host *host = state->host;

	for (size_t i = 0; i < state->count; i++) {
		const struct sluice_process *process = host->process(host->self, (uint32_t)i);

		if (process)
			host->text(host->self, (int32_t)i, "process", "program", process->program);
		host->number(host->self, (int32_t)i, "process", "calls",
			     (double)state->totals[i].calls);
		host->number(host->self, (int32_t)i, "process", "bytes",
			     (double)state->totals[i].bytes);
		host->number(host->self, (int32_t)i, "process", "slow",
			     (double)state->totals[i].slow);
	}
	host->number(host->self, -1, "node", "ticks", (double)state->ticks);
}

static void stop(void *arg)
{
	struct state *state = arg;

	free(state->totals);
	free(state);
}

static const struct sluice_async hooks = {
	.start = start,
	.batch = batch,
	.health = health,
	.tick = tick,
	.report = report,
	.stop = stop,
};

const struct sluice_plugin sluice_plugin = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "async_skeleton",
	.help = "counts calls and bytes of each process",
	.async = &hooks,
};
