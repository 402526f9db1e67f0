/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a probe run did and what it cost: processor time, bytes, and all that was left out.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/unit.h"
#include "cmd/forecast/probe_run.h"
#include "predict/forecast/jobs/jobs.h"

/* Ours and that of all processes that we started for probing; not of the command beside us. */
static double cpu_seconds(const struct running *run)
{
	struct rusage self;

	getrusage(RUSAGE_SELF, &self);
	return prober_cpu(&run->prober) + run->asker.cpu_s +
	       (double)(self.ru_utime.tv_sec + self.ru_stime.tv_sec) +
	       (double)(self.ru_utime.tv_usec + self.ru_stime.tv_usec) * 1e-6;
}

static int64_t span_ns(const struct running *run)
{
	return prober_now().monotonic_ns - run->began_ns;
}

/* Everything that is counted, once: for columns and for JSON. */
static const struct {
	const char *name, *title;
	size_t offset;
} counts[] = {
	{ "probes", ">probes", offsetof(struct prober_counts, probes) },
	{ "truths", ">truths", offsetof(struct prober_counts, truths) },
	{ "timeouts", ">timeouts", offsetof(struct prober_counts, timeouts) },
	{ "full", ">full", offsetof(struct prober_counts, full) },
	{ "failed", ">failed", offsetof(struct prober_counts, failed) },
	{ "over_budget", ">over budget", offsetof(struct prober_counts, over_budget) },
	{ "late", ">late", offsetof(struct prober_counts, late) },
	{ "stuck", ">stuck", offsetof(struct prober_counts, stuck) },
};
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

static uint64_t count_at(const struct prober_counts *of, size_t i)
{
	return *(const uint64_t *)((const char *)of + counts[i].offset);
}

static void counts_json(struct json *json, const struct prober_counts *of)
{
	json_count(json, "bytes", of->bytes);
	for (size_t i = 0; i < COUNTS; i++)
		json_count(json, counts[i].name, count_at(of, i));
}

static double mean(const struct probe_times *times)
{
	return times->count ? times->sum_s / (double)times->count : 0.0 / 0.0;
}

static void json_tell(const struct running *run, FILE *out)
{
	double cpu = cpu_seconds(run), seconds = (double)span_ns(run) / 1e9;
	struct prober_counts sum;
	struct json json;

	prober_sum(&run->prober, &sum);
	json_start(&json, out, PROBE_SCHEMA);
	json_text(&json, "system", run->system);
	json_count(&json, "rank", run->rank);
	json_real(&json, "seconds", seconds);
	json_count(&json, "rounds", run->prober.rounds);
	json_real(&json, "cpu_seconds", cpu);
	json_real(&json, "cpu_share", cpu / seconds);
	counts_json(&json, &sum);
	json_count(&json, "rows_saved", run->saved);
	json_count(&json, "rows_lost", run->lost);
	json_text(&json, "jobs_reader", run->asker.reader ? run->asker.reader->name : NULL);
	json_count(&json, "jobs_asked", run->asker.asked);
	json_count(&json, "jobs_failed", run->asker.failed);
	json_open(&json, "targets", '[');
	for (size_t i = 0; i < run->prober.count; i++) {
		size_t number = run->prober.number[i];

		json_open(&json, NULL, '{');
		json_text(&json, "name", run->targets.rows[number].name);
		json_text(&json, "kind", run->targets.rows[number].ops->kind);
		counts_json(&json, &run->prober.slots[i].counts);
		json_real(&json, "probe_mean_s", mean(&run->times[number]));
		json_real(&json, "probe_worst_s",
			  run->times[number].count ? run->times[number].worst_s : 0.0 / 0.0);
		json_close(&json);
	}
	json_end(&json);
}

static void row_tell(struct table *table, const struct running *run, size_t i)
{
	const struct probe_times *times = &run->times[run->prober.number[i]];
	const struct prober_counts *of = &run->prober.slots[i].counts;
	char text[UNIT_TEXT];

	table_add(table, "%s", run->targets.rows[run->prober.number[i]].name);
	table_add(table, "%s", unit_bytes(text, (double)of->bytes));
	table_add(table, "%s", times->count ? unit_ns(text, (int64_t)(mean(times) * 1e9)) : "-");
	table_add(table, "%s", times->count ? unit_ns(text, (int64_t)(times->worst_s * 1e9)) : "-");
	for (size_t c = 0; c < COUNTS; c++)
		table_add(table, "%llu", (unsigned long long)count_at(of, c));
}

static void text_tell(const struct running *run, FILE *out)
{
	const char *titles[4 + COUNTS + 1] = { "target", ">bytes", ">mean probe", ">worst" };
	char bytes[UNIT_TEXT], time[UNIT_TEXT];
	struct prober_counts sum;
	struct table table;

	for (size_t c = 0; c < COUNTS; c++)
		titles[4 + c] = counts[c].title;
	prober_sum(&run->prober, &sum);
	fprintf(out, "%s: %llu rounds in %s, %s written, %.3f%% of one core, %llu rows saved\n",
		run->system, (unsigned long long)run->prober.rounds, unit_ns(time, span_ns(run)),
		unit_bytes(bytes, (double)sum.bytes),
		100 * cpu_seconds(run) / ((double)span_ns(run) / 1e9),
		(unsigned long long)run->saved);
	table_init(&table, titles);
	for (size_t i = 0; i < run->prober.count; i++)
		row_tell(&table, run, i);
	table_print(&table, out, 0);
	table_release(&table);
}

void running_tell(const struct running *run)
{
	FILE *out = run->args->beside ? stderr : stdout;

	if (run->args->json)
		json_tell(run, out);
	else if (run->prober.count && (!run->args->beside || isatty(STDERR_FILENO)))
		text_tell(run, out);
}

char *running_line(const struct running *run)
{
	struct prober_counts sum;
	char bytes[UNIT_TEXT], time[UNIT_TEXT];

	prober_sum(&run->prober, &sum);
	return xprintf("%s: round %llu, %s written in %s; %llu timeouts, %llu full, %llu failed",
		       run->system, (unsigned long long)run->prober.rounds,
		       unit_bytes(bytes, (double)sum.bytes), unit_ns(time, span_ns(run)),
		       (unsigned long long)sum.timeouts, (unsigned long long)sum.full,
		       (unsigned long long)sum.failed);
}
