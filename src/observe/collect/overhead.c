/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-18.
 */
#include "observe/collect/overhead.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "observe/collect/intake.h"
#include "observe/tally/overhead_notes.h"

/* Threads notice a new mode when they change their chunk; it cannot be judged earlier. */
#define SETTLE_NS 2000000000

int overhead_parse(const char *text, double *share, struct err *err)
{
	char *end;
	double percent;

	/* strtod() alone would also accept "inf", "0x1p3" and signs. */
	percent =
		isdigit((unsigned char)text[0]) && !strpbrk(text, "xX") ? strtod(text, &end) : NAN;
	if (isnan(percent))
		end = (char *)text;
	while (end != text && *end == ' ')
		end++;
	if (end == text || (strcmp(end, "") != 0 && strcmp(end, "%") != 0) || percent > 100)
		return err_set(
			err, EINVAL,
			"overhead.budget: invalid value \"%s\"; expected a percentage such as 1%% "
			"or 0.5%%, or 0 for no limit",
			text);
	*share = percent / 100;
	return 0;
}

void overhead_init(struct overhead *overhead, const struct overhead_settings *settings,
		   enum capture_mode mode)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	*overhead = (struct overhead){ .settings = *settings, .mode = mode };
	overhead->settings.host = xstrdup(settings->host ? settings->host : "");
	if (!settings->processors)
		overhead->settings.processors = processors > 0 ? (unsigned)processors : 1;
}

void overhead_release(struct overhead *overhead)
{
	free((char *)overhead->settings.host);
	free(overhead->processes);
	*overhead = (struct overhead){ 0 };
}

struct overhead_sample overhead_sample(const struct spool_header *header,
				       const struct run_clock *clock, uint64_t now_ticks)
{
	uint64_t run = now_ticks > header->attached ? now_ticks - header->attached : 0;
	uint32_t threads = atomic_load_explicit(&header->threads, memory_order_relaxed);
	uint64_t plugins = 0;

	for (size_t i = 0; i < CONTROL_PLUGINS; i++)
		plugins += atomic_load_explicit(&header->plugins[i].ticks, memory_order_relaxed);
	return (struct overhead_sample){
		.cost_ns = intake_ns(
			clock, atomic_load_explicit(&header->cost_ticks, memory_order_relaxed)),
		.inline_ns = intake_ns(clock, plugins),
		.run_ns = intake_ns(clock, run),
		.threads = threads > header->first_thread ? threads - header->first_thread : 1,
	};
}

void overhead_add(struct overhead *overhead, uint32_t process, const struct overhead_sample *sample)
{
	struct overhead *o = overhead;

	if (process >= o->count) {
		o->processes =
			xgrow(o->processes, &o->cap, (size_t)process + 1, sizeof(*o->processes));
		memset(&o->processes[o->count], 0,
		       (process + 1 - o->count) * sizeof(*o->processes));
		o->count = (size_t)process + 1;
	}
	/*
	 * The program can overwrite the values of its guest: the overhead cannot exceed the
	 * available time.
	 */
	if ((double)sample->cost_ns <=
	    (double)sample->run_ns * (sample->threads ? sample->threads : 1))
		o->processes[process].now = *sample;
}

double overhead_share(const struct overhead_sample *sample, unsigned processors)
{
	unsigned threads = sample->threads < processors ? sample->threads : processors;

	if (sample->run_ns <= 0)
		return 0;
	return (double)sample->cost_ns / ((double)sample->run_ns * (threads ? threads : 1));
}

/* Overhead of a process since the mode last changed. */
static struct overhead_sample since_base(const struct overhead_process *p)
{
	return (struct overhead_sample){ .cost_ns = p->now.cost_ns - p->base.cost_ns,
					 .run_ns = p->now.run_ns - p->base.run_ns,
					 .threads = p->now.threads };
}

/* Returns the process that exceeds the budget most; count if none does. */
static size_t find_worst(const struct overhead *o, double *share)
{
	size_t worst = o->count;

	*share = o->settings.budget;
	for (size_t i = 0; i < o->count; i++) {
		struct overhead_sample since = since_base(&o->processes[i]);
		double now = overhead_share(&since, o->settings.processors);

		if (since.cost_ns > o->settings.grace_ns && now > *share) {
			*share = now;
			worst = i;
		}
	}
	return worst;
}

static void write_note(const struct overhead *o, int64_t time_ns, int64_t process, const char *kind,
		       const char *name, char *value)
{
	struct note note = {
		.time_ns = time_ns,
		.process = (int32_t)process,
		.host = (char *)o->settings.host,
		.source = (char *)OVERHEAD_SOURCE,
		.kind = (char *)kind,
		.name = (char *)name,
		.value = value,
	};

	o->settings.note(o->settings.arg, &note);
}

static void write_number(const struct overhead *o, int64_t process, const char *name, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", value);
	write_note(o, -1, process, NOTE_COST, name, text);
}

static void write_processors(const struct overhead *o)
{
	char text[24];

	snprintf(text, sizeof(text), "%u", o->settings.processors);
	write_note(o, -1, -1, NOTE_NODE, NODE_PROCESSORS, text);
}

static void write_mode_change(const struct overhead *o, int64_t now_ns, size_t process,
			      double share)
{
	bool counts = o->mode == CAPTURE_COUNTERS;
	AUTO_FREE char *text =
		xprintf("%s took %.2g%% of the run time (budget %g%%): %s",
			counts ? "recording" : "counting", 100 * share, 100 * o->settings.budget,
			counts ? "calls are only counted" : "recording stopped");

	write_note(o, now_ns, (int64_t)process, NOTE_DEGRADED, counts ? "counters" : "off", text);
}

enum capture_mode overhead_judge(struct overhead *overhead, int64_t now_ns)
{
	struct overhead *o = overhead;
	double share;
	size_t worst;

	if (o->settings.budget <= 0 || o->mode <= CAPTURE_OFF)
		return o->mode;
	if (o->mode == CAPTURE_COUNTERS && now_ns - o->changed_ns < SETTLE_NS)
		return o->mode;
	worst = find_worst(o, &share);
	if (worst == o->count)
		return o->mode;
	o->mode = o->mode == CAPTURE_TRACE ? CAPTURE_COUNTERS : CAPTURE_OFF;
	o->changed_ns = now_ns;
	write_mode_change(o, now_ns, worst, share);
	for (size_t i = 0; i < o->count; i++)
		o->processes[i].base = o->processes[i].now;
	return o->mode;
}

void overhead_finish(struct overhead *overhead, int64_t collector_ns, int64_t watcher_ns)
{
	const struct overhead *o = overhead;

	for (size_t i = 0; i < o->count; i++) {
		const struct overhead_sample *s = &o->processes[i].now;

		if (s->cost_ns <= 0)
			continue;
		write_number(o, (int64_t)i, OVERHEAD_GUEST_NS, (double)s->cost_ns);
		write_number(o, (int64_t)i, OVERHEAD_GUEST_SHARE,
			     overhead_share(s, o->settings.processors));
		if (s->inline_ns > 0)
			write_number(o, (int64_t)i, OVERHEAD_INLINE_NS, (double)s->inline_ns);
	}
	if (collector_ns >= 0)
		write_number(o, -1, OVERHEAD_COLLECTOR_NS, (double)collector_ns);
	if (watcher_ns >= 0)
		write_number(o, -1, OVERHEAD_WATCHER_NS, (double)watcher_ns);
	write_processors(o);
}

static int64_t timeval_ns(const struct timeval *t)
{
	return (int64_t)t->tv_sec * NS_PER_S + (int64_t)t->tv_usec * NS_PER_US;
}

int64_t overhead_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return -1;
	return timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
}
