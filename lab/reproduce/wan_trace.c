/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures 4 and 5, Table I and Figure 6 of Wan et al.: properties of the generated systems.
 * Papers: WAN-14, WAN-15.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "lab/reproduce/wan.h"
#include "learn/judge/metrics.h"

static const struct sheet_column columns[] = {
	{ "quantity", "number", 0 }, { ">Titan, paper", "titan_paper", 4 },
	{ ">~Titan", "titan", 4 },   { ">Cori, paper", "cori_paper", 4 },
	{ ">~Cori", "cori", 4 },     { 0 }
};

/* A number of the paper and of Sluice, for both systems. */
struct pair {
	const char *name;
	double paper[WAN_SYSTEMS], ours[WAN_SYSTEMS];
};

static void add_pairs(struct sheet *sheet, const struct pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sheet_text(sheet, "%s", pairs[i].name);
		for (size_t k = 0; k < WAN_SYSTEMS; k++) {
			sheet_number(sheet, pairs[i].paper[k]);
			sheet_number(sheet, pairs[i].ours[k]);
		}
	}
}

#define LONG_S 50

enum {
	TIME_FIRST,
	TIME_SECOND,
	TIME_WITHIN,
	TIME_MEDIAN,
	TIME_P95,
	TIME_P99,
	TIME_MOST,
	TIME_LONG
};
#define TIMES 8

static void fill_times(const struct wan *wan, size_t k, size_t size, struct pair pairs[TIMES])
{
	size_t count, within = 0, longer = 0;
	AUTO_FREE double *sorted = wan_seconds(wan, size, &count);
	bool is_large = size == WAN_1G;
	struct wan_modes modes;

	wan_modes(&modes, sorted, count, is_large ? wan->paper->span_s : wan->paper->probe_span_s);
	for (size_t i = 0; i < count; i++) {
		within += sorted[i] < wan->paper->within_s;
		longer += sorted[i] >= LONG_S;
	}
	for (size_t i = 0; i < TIMES; i++)
		pairs[i].paper[k] = NAN;
	if (is_large) {
		pairs[TIME_FIRST].paper[k] = wan->paper->modes_s[0];
		pairs[TIME_SECOND].paper[k] = wan->paper->modes_s[1];
	}
	pairs[TIME_FIRST].ours[k] = modes.first_s;
	pairs[TIME_SECOND].ours[k] = modes.second_s;
	pairs[TIME_WITHIN].ours[k] = (double)within / (double)count;
	pairs[TIME_MEDIAN].ours[k] = sorted[count / 2];
	pairs[TIME_P95].ours[k] = sorted[count * 95 / 100];
	pairs[TIME_P99].ours[k] = sorted[count * 99 / 100];
	pairs[TIME_MOST].ours[k] = sorted[count - 1];
	pairs[TIME_LONG].ours[k] = (double)longer;
}

static void add_times(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS],
		      size_t size, const char *name, const char *title)
{
	struct pair pairs[TIMES] = {
		{ .name = "first mode, s" },	 { .name = "second mode, s" },
		{ .name = "share below limit" }, { .name = "median, s" },
		{ .name = "95 % quantile, s" },	 { .name = "99 % quantile, s" },
		{ .name = "longest, s" },	 { .name = "writes of 50 s or more" }
	};
	struct sheet sheet;

	for (size_t k = 0; k < WAN_SYSTEMS; k++)
		fill_times(&systems[k], k, size, pairs);
	sheet_init(&sheet, name, title, columns);
	add_pairs(&sheet, pairs, TIME_WITHIN);
	if (size == WAN_1G)
		add_pairs(&sheet, pairs + TIME_WITHIN, 1);
	add_pairs(&sheet, pairs + TIME_MEDIAN, TIME_LONG - TIME_MEDIAN);
	if (size == WAN_1G) {
		add_pairs(&sheet, pairs + TIME_LONG, 1);
		sheet_note(&sheet,
			   "\"share below limit\" is the share of writes below 2 s on Titan and "
			   "below 3.5 s on Cori. Paper: most writes; two modes; a long tail "
			   "with some writes of 50 s or more.");
	} else {
		sheet_note(&sheet, "Paper: two modes; a sample row shows 8.51 ms.");
	}
	reproduce_add_modelled(output, &sheet);
}

#define JOB_ROWS 11
#define SMALL_NODES 10
#define SECONDS_PER_HOUR 3600

static void fill_range(const double *values, size_t count, const double *paper, size_t k,
		       struct pair *pairs)
{
	static const double shares[] = { 0, 0.5, 1 };

	for (size_t i = 0; i < 3; i++) {
		pairs[i].paper[k] = paper[i];
		pairs[i].ours[k] = metrics_quantile(values, count, shares[i]);
	}
}

static void fill_jobs(const struct wan *wan, size_t k, struct pair pairs[JOB_ROWS])
{
	const struct wan_paper *paper = wan->paper;
	size_t count = wan->generated.job_count, kept = 0, small = 0;
	AUTO_FREE double *nodes = xcalloc(count + 1, sizeof(*nodes));
	AUTO_FREE double *memory = xcalloc(count + 1, sizeof(*memory));
	AUTO_FREE double *hours = xcalloc(count + 1, sizeof(*hours));

	for (size_t i = 0; i < count; i++) {
		const struct system_job *job = &wan->generated.jobs[i];

		if (job->start_s < 0)
			continue;
		nodes[kept] = job->nodes;
		memory[kept] = job->memory_bytes / 1e9;
		hours[kept++] = (job->end_s - job->start_s) / SECONDS_PER_HOUR;
		small += job->nodes < SMALL_NODES;
	}
	pairs[0].paper[k] = paper->per_day;
	pairs[0].ours[k] = (double)kept / wan->days;
	pairs[1].paper[k] = paper->small;
	pairs[1].ours[k] = (double)small / (double)kept;
	fill_range(nodes, kept, paper->nodes, k, pairs + 2);
	fill_range(memory, kept, paper->memory_gb, k, pairs + 5);
	fill_range(hours, kept, paper->hours, k, pairs + 8);
}

static void add_jobs(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	struct pair pairs[JOB_ROWS] = {
		{ .name = "jobs per day" },	 { .name = "share below 10 nodes" },
		{ .name = "nodes, minimum" },	 { .name = "nodes, median" },
		{ .name = "nodes, maximum" },	 { .name = "memory GB, minimum" },
		{ .name = "memory GB, median" }, { .name = "memory GB, maximum" },
		{ .name = "hours, minimum" },	 { .name = "hours, median" },
		{ .name = "hours, maximum" },
	};
	struct sheet sheet;

	for (size_t k = 0; k < WAN_SYSTEMS; k++)
		fill_jobs(&systems[k], k, pairs);
	sheet_init(&sheet, "table1", "Table I: jobs", columns);
	add_pairs(&sheet, pairs, JOB_ROWS);
	sheet_note(&sheet, "Paper: more than 50 %% of the jobs on Cori have fewer than 10 nodes.");
	reproduce_add_modelled(output, &sheet);
}

#define MIXTURE_ROWS 7

static void fill_mixture(const struct wan *wan, size_t k, struct pair pairs[MIXTURE_ROWS])
{
	const struct mixture *mixture = states_mixture(&wan->judged.states, 0, WAN_1G);
	struct judgment_sum ceiling, truth;

	for (size_t i = 0; i < MIXTURE_ROWS; i++)
		pairs[i].paper[k] = pairs[i].ours[k] = NAN;
	judgment_sum_cases(&wan->judged, WAN_1G, offsetof(struct judgment_case, ceiling), 0,
			   &ceiling);
	judgment_sum_cases(&wan->judged, WAN_1G, offsetof(struct judgment_case, label_truth), 0,
			   &truth);
	for (size_t c = 0; mixture && c < 2; c++) {
		double mu = mixture->components[c].first, s = mixture->components[c].second;

		pairs[c].paper[k] = wan->paper->modes_s[c];
		pairs[c].ours[k] = exp(mu - s * s);
		pairs[2 + c].ours[k] = s;
	}
	pairs[4].ours[k] = mixture ? mixture->components[0].weight : NAN;
	pairs[5].ours[k] = ceiling.mean;
	pairs[6].ours[k] = truth.mean;
}

static void add_mixture(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	struct pair pairs[MIXTURE_ROWS] = {
		{ .name = "mode of the idle state, s" },
		{ .name = "mode of the busy state, s" },
		{ .name = "sigma of the idle state" },
		{ .name = "sigma of the busy state" },
		{ .name = "weight of the idle state" },
		{ .name = "highest possible accuracy" },
		{ .name = "labels equal to the true state" },
	};
	struct sheet sheet;

	for (size_t k = 0; k < WAN_SYSTEMS; k++)
		fill_mixture(&systems[k], k, pairs);
	sheet_init(&sheet, "figure6", "Figure 6: two log-normal states of 1 GB writes", columns);
	add_pairs(&sheet, pairs, MIXTURE_ROWS);
	sheet_note(&sheet, "Fitted to the training days of %zu and %zu targets.",
		   systems[0].few.target_count, systems[1].few.target_count);
	sheet_note(&sheet,
		   "Labels are drawn from the posterior distribution, so no classifier can "
		   "predict all of them. The \"highest possible accuracy\" is reached with known "
		   "write times; the last row is reached with known states.");
	reproduce_add_modelled(output, &sheet);
}

void wan_add_trace(struct reproduce_output *output, const struct wan systems[WAN_SYSTEMS])
{
	add_times(output, systems, WAN_1G, "figure4", "Figure 4: times of 1 GB writes");
	add_times(output, systems, WAN_PROBE, "figure5", "Figure 5: times of 1 MB probes");
	add_jobs(output, systems);
	add_mixture(output, systems);
}
