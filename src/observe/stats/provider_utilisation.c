/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SIOX's QualitativeUtilization: four percentages that condense what the other providers have found
 * in the same poll. It reads nothing itself; what they do not tell is not known.
 *
 *   cpu       all but idle and waiting
 *   network   the busiest interface but lo, in its busier direction, of what it can do
 *   io        the busiest block device, by the time it was busy
 *   memory    all but available
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/stats/procfile.h"
#include "observe/stats/statistics.h"

enum { CPU, NETWORK, IO, MEMORY, FIGURES };
static const char *const names[FIGURES] = { "utilisation/cpu", "utilisation/network",
					    "utilisation/io", "utilisation/memory" };

/* An interface that does not tell is taken to be no slower. */
#define GIGABIT_BYTES_PER_S 125e6

struct interface {
	unsigned received, sent;
	double told;	/* by the interface, bytes per second; 0: it does not */
	double fastest; /* that was seen */
};

struct utilisation {
	const char *root;
	unsigned numbers[FIGURES];
	unsigned looked_at; /* statistics that were there at the last look */
	struct interface *interfaces;
	size_t interface_count, interface_cap;
	unsigned *busy; /* of each device */
	size_t busy_count, busy_cap;
};

static int start(void **state, struct statistics *statistics, const char *root)
{
	struct utilisation *u = xcalloc(1, sizeof(*u));

	u->root = root;
	for (int i = 0; i < FIGURES; i++)
		u->numbers[i] = statistics_add(statistics, names[i], "%", REDUCE_MEAN, 100);
	*state = u;
	return 0;
}

/* In megabits per second; -1 or an error where it is not known. */
static double speed_told(const struct utilisation *u, const char *interface, size_t n)
{
	AUTO_FREE char *path = xprintf("/sys/class/net/%.*s/speed", (int)n, interface);
	AUTO_FREE char *text = procfile_once(u->root, path);
	double megabits = text ? strtod(text, NULL) : 0;

	return megabits > 0 ? megabits * 1e6 / 8 : 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static void interface_add(struct utilisation *u, const struct statistics *statistics,
			  unsigned number, const char *name)
{
	const char *interface = name + strlen("network/");
	size_t n = strlen(interface) - strlen("/received");
	AUTO_FREE char *sent = xprintf("network/%.*s/sent", (int)n, interface);
	struct interface *one;

	if (n == 2 && !strncmp(interface, "lo", 2))
		return;
	u->interfaces =
		xgrow(u->interfaces, &u->interface_cap, u->interface_count + 1, sizeof(*one));
	one = &u->interfaces[u->interface_count++];
	*one = (struct interface){ .received = number,
				   .sent = number,
				   .told = speed_told(u, interface, n) };
	for (unsigned i = number; i < statistics_count(statistics); i++)
		if (!strcmp(statistics_get(statistics, i)->name, sent))
			one->sent = i;
}

/* Sorts what is new among the statistics. */
static void look(struct utilisation *u, const struct statistics *statistics)
{
	for (; u->looked_at < statistics_count(statistics); u->looked_at++) {
		const char *name = statistics_get(statistics, u->looked_at)->name;

		if (!strncmp(name, "network/", 8) && ends_with(name, "/received"))
			interface_add(u, statistics, u->looked_at, name);
		if (strncmp(name, "io/", 3) != 0 || !ends_with(name, "/busy"))
			continue;
		u->busy = xgrow(u->busy, &u->busy_cap, u->busy_count + 1, sizeof(*u->busy));
		u->busy[u->busy_count++] = u->looked_at;
	}
}

static double last(const struct statistics *statistics, const char *name)
{
	const struct statistic *one = statistics_find(statistics, name);

	return one ? one->last : (double)NAN;
}

static double network(struct utilisation *u, const struct statistics *statistics,
		      int64_t elapsed_ns)
{
	double most = NAN;

	for (size_t i = 0; i < u->interface_count && elapsed_ns > 0; i++) {
		struct interface *one = &u->interfaces[i];
		double bytes = fmax(statistics_get(statistics, one->received)->last,
				    statistics_get(statistics, one->sent)->last);
		double rate = bytes * 1e9 / (double)elapsed_ns, capacity = one->told;

		one->fastest = fmax(one->fastest, rate);
		if (!(capacity > 0))
			capacity = statistics_network(statistics);
		if (!(capacity > 0))
			capacity = fmax(one->fastest, GIGABIT_BYTES_PER_S);
		most = fmax(most, fmin(100, 100 * rate / capacity));
	}
	return most;
}

static double busiest(const struct utilisation *u, const struct statistics *statistics)
{
	double most = NAN;

	for (size_t i = 0; i < u->busy_count; i++)
		most = fmax(most, statistics_get(statistics, u->busy[i])->last);
	return most;
}

static void poll(void *state, struct statistics *statistics, int64_t elapsed_ns)
{
	struct utilisation *u = state;

	look(u, statistics);
	statistics_set(statistics, u->numbers[CPU],
		       last(statistics, "cpu/user") + last(statistics, "cpu/system") +
			       last(statistics, "cpu/steal"));
	statistics_set(statistics, u->numbers[NETWORK], network(u, statistics, elapsed_ns));
	statistics_set(statistics, u->numbers[IO], busiest(u, statistics));
	statistics_set(statistics, u->numbers[MEMORY],
		       100 * last(statistics, "memory/used") / last(statistics, "memory/total"));
}

static void stop(void *state)
{
	struct utilisation *u = state;

	free(u->interfaces);
	free(u->busy);
	free(u);
}

const struct provider provider_utilisation = {
	.name = "utilisation",
	.help = "four percentages: cpu, network, io, memory",
	.start = start,
	.poll = poll,
	.stop = stop,
};
