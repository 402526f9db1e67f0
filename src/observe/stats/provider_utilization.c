/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SIOX's QualitativeUtilization: four percentages that summarize the values of the other providers
 * in the same poll. It reads no files except link speeds; a percentage is NAN if the provider it
 * depends on is missing.
 *
 *   cpu       all but idle and waiting
 *   network   the busiest interface except lo, in its busier direction, relative to its link speed
 *   io        the busiest block device, by its busy time
 *   memory    all but available
 * Papers: SIOX-47.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "observe/stats/procfile.h"
#include "observe/stats/statistics.h"

enum { CPU, NETWORK, IO, MEMORY, FIGURES };
static const char *const names[FIGURES] = { "utilization/cpu", "utilization/network",
					    "utilization/io", "utilization/memory" };

/* Assumed minimum speed of an interface that does not report one. */
#define GIGABIT_BYTES_PER_S 125e6

struct interface {
	unsigned received, sent;
	double link_speed; /* link speed in bytes per second; 0: not reported */
	double fastest;	   /* highest rate seen, in bytes per second */
};

struct utilization {
	const char *root;
	unsigned numbers[FIGURES];
	unsigned classified; /* number of statistics that were classified already */
	struct interface *interfaces;
	size_t interface_count, interface_cap;
	unsigned *busy; /* numbers of the "busy" statistics of devices */
	size_t busy_count, busy_cap;
};

static int start(void **state, struct statistics *statistics, const char *root)
{
	struct utilization *u = xcalloc(1, sizeof(*u));

	u->root = root;
	for (int i = 0; i < FIGURES; i++)
		u->numbers[i] = statistics_add(statistics, names[i], "%", REDUCE_MEAN, 100);
	*state = u;
	return 0;
}

/* Returns bytes per second. The file has megabits per second, or -1 if the speed is unknown. */
static double link_speed(const struct utilization *u, const char *interface, size_t n)
{
	AUTO_FREE char *path = xprintf("/sys/class/net/%.*s/speed", (int)n, interface);
	AUTO_FREE char *text = procfile_once(u->root, path);
	double megabits = text ? strtod(text, NULL) : 0;

	return megabits > 0 ? megabits * 1e6 / 8 : 0;
}

static void interface_add(struct utilization *u, const struct statistics *statistics,
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
				   .link_speed = link_speed(u, interface, n) };
	for (unsigned i = number; i < statistics_count(statistics); i++)
		if (!strcmp(statistics_get(statistics, i)->name, sent))
			one->sent = i;
}

/* Finds the interfaces and devices among new statistics. */
static void classify_new(struct utilization *u, const struct statistics *statistics)
{
	for (; u->classified < statistics_count(statistics); u->classified++) {
		const char *name = statistics_get(statistics, u->classified)->name;

		if (!strncmp(name, "network/", 8) && text_ends_with(name, "/received"))
			interface_add(u, statistics, u->classified, name);
		if (strncmp(name, "io/", 3) != 0 || !text_ends_with(name, "/busy"))
			continue;
		u->busy = xgrow(u->busy, &u->busy_cap, u->busy_count + 1, sizeof(*u->busy));
		u->busy[u->busy_count++] = u->classified;
	}
}

static double last_value(const struct statistics *statistics, const char *name)
{
	const struct statistic *one = statistics_find(statistics, name);

	return one ? one->last : (double)NAN;
}

static double network_percent(struct utilization *u, const struct statistics *statistics,
			      int64_t elapsed_ns)
{
	double most = NAN;

	for (size_t i = 0; i < u->interface_count && elapsed_ns > 0; i++) {
		struct interface *one = &u->interfaces[i];
		double bytes = fmax(statistics_get(statistics, one->received)->last,
				    statistics_get(statistics, one->sent)->last);
		double rate = bytes * NS_PER_S / (double)elapsed_ns, capacity = one->link_speed;

		one->fastest = fmax(one->fastest, rate);
		if (!(capacity > 0))
			capacity = statistics_network(statistics);
		if (!(capacity > 0))
			capacity = fmax(one->fastest, GIGABIT_BYTES_PER_S);
		most = fmax(most, fmin(100, 100 * rate / capacity));
	}
	return most;
}

static double busiest_percent(const struct utilization *u, const struct statistics *statistics)
{
	double most = NAN;

	for (size_t i = 0; i < u->busy_count; i++)
		most = fmax(most, statistics_get(statistics, u->busy[i])->last);
	return most;
}

static void poll(void *state, struct statistics *statistics, int64_t elapsed_ns)
{
	struct utilization *u = state;

	classify_new(u, statistics);
	statistics_set(statistics, u->numbers[CPU],
		       last_value(statistics, "cpu/user") + last_value(statistics, "cpu/system") +
			       last_value(statistics, "cpu/steal"));
	statistics_set(statistics, u->numbers[NETWORK], network_percent(u, statistics, elapsed_ns));
	statistics_set(statistics, u->numbers[IO], busiest_percent(u, statistics));
	statistics_set(statistics, u->numbers[MEMORY],
		       100 * last_value(statistics, "memory/used") /
			       last_value(statistics, "memory/total"));
}

static void stop(void *state)
{
	struct utilization *u = state;

	free(u->interfaces);
	free(u->busy);
	free(u);
}

const struct provider provider_utilization = {
	.name = "utilization",
	.help = "utilization of cpu, network, io and memory in percent",
	.start = start,
	.poll = poll,
	.stop = stop,
};
