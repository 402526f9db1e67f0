/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/statistics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

/* In the order of polling: the last one summarizes the others. */
const struct provider *const providers[] = { &provider_cpu, &provider_memory, &provider_network,
					     &provider_io,  &provider_lustre, &provider_utilization,
					     NULL };

#define PROVIDERS (sizeof(providers) / sizeof(providers[0]) - 1)

struct listener {
	statistics_listener listen;
	void *arg;
};

struct statistics {
	struct statistic *list;
	size_t count, cap;
	struct listener *listeners;
	size_t listener_count, listener_cap;
	bool wanted[PROVIDERS];
	void *states[PROVIDERS];
	char *root;
	double network;
	uint64_t polls;
	int64_t last_ns, cost_ns;
};

static int unknown_provider(const char *name, size_t n, struct err *err)
{
	AUTO_BUF struct buf all = { 0 };

	for (size_t i = 0; i < PROVIDERS; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", providers[i]->name);
	return err_set(err, EINVAL, "unknown statistics provider \"%.*s\"; expected one of %s",
		       (int)(n < 40 ? n : 40), name, all.data);
}

/* Settings of earlier versions have the British spelling of utilization. */
static bool provider_is(const struct provider *provider, const char *name, size_t n)
{
	static const char old[] = "utilisation";

	if (provider == &provider_utilization && n == strlen(old) && !memcmp(name, old, n))
		return true;
	return strlen(provider->name) == n && !memcmp(provider->name, name, n);
}

static int parse_names(struct statistics *statistics, const char *names, struct err *err)
{
	static const char between[] = " ,\t\n";

	for (names += strspn(names, between); *names; names += strspn(names, between)) {
		size_t n = strcspn(names, between), i = 0;

		while (i < PROVIDERS && !provider_is(providers[i], names, n))
			i++;
		if (i == PROVIDERS)
			return unknown_provider(names, n, err);
		statistics->wanted[i] = true;
		names += n;
	}
	return 0;
}

static int start_providers(struct statistics *statistics, struct err *err)
{
	for (size_t i = 0; i < PROVIDERS; i++) {
		int r = 0;

		if (statistics->wanted[i])
			r = providers[i]->start(&statistics->states[i], statistics,
						statistics->root);
		if (r < 0)
			return err_set(err, -r, "cannot start the statistics provider %s: %s",
				       providers[i]->name, strerror(-r));
	}
	return 0;
}

int statistics_new(struct statistics **statistics, const char *names, const char *root,
		   struct err *err)
{
	struct statistics *s = xcalloc(1, sizeof(*s));
	int r;

	s->root = xstrdup(root);
	r = parse_names(s, names, err);
	if (!r)
		r = start_providers(s, err);
	if (r < 0) {
		statistics_free(s);
		return r;
	}
	*statistics = s;
	return 0;
}

void statistics_free(struct statistics *statistics)
{
	if (!statistics)
		return;
	for (size_t i = 0; i < PROVIDERS; i++)
		if (statistics->states[i])
			providers[i]->stop(statistics->states[i]);
	for (size_t i = 0; i < statistics->count; i++)
		free(statistics->list[i].name);
	free(statistics->list);
	free(statistics->listeners);
	free(statistics->root);
	free(statistics);
}

void statistics_listen(struct statistics *statistics, statistics_listener listen, void *arg)
{
	statistics->listeners = xgrow(statistics->listeners, &statistics->listener_cap,
				      statistics->listener_count + 1, sizeof(struct listener));
	statistics->listeners[statistics->listener_count++] = (struct listener){ listen, arg };
}

unsigned statistics_add(struct statistics *statistics, const char *name, const char *unit,
			enum reduction reduction, unsigned scale)
{
	statistics->list = xgrow(statistics->list, &statistics->cap, statistics->count + 1,
				 sizeof(struct statistic));
	statistics->list[statistics->count] = (struct statistic){ .name = xstrdup(name),
								  .unit = unit,
								  .reduction = reduction,
								  .scale = scale,
								  .last = NAN };
	return (unsigned)statistics->count++;
}

void statistics_set(struct statistics *statistics, unsigned number, double value)
{
	statistics->list[number].last = value;
}

void statistics_network_set(struct statistics *statistics, double bytes_per_s)
{
	statistics->network = bytes_per_s;
}

double statistics_network(const struct statistics *statistics)
{
	return statistics->network;
}

void statistics_poll(struct statistics *statistics, int64_t now_ns)
{
	int64_t began_ns = clock_thread_cpu_ns();
	int64_t elapsed_ns = statistics->polls ? now_ns - statistics->last_ns : 0;

	for (size_t i = 0; i < statistics->count; i++)
		statistics->list[i].last = NAN;
	for (size_t i = 0; i < PROVIDERS; i++)
		if (statistics->wanted[i])
			providers[i]->poll(statistics->states[i], statistics, elapsed_ns);
	for (size_t i = 0; i < statistics->count; i++) {
		struct statistic *one = &statistics->list[i];

		series_add(&one->series, one->reduction, one->last);
	}
	statistics->polls++;
	statistics->last_ns = now_ns;
	for (size_t i = 0; i < statistics->listener_count; i++)
		statistics->listeners[i].listen(statistics->listeners[i].arg, statistics, now_ns);
	statistics->cost_ns += clock_thread_cpu_ns() - began_ns;
}

unsigned statistics_count(const struct statistics *statistics)
{
	return (unsigned)statistics->count;
}

const struct statistic *statistics_get(const struct statistics *statistics, unsigned number)
{
	return number < statistics->count ? &statistics->list[number] : NULL;
}

const struct statistic *statistics_find(const struct statistics *statistics, const char *name)
{
	for (size_t i = 0; i < statistics->count; i++)
		if (!strcmp(statistics->list[i].name, name))
			return &statistics->list[i];
	return NULL;
}

void statistics_utilization(const struct statistics *statistics, double percent[4])
{
	static const char *const names[4] = { "utilization/cpu", "utilization/network",
					      "utilization/io", "utilization/memory" };

	for (int i = 0; i < 4; i++) {
		const struct statistic *one = statistics_find(statistics, names[i]);
		unsigned count = one ? series_count(&one->series, 0) : 0;

		percent[i] = one ? series_reduce(REDUCE_MEAN, one->series.samples[0], count)
				 : (double)NAN;
	}
}

int64_t statistics_cost_ns(const struct statistics *statistics)
{
	return statistics->cost_ns;
}
