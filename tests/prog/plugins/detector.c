/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A detector that reports slow calls of a process that accesses a file named "trigger".
 * tests/run/flight.sh compiles it.
 */
#include <stdlib.h>
#include <string.h>

#include <sluice/plugin.h>

#define PROCESSES 64

struct state {
	const struct sluice_host *host;
	uint64_t slow[PROCESSES]; /* calls to report, by process */
};

static int start(const struct sluice_host *host, void **state)
{
	struct state *s = calloc(1, sizeof(*s));

	s->host = host;
	*state = s;
	return 0;
}

static void batch(void *arg, const struct activity *activities, size_t count)
{
	struct state *s = arg;

	for (size_t i = 0; i < count; i++) {
		const char *path = s->host->file(s->host->self, activities[i].file);
		const char *slash = path ? strrchr(path, '/') : NULL;

		if (slash && !strcmp(slash, "/trigger") && activities[i].process < PROCESSES)
			s->slow[activities[i].process] = 1000;
	}
}

static bool health(void *arg, uint32_t process, struct sluice_health *sum)
{
	struct state *s = arg;
	uint64_t slow = process < PROCESSES ? s->slow[process] : 0;

	if (!slow)
		return false;
	s->slow[process] = 0;
	sum->counts[SLUICE_VERY_SLOW] += slow;
	return true;
}

static void stop(void *state)
{
	free(state);
}

static const struct sluice_async hooks = {
	.start = start, .batch = batch, .health = health, .stop = stop
};

const struct sluice_plugin sluice_plugin = {
	.abi = SLUICE_PLUGIN_ABI,
	.kind = SLUICE_ASYNC,
	.name = "detector",
	.help = "report slow calls of processes that access a file named trigger",
	.async = &hooks,
};
