/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the summary of `sluice forecast probe`: writes, skipped writes, bytes and CPU time.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "cli/format.h"
#include "cmd/forecast/probe.h"
#include "predict/forecast/jobs/jobs.h"
#include "predict/forecast/service/probing.h"
#include "predict/forecast/site.h"

/* One row per count, for the columns of the table and for JSON. */
static const struct {
	const char *name, *title;
	size_t offset;
} counts[] = {
	{ "probes", ">probes", offsetof(struct prober_counts, probes) },
	{ "reference_writes", ">reference", offsetof(struct prober_counts, reference_writes) },
	{ "timeouts", ">timeouts", offsetof(struct prober_counts, timeouts) },
	{ "full", ">full", offsetof(struct prober_counts, full) },
	{ "failed", ">failed", offsetof(struct prober_counts, failed) },
	{ "over_budget", ">over limit", offsetof(struct prober_counts, over_budget) },
	{ "late", ">late", offsetof(struct prober_counts, late) },
	{ "stuck", ">stuck", offsetof(struct prober_counts, stuck) },
};
#define COUNTS (sizeof(counts) / sizeof(counts[0]))
#define FIRST_COLUMNS 4 /* of the table, before the counts */

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

static double mean_seconds(const struct probing_times *times)
{
	return times->count ? times->sum_s / (double)times->count : NAN;
}

static double worst_seconds(const struct probing_times *times)
{
	return times->count ? times->worst_s : NAN;
}

/* The schedulers that are asked in addition to jobs_reader. */
static void schedulers_json(struct json *json, const struct site *site)
{
	json_open(json, "schedulers", '[');
	for (size_t i = 0; i < site->scheduler_count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "name", site->schedulers[i].name);
		json_text(json, "reader", site->schedulers[i].reader);
		json_close(json);
	}
	json_close(json);
}

static void show_json(const struct probing *probing, FILE *out)
{
	double cpu = probing_cpu_s(probing),
	       seconds = (double)probing_elapsed_ns(probing) / NS_PER_S;
	struct prober_counts sum;
	struct json json;

	prober_sum(&probing->prober, &sum);
	json_start(&json, out, PROBE_SCHEMA);
	json_text(&json, "system", probing->options.system);
	json_count(&json, "rank", probing->options.rank);
	json_double(&json, "seconds", seconds);
	json_count(&json, "rounds", probing->prober.rounds);
	json_double(&json, "cpu_seconds", cpu);
	json_double(&json, "cpu_share", cpu / seconds);
	counts_json(&json, &sum);
	json_count(&json, "rows_saved", probing->saved);
	json_count(&json, "rows_lost", probing->lost);
	json_text(&json, "jobs_reader", probing->jobs.reader ? probing->jobs.reader->name : NULL);
	schedulers_json(&json, probing->options.site);
	json_count(&json, "jobs_asked", probing->jobs.asked);
	json_count(&json, "jobs_failed", probing->jobs.failed);
	json_open(&json, "targets", '[');
	for (size_t i = 0; i < probing->prober.count; i++) {
		size_t number = probing->prober.number[i];

		json_open(&json, NULL, '{');
		json_text(&json, "name", probing->targets.rows[number].name);
		json_text(&json, "kind", probing->targets.rows[number].ops->kind);
		counts_json(&json, &probing->prober.slots[i].counts);
		json_double(&json, "probe_mean_s", mean_seconds(&probing->times[number]));
		json_double(&json, "probe_worst_s", worst_seconds(&probing->times[number]));
		json_close(&json);
	}
	json_end(&json);
}

static void add_target_row(struct table *table, const struct probing *probing, size_t i)
{
	const struct probing_times *times = &probing->times[probing->prober.number[i]];
	const struct prober_counts *of = &probing->prober.slots[i].counts;
	char text[UNIT_TEXT];

	table_add(table, "%s", probing->targets.rows[probing->prober.number[i]].name);
	table_add(table, "%s", unit_bytes(text, (double)of->bytes));
	table_add(table, "%s", format_seconds(text, mean_seconds(times)));
	table_add(table, "%s", format_seconds(text, worst_seconds(times)));
	for (size_t c = 0; c < COUNTS; c++)
		table_add(table, "%llu", (unsigned long long)count_at(of, c));
}

static void show_text(const struct probing *probing, FILE *out)
{
	const char *titles[FIRST_COLUMNS + COUNTS + 1] = { "target", ">bytes", ">mean probe",
							   ">worst" };
	char bytes[UNIT_TEXT], time[UNIT_TEXT];
	struct prober_counts sum;
	struct table table;

	for (size_t c = 0; c < COUNTS; c++)
		titles[FIRST_COLUMNS + c] = counts[c].title;
	prober_sum(&probing->prober, &sum);
	term_printf(out, "%s: %llu rounds in %s, %s written, %.3f%% of one core, %llu rows saved\n",
		    probing->options.system, (unsigned long long)probing->prober.rounds,
		    unit_ns(time, probing_elapsed_ns(probing)),
		    unit_bytes(bytes, (double)sum.bytes),
		    100 * probing_cpu_s(probing) / ((double)probing_elapsed_ns(probing) / NS_PER_S),
		    (unsigned long long)probing->saved);
	table_init(&table, titles);
	for (size_t i = 0; i < probing->prober.count; i++)
		add_target_row(&table, probing, i);
	table_print(&table, out, 0);
	table_release(&table);
}

void probe_show(const struct probing *probing, const struct probe_args *args)
{
	FILE *out = args->while_command ? stderr : stdout;

	if (args->json)
		show_json(probing, out);
	else if (probing->prober.count && (!args->while_command || isatty(STDERR_FILENO)))
		show_text(probing, out);
}

char *probe_progress_text(const struct probing *probing)
{
	struct prober_counts sum;
	char bytes[UNIT_TEXT], time[UNIT_TEXT];

	prober_sum(&probing->prober, &sum);
	return xprintf("%s: round %llu, %s written in %s; %llu timeouts, %llu full, %llu failed",
		       probing->options.system, (unsigned long long)probing->prober.rounds,
		       unit_bytes(bytes, (double)sum.bytes),
		       unit_ns(time, probing_elapsed_ns(probing)), (unsigned long long)sum.timeouts,
		       (unsigned long long)sum.full, (unsigned long long)sum.failed);
}
