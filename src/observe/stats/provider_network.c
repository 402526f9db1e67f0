/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Data through each network interface of the node, including lo. Reads /proc/net/dev. An interface
 * is left out until it has been used.
 * Papers: SIOX-47.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/stats/procfile.h"
#include "observe/stats/statistics.h"

#define NAME_MAX_BYTES 64
#define INTERFACES_MAX 64 /* a host with many containers has one for each */

enum { RECEIVED, RECEIVED_PACKETS, SENT, SENT_PACKETS, FIGURES };
static const char *const figures[FIGURES] = { "received", "received_packets", "sent",
					      "sent_packets" };
static const char *const units[FIGURES] = { "bytes", "packets", "bytes", "packets" };
/* Columns of /proc/net/dev after the name. */
static const int columns[FIGURES] = { 0, 1, 8, 9 };
#define COLUMNS 10

struct interface {
	char name[NAME_MAX_BYTES];
	unsigned numbers[FIGURES];
	struct counter counters[FIGURES];
};

struct network {
	struct procfile dev;
	struct interface *list;
	size_t count, cap;
	bool polled;
};

static int start(void **state, struct statistics *statistics, const char *root)
{
	struct network *network = xcalloc(1, sizeof(*network));

	(void)statistics; /* interfaces are registered when they are first seen */
	procfile_open(&network->dev, root, "/proc/net/dev");
	*state = network;
	return 0;
}

static struct interface *interface_add(struct network *network, struct statistics *statistics,
				       const char *name)
{
	struct interface *one;

	network->list = xgrow(network->list, &network->cap, network->count + 1, sizeof(*one));
	one = &network->list[network->count++];
	*one = (struct interface){ 0 };
	strcpy(one->name, name);
	for (int i = 0; i < FIGURES; i++) {
		AUTO_FREE char *path = xprintf("network/%s/%s", name, figures[i]);

		one->numbers[i] = statistics_add(statistics, path, units[i], REDUCE_SUM, 1);
		/* An interface that appears later was new or idle before. */
		one->counters[i].known = network->polled;
	}
	return one;
}

/* Interfaces appear in the same order each time, so the search starts at guess. */
static struct interface *interface_find(struct network *network, const char *name, size_t guess)
{
	if (guess < network->count && !strcmp(network->list[guess].name, name))
		return &network->list[guess];
	for (size_t i = 0; i < network->count; i++)
		if (!strcmp(network->list[i].name, name))
			return &network->list[i];
	return NULL;
}

/* Parses "  eth0: 1 2 3 ..."; false for other lines, such as the two lines of the heading. */
static bool parse_interface_line(const char *at, char *name, uint64_t *values)
{
	const char *colon = strchr(at, ':'), *end = procfile_next_line(at);

	at += strspn(at, " ");
	if (!colon || (end && colon > end) || (size_t)(colon - at) >= NAME_MAX_BYTES)
		return false;
	memcpy(name, at, (size_t)(colon - at));
	name[colon - at] = 0;
	at = colon + 1;
	for (int i = 0; i < COLUMNS; i++)
		if (!procfile_number(&at, &values[i]))
			return false;
	return true;
}

static void update_interface(struct interface *one, struct statistics *statistics,
			     const uint64_t *values)
{
	for (int i = 0; i < FIGURES; i++)
		statistics_set(statistics, one->numbers[i],
			       counter_step(&one->counters[i], values[columns[i]]));
}

static void poll(void *state, struct statistics *statistics, int64_t elapsed_ns)
{
	struct network *network = state;
	const char *at = procfile_read(&network->dev);
	size_t guess = 0;

	(void)elapsed_ns; /* increments are not rates */
	for (; at; at = procfile_next_line(at)) {
		char name[NAME_MAX_BYTES];
		uint64_t values[COLUMNS];
		struct interface *one;

		if (!parse_interface_line(at, name, values) || !(values[0] || values[8]))
			continue;
		one = interface_find(network, name, guess);
		if (!one && network->count < INTERFACES_MAX)
			one = interface_add(network, statistics, name);
		if (!one)
			continue;
		update_interface(one, statistics, values);
		guess = (size_t)(one - network->list) + 1;
	}
	network->polled = true;
}

static void stop(void *state)
{
	struct network *network = state;

	procfile_close(&network->dev);
	free(network->list);
	free(network);
}

const struct provider provider_network = {
	.name = "network",
	.help = "bytes and packets through each interface",
	.start = start,
	.poll = poll,
	.stop = stop,
};
