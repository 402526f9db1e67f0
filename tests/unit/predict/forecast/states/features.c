/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-16, WAN-21, WAN-23, WAN-AC-2, WAN-AC-3.
 */
#include "predict/forecast/states/features.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/labels.h"

#define START 1000000.0

enum { JOBS, BATCH, DEBUG, XL, L, M, S, XS, NEW, MIDDLE, OLD, VIRTUAL, MEMORY, LATENCY, MEAN, SD };

static const uint64_t sizes[] = { 1u << 20, 64u << 20, 1u << 30 };

/* Pseudo-random numbers, the same in each run. */
static double noise(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / 0x1p53;
}

static struct job *job_add(struct jobs *jobs, const char *queue, double nodes, double used_s,
			   double allocated_s)
{
	struct job *job = jobs_add(jobs);

	free(job->queue);
	job->queue = xstrdup(queue);
	job->nodes = nodes;
	job->used_s = used_s;
	job->allocated_s = allocated_s;
	return job;
}

/* Probes every 30 s; reference writes and an increasing number of jobs every 300 s. */
static struct chronicle chronicle_sample(size_t targets, size_t rounds)
{
	struct chronicle chronicle;
	uint64_t state = 1;

	chronicle_init(&chronicle, "titan", sizes, 3);
	for (size_t target = 0; target < targets; target++) {
		char name[32];

		snprintf(name, sizeof(name), "atlas1-%zu", target);
		chronicle_add_target(&chronicle, name);
	}
	for (size_t i = 0; i < rounds; i++) {
		double time_s = START + 30 * (double)i;

		for (size_t target = 0; target < targets; target++) {
			chronicle_add(&chronicle, target, 0, time_s, 0.005 + 0.01 * noise(&state),
				      SAMPLE_DONE, SAMPLE_DIRECT);
			for (size_t size = 1; size < 3 && i % 10 == 0; size++)
				chronicle_add(&chronicle, target, size, time_s,
					      (double)size + noise(&state), SAMPLE_DONE,
					      SAMPLE_DIRECT);
		}
		if (i % 10 == 0) {
			struct jobs jobs = { .time_s = time_s };

			for (size_t j = 0; j <= i / 10 % 40; j++)
				job_add(&jobs, j % 3 ? "batch" : "debug", 20000 * noise(&state),
					floor(7200 * noise(&state)), 7200);
			chronicle_add_jobs(&chronicle, &jobs);
			chronicle_add_node(&chronicle,
					   &(struct node_state){ time_s, { (double)i, 0.5 } });
		}
	}
	return chronicle;
}

static void plan_of(struct features_plan *plan, const char *text)
{
	struct err err = { 0 };

	features_plan_init(plan);
	CHECK_INT(features_plan_parse(plan, text, &err), 0);
}

/* The column of that name. */
static size_t column_of(const struct features_plan *plan, const char *name)
{
	size_t column = 0;

	while (column < features_width(plan) && strcmp(features_name(plan, column), name) != 0)
		column++;
	REQUIRE(column < features_width(plan));
	return column;
}

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void paper_has_sixteen_and_all_have_names(void)
{
	struct features_plan plan;
	struct err err = { 0 };

	features_plan_init(&plan);
	CHECK_INT(features_width(&plan), 16);
	CHECK(plan.window_s == 600 && plan.horizon_s == 0);
	CHECK_TEXT(features_name(&plan, JOBS), "jobs");
	CHECK_TEXT(features_name(&plan, XL), "jobs_extra_large");
	CHECK_TEXT(features_name(&plan, OLD), "jobs_old");
	CHECK_TEXT(features_name(&plan, SD), "latency_sd");
	CHECK(!features_name(&plan, 16));
	CHECK_INT(features_plan_parse(&plan, "all", &err), 0);
	CHECK(features_width(&plan) > 30 && features_width(&plan) <= FEATURES_MAX);
	for (size_t i = 0; i < features_width(&plan); i++)
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(features_name(&plan, i), features_name(&plan, j)) != 0);
	CHECK_INT(features_plan_parse(&plan, "recent", &err), 0);
	CHECK_INT(plan.groups, FEATURE_RECENT);
	CHECK_INT(features_plan_parse(&plan, "latency,clock", &err), 0);
	CHECK_INT(features_width(&plan), 7);
	CHECK_INT(features_plan_parse(&plan, "paper,magic", &err), -EINVAL);
	CHECK(strstr(err.text, "\"magic\"") && strstr(err.text, "neighbors"));
	CHECK_INT(features_plan_parse(&plan, "", &err), -EINVAL);
	CHECK_INT(features_width(&plan), 7);
}

static void bounds_of_classes_are_those_of_the_paper(void)
{
	static const struct {
		double nodes;
		int class;
	} rows[] = {
		{ 1, XS },   { 125, XS },  { 126, S },	  { 312, S },	 { 313, M },  { 3749, M },
		{ 3750, L }, { 11249, L }, { 11250, XL }, { 18688, XL }, { NAN, XS }, { 0, XS },
	};
	double status[FEATURE_STATUS_COUNT];
	struct site site;

	site_init(&site);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct jobs jobs = { 0 };

		job_add(&jobs, "batch", rows[i].nodes, 1, 2);
		features_status(&jobs, &site, status);
		for (int class = XL; class <= XS; class ++)
			CHECK_INT(status[class], class == rows[i].class);
		jobs_release(&jobs);
	}
	site_release(&site);
}

static void age_classes_are_thirds_and_bounds_are_middle_aged(void)
{
	static const struct {
		double used_s, allocated_s;
		int age;
	} rows[] = {
		{ 0, 3600, NEW },	{ 1199, 3600, NEW },  { 1200, 3600, MIDDLE },
		{ 2400, 3600, MIDDLE }, { 2401, 3600, OLD },  { 9999, 3600, OLD },
		{ 1, 3, MIDDLE },	{ 2, 3, MIDDLE },     { 7, 21, MIDDLE },
		{ 14, 21, MIDDLE },	{ 36000, NAN, NEW },  { NAN, 3600, NEW },
		{ 5, 0, NEW },		{ 5, INFINITY, NEW },
	};
	double status[FEATURE_STATUS_COUNT];
	struct site site;

	site_init(&site);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct jobs jobs = { 0 };

		job_add(&jobs, "batch", 1, rows[i].used_s, rows[i].allocated_s);
		features_status(&jobs, &site, status);
		for (int age = NEW; age <= OLD; age++)
			CHECK_INT(status[age], age == rows[i].age);
		jobs_release(&jobs);
	}
	site_release(&site);
}

static void queues_and_memory_are_summed_over_jobs(void)
{
	double status[FEATURE_STATUS_COUNT];
	struct jobs jobs = { 0 };
	struct job *job;
	struct site site;

	site_init(&site);
	snprintf(site.batch, sizeof(site.batch), "batch,reg*");
	snprintf(site.debug, sizeof(site.debug), "debug");
	job_add(&jobs, "batch", 1, 1, 2)->memory_bytes = 100;
	job_add(&jobs, "regular", 1, 1, 2)->virtual_bytes = 7;
	job_add(&jobs, "debug", 1, 1, 2);
	job = job_add(&jobs, "other", 1, 1, 2);
	job->memory_bytes = 11;
	job->virtual_bytes = 4;
	features_status(&jobs, &site, status);
	CHECK(status[JOBS] == 4 && status[BATCH] == 2 && status[DEBUG] == 1);
	CHECK(status[VIRTUAL] == 11 && status[MEMORY] == 111);
	jobs_release(&jobs);
	features_status(&jobs, &site, status);
	for (int i = 0; i < FEATURE_STATUS_COUNT; i++)
		CHECK(status[i] == 0);
	site_release(&site);
}

static void classes_and_ages_sum_to_the_jobs(void)
{
	struct chronicle chronicle = chronicle_sample(2, 400);
	struct features features;
	struct features_plan plan;
	struct feature_rows rows;
	struct site site;

	site_init(&site);
	features_plan_init(&plan);
	features_init(&features, &chronicle, &site, &plan);
	features_rows(&features, 1, 2, -INFINITY, INFINITY, &rows);
	REQUIRE(rows.rows == 40 && rows.width == 16);
	for (size_t i = 0; i < rows.rows; i++) {
		const double *x = rows.x + i * rows.width;

		CHECK(x[JOBS] == (double)(i % 40 + 1));
		CHECK(x[XL] + x[L] + x[M] + x[S] + x[XS] == x[JOBS]);
		CHECK(x[NEW] + x[MIDDLE] + x[OLD] == x[JOBS]);
		CHECK(x[BATCH] + x[DEBUG] == x[JOBS]);
	}
	feature_rows_release(&rows);
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

static void window_has_twenty_probes_and_correct_statistics(void)
{
	struct chronicle chronicle = chronicle_sample(1, 100);
	const float *seconds = chronicle_series(&chronicle, 0, 0)->seconds;
	double row[16], sum = 0, squares = 0;
	struct features features;
	struct features_plan plan;
	struct site site;

	site_init(&site);
	features_plan_init(&plan);
	features_init(&features, &chronicle, &site, &plan);
	/* The probe at this time is included; the one 600 s before is not. */
	CHECK_INT(features_at(&features, 0, 2, START + 30 * 70, row), 16);
	for (int i = 51; i <= 70; i++)
		sum += (double)seconds[i];
	for (int i = 51; i <= 70; i++)
		squares += pow((double)seconds[i] - sum / 20, 2);
	CHECK(row[LATENCY] == (double)seconds[70]);
	CHECK(is_near(row[MEAN], sum / 20));
	CHECK(is_near(row[SD], sqrt(squares / 19)));
	features_at(&features, 0, 2, START, row);
	CHECK(row[LATENCY] == (double)seconds[0] && row[MEAN] == row[LATENCY] && isnan(row[SD]));
	CHECK_INT(features_at(&features, 0, 2, START - 1, row), 0);
	/* Long after the last probe, jobs are known and probes are not. */
	CHECK_INT(features_at(&features, 0, 2, START + 99999, row), 13);
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

static void timeouts_count_with_their_duration_and_failures_do_not(void)
{
	struct chronicle chronicle;
	struct features features;
	struct features_plan plan;
	struct feature_rows rows;
	struct site site;
	double row[16];

	site_init(&site);
	features_plan_init(&plan);
	chronicle_init(&chronicle, "here", sizes, 2);
	chronicle_add_target(&chronicle, "a");
	chronicle_add(&chronicle, 0, 0, 100, 1, SAMPLE_DONE, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 0, 130, 30, SAMPLE_TIMEOUT, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 0, 160, 9, SAMPLE_FAILED, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 0, 190, 9, SAMPLE_FULL, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 1, 190, 60, SAMPLE_TIMEOUT, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 1, 191, 9, SAMPLE_FULL, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 0, 1, 192, 3, SAMPLE_DONE, SAMPLE_DIRECT);
	features_init(&features, &chronicle, &site, &plan);
	CHECK_INT(features_at(&features, 0, 1, 200, row), 3);
	CHECK(row[LATENCY] == 30 && row[MEAN] == 15.5 && is_near(row[SD], 29 / sqrt(2)));
	features_rows(&features, 0, 1, 0, 1000, &rows);
	REQUIRE(rows.rows == 2);
	CHECK(rows.seconds[0] == 60 && rows.seconds[1] == 3);
	CHECK(rows.sample[0] == 0 && rows.sample[1] == 2);
	CHECK(rows.timeouts == 1 && rows.gaps == 26);
	feature_rows_release(&rows);
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

/* Changes all samples, jobs and node states after a time. */
static void future_alter(struct chronicle *chronicle, double after_s)
{
	uint64_t state = 99;

	for (size_t i = 0; i < chronicle->target_count * CHRONICLE_SIZES; i++) {
		struct chronicle_series *series = &chronicle->series[i];

		for (size_t j = chronicle_count_until(series, after_s); j < series->count; j++) {
			series->seconds[j] = (float)(100 * noise(&state));
			series->outcome[j] = noise(&state) < 0.3 ? SAMPLE_TIMEOUT : SAMPLE_DONE;
		}
	}
	for (size_t i = 0; i < chronicle->snapshot_count; i++)
		if (chronicle->snapshots[i].time_s > after_s)
			job_add(&chronicle->snapshots[i], "batch", 1e6, 1, 2);
	for (size_t i = 0; i < chronicle->node_count; i++)
		if (chronicle->nodes[i].time_s > after_s)
			chronicle->nodes[i].values[NODE_LOAD] = -1;
}

static void future_changes_no_row(void)
{
	struct chronicle before = chronicle_sample(4, 300), after = chronicle_sample(4, 300);
	double moment_s = START + 30 * 200 + 1, one[FEATURES_MAX], other[FEATURES_MAX];
	struct features past, altered;
	struct features_plan plan;
	struct site site;
	size_t width, changed = 0;

	site_init(&site);
	plan_of(&plan, "all");
	width = features_width(&plan);
	future_alter(&after, moment_s);
	features_init(&past, &before, &site, &plan);
	features_init(&altered, &after, &site, &plan);
	for (size_t target = 0; target < 4; target++)
		for (double time_s = START; time_s < START + 9000; time_s += 97) {
			features_at(&past, target, 2, time_s, one);
			features_at(&altered, target, 2, time_s, other);
			for (size_t i = 0; i < width; i++)
				if (time_s <= moment_s)
					CHECK(is_same(one[i], other[i]));
				else
					changed += !is_same(one[i], other[i]);
		}
	/* Later rows do change, so the test can fail. */
	CHECK(changed > 1000);
	features_release(&past);
	features_release(&altered);
	chronicle_release(&before);
	chronicle_release(&after);
	site_release(&site);
}

static void horizon_uses_only_earlier_data(void)
{
	struct chronicle chronicle = chronicle_sample(3, 300);
	struct features features;
	struct features_plan plan;
	struct feature_rows rows;
	struct site site;
	double row[FEATURES_MAX];

	site_init(&site);
	plan_of(&plan, "all");
	plan.horizon_s = 450;
	features_init(&features, &chronicle, &site, &plan);
	features_rows(&features, 1, 1, START + 3000, START + 6000, &rows);
	REQUIRE(rows.rows == 10);
	CHECK(rows.time_s[0] == START + 3000 && rows.time_s[9] == START + 5700);
	for (size_t i = 0; i < rows.rows; i++) {
		features_at(&features, 1, 1, rows.time_s[i] - 450, row);
		for (size_t j = 0; j < rows.width; j++)
			CHECK(is_same(row[j], rows.x[i * rows.width + j]));
	}
	feature_rows_release(&rows);
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

/* With the probe of the round of a write, its age is 0; without, that of the round before. */
static void probes_of_earlier_rounds_have_their_age(void)
{
	struct chronicle chronicle = chronicle_sample(2, 300);
	struct features features;
	struct features_plan plan;
	struct feature_rows rows;
	struct site site;
	double row[FEATURES_MAX];

	site_init(&site);
	plan_of(&plan, "latency");
	for (int earlier = 0; earlier < 2; earlier++) {
		plan.earlier_rounds = earlier;
		features_init(&features, &chronicle, &site, &plan);
		features_rows(&features, 1, 1, START + 3000, START + 6000, &rows);
		REQUIRE(rows.rows == 10);
		for (size_t i = 0; i < rows.rows; i++) {
			CHECK(rows.age_s[i] == (earlier ? 30 : 0));
			features_at(&features, 1, 1, rows.time_s[i] - (earlier ? 30 : 0), row);
			CHECK(row[0] == rows.x[i * rows.width]);
		}
		feature_rows_release(&rows);
		features_release(&features);
	}
	chronicle_release(&chronicle);
	site_release(&site);
}

static double ewm_direct(const struct chronicle_series *probes, double time_s, double half_life_s)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < probes->count && probes->time_s[i] <= time_s; i++) {
		double w = exp2((probes->time_s[i] - time_s) / half_life_s);

		sum += w * (double)probes->seconds[i];
		weight += w;
	}
	return sum / weight;
}

static void weighted_means_equal_direct_computation(void)
{
	struct chronicle chronicle = chronicle_sample(2, 500);
	const struct chronicle_series *probes = chronicle_series(&chronicle, 1, 0);
	struct features features;
	struct features_plan plan;
	struct site site;
	double row[FEATURES_MAX];

	site_init(&site);
	plan_of(&plan, "ewm");
	features_init(&features, &chronicle, &site, &plan);
	for (double time_s = START + 5; time_s < START + 15000; time_s += 111) {
		CHECK_INT(features_at(&features, 1, 2, time_s, row), 3);
		CHECK(is_near(row[0], ewm_direct(probes, time_s, 120)));
		CHECK(is_near(row[1], ewm_direct(probes, time_s, 600)));
		CHECK(is_near(row[2], ewm_direct(probes, time_s, 3600)));
	}
	CHECK_INT(features_at(&features, 1, 2, START + 15000 + 1300, row), 2);
	CHECK_INT(features_at(&features, 1, 2, START - 1, row), 0);
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

/* Mean and deviation of the probes of all other targets in (from, to]. */
static void others_direct(const struct chronicle *chronicle, size_t target, double from_s,
			  double to_s, double *mean, double *sd)
{
	double sum = 0, squares = 0, count = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < chronicle->target_count; i++) {
			const struct chronicle_series *probes = chronicle_series(chronicle, i, 0);

			for (size_t j = 0; i != target && j < probes->count; j++) {
				if (probes->time_s[j] <= from_s || probes->time_s[j] > to_s)
					continue;
				if (pass)
					squares += pow((double)probes->seconds[j] - sum / count, 2);
				else
					sum += (double)probes->seconds[j];
				count += !pass;
			}
		}
	*mean = sum / count;
	*sd = sqrt(squares / (count - 1));
}

static void neighbors_checked(const struct features *features, size_t target, double time_s)
{
	double row[FEATURES_MAX], own[16], mean, sd, now, unused;
	struct features_plan paper;
	struct features alone;

	features_plan_init(&paper);
	features_init(&alone, features->chronicle, features->site, &paper);
	features_at(&alone, target, 2, time_s, own);
	features_at(features, target, 2, time_s, row);
	others_direct(features->chronicle, target, time_s - 600, time_s, &mean, &sd);
	others_direct(features->chronicle, target, time_s - 60, time_s, &now, &unused);
	CHECK(is_near(row[0], mean));
	CHECK(fabs(row[1] - sd) < 1e-7 * sd);
	CHECK(is_near(row[2], now));
	CHECK(is_near(row[3], own[MEAN] / mean));
	features_release(&alone);
}

static void neighbors_are_all_others(void)
{
	struct chronicle chronicle = chronicle_sample(5, 200);
	struct features features;
	struct features_plan plan;
	struct site site;
	double row[FEATURES_MAX];

	site_init(&site);
	plan_of(&plan, "neighbors");
	features_init(&features, &chronicle, &site, &plan);
	for (double time_s = START + 50; time_s < START + 6000; time_s += 333)
		neighbors_checked(&features, 3, time_s);
	CHECK_INT(features_at(&features, 3, 2, START - 1, row), 0);
	features_release(&features);
	chronicle_release(&chronicle);
	/* A single target has no neighbors. */
	chronicle = chronicle_sample(1, 50);
	features_init(&features, &chronicle, &site, &plan);
	CHECK_INT(features_at(&features, 0, 2, START + 600, row), 0);
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

/* The chronicle grows by one target after the other, and its first data is discarded. */
static void cache_follows_a_growing_chronicle(void)
{
	struct chronicle whole = chronicle_sample(3, 120), grown;
	double row[FEATURES_MAX], expected[FEATURES_MAX];
	struct features features, at_once;
	struct features_plan plan;
	struct site site;

	site_init(&site);
	plan_of(&plan, "ewm,neighbors,latency");
	chronicle_init(&grown, "titan", sizes, 3);
	features_init(&features, &grown, &site, &plan);
	for (size_t piece = 0; piece < 6; piece++)
		for (size_t target = 0; target < 3; target++) {
			const struct chronicle_series *from = chronicle_series(&whole, target, 0);

			chronicle_add_target(&grown, whole.targets[target]);
			for (size_t i = 20 * piece; i < 20 * piece + 20; i++)
				chronicle_add(&grown, target, 0, from->time_s[i],
					      (double)from->seconds[i], SAMPLE_DONE, SAMPLE_DIRECT);
			features_update(&features);
		}
	features_init(&at_once, &whole, &site, &plan);
	for (int pass = 0; pass < 2; pass++) {
		for (double time_s = START + 2000; time_s < START + 3600; time_s += 61) {
			features_at(&features, 1, 2, time_s, row);
			features_at(&at_once, 1, 2, time_s, expected);
			for (size_t i = 0; i < features_width(&plan); i++)
				CHECK(is_near(row[i], expected[i]));
		}
		chronicle_discard_before(&whole, START + 1000);
		chronicle_discard_before(&grown, START + 1000);
		features_update(&features);
		features_release(&at_once);
		features_init(&at_once, &whole, &site, &plan);
	}
	features_release(&features);
	features_release(&at_once);
	chronicle_release(&whole);
	chronicle_release(&grown);
	site_release(&site);
}

static void past_has_only_writes_that_had_ended(void)
{
	struct chronicle chronicle;
	struct features features;
	struct features_plan plan;
	struct feature_rows rows;
	struct site site;
	double row[FEATURES_MAX];

	site_init(&site);
	plan_of(&plan, "past");
	chronicle_init(&chronicle, "here", sizes, 2);
	chronicle_add_target(&chronicle, "a");
	for (int i = 0; i < 10; i++)
		chronicle_add(&chronicle, 0, 1, 100 * i, i + 1, SAMPLE_DONE, SAMPLE_DIRECT);
	features_init(&features, &chronicle, &site, &plan);
	features_rows(&features, 0, 1, 0, 1000, &rows);
	REQUIRE(rows.rows == 10 && rows.width == 4);
	CHECK(isnan(rows.x[0]) && isnan(rows.x[3]));
	CHECK(rows.x[4] == 1 && isnan(rows.x[5]) && rows.x[6] == 1 && rows.x[7] == 100);
	/* The ninth write sees the eighth and earlier ones: 9 8 7 6 5 4. */
	CHECK(rows.x[36] == 9 && rows.x[37] == 8 && rows.x[38] == 6.5 && rows.x[39] == 100);
	/* At 805 s, the write of 800 s has not ended; it takes 9 s. */
	features_at(&features, 0, 1, 805, row);
	CHECK(row[0] == 8 && row[3] == 105);
	features_at(&features, 0, 1, 809, row);
	CHECK(row[0] == 9 && row[3] == 9);
	feature_rows_release(&rows);
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

/* The posterior of busy of the writes that had ended; the prior is that of the mixture. */
static void share_is_that_of_recent_writes(void)
{
	struct border border = { .target = "a",
				 .bytes = sizes[1],
				 .mixture = {
					 .family = MIXTURE_LOGNORMAL,
					 .count = 2,
					 .components = { { 0.6, 0, 0.1 }, { 0.4, 2, 0.1 } } } };
	struct borders borders = { &border, 1 };
	double row[FEATURES_MAX], decay = exp2(-1.0 / FEATURE_SHARE_HALF), weight = 2, sum = 0.8;
	struct chronicle chronicle;
	struct features features;
	struct features_plan plan;
	struct site site;

	site_init(&site);
	plan_of(&plan, "share");
	plan.borders = &borders;
	chronicle_init(&chronicle, "here", sizes, 2);
	chronicle_add_target(&chronicle, "a");
	chronicle_add_target(&chronicle, "b");
	for (int i = 0; i < 10; i++)
		chronicle_add(&chronicle, 0, 1, 100 * i, i < 7 ? 1 : 7.4F, SAMPLE_DONE,
			      SAMPLE_DIRECT);
	features_init(&features, &chronicle, &site, &plan);
	CHECK_INT(features_at(&features, 0, 1, 1, row), 1);
	CHECK(is_near(row[0], 0.8 / 3));
	/* The write of 900 s takes until 907.4 s. */
	for (int i = 8; i >= 0; i--) {
		double w = exp2(-(8.0 - i) / FEATURE_SHARE_HALF);

		sum += i < 7 ? 0 : w;
		weight += w;
	}
	features_at(&features, 0, 1, 905, row);
	CHECK(fabs(row[0] - sum / weight) < 1e-6);
	features_at(&features, 0, 1, 908, row);
	CHECK(fabs(row[0] - (0.8 + 1 + (sum - 0.8) * decay) / (2 + 1 + (weight - 2) * decay)) <
	      1e-6);
	/* More writes extend the cache; a target without a mixture has no share. */
	chronicle_add(&chronicle, 0, 1, 1000, 1, SAMPLE_DONE, SAMPLE_DIRECT);
	chronicle_add(&chronicle, 1, 1, 1000, 1, SAMPLE_DONE, SAMPLE_DIRECT);
	features_update(&features);
	features_at(&features, 0, 1, 1002, row);
	CHECK(fabs(row[0] - (0.8 + decay + (sum - 0.8) * decay * decay) /
				    (2 + 1 + decay + (weight - 2) * decay * decay)) < 1e-6);
	features_at(&features, 1, 1, 1002, row);
	CHECK(isnan(row[0]));
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

static void clock_and_node_match_the_time(void)
{
	struct chronicle chronicle = chronicle_sample(1, 100);
	struct features features;
	struct features_plan plan;
	struct site site;
	double row[FEATURES_MAX];
	size_t day, load;

	site_init(&site);
	plan_of(&plan, "clock,node");
	day = column_of(&plan, "day_sin");
	load = column_of(&plan, "node_load");
	features_init(&features, &chronicle, &site, &plan);
	features_at(&features, 0, 1, 86400 * 20 + 6 * 3600, row);
	CHECK(is_near(row[day], 1) && fabs(row[day + 1]) < 1e-9);
	features_at(&features, 0, 1, START + 30 * 27, row);
	CHECK(row[load] == 20);
	CHECK(row[column_of(&plan, "node_cpu")] == 0.5);
	features_at(&features, 0, 1, START + 30 * 90 + 600, row);
	CHECK(isnan(row[load]));
	features_release(&features);
	chronicle_release(&chronicle);
	site_release(&site);
}

TESTS(TEST(paper_has_sixteen_and_all_have_names), TEST(bounds_of_classes_are_those_of_the_paper),
      TEST(age_classes_are_thirds_and_bounds_are_middle_aged),
      TEST(queues_and_memory_are_summed_over_jobs), TEST(classes_and_ages_sum_to_the_jobs),
      TEST(window_has_twenty_probes_and_correct_statistics),
      TEST(timeouts_count_with_their_duration_and_failures_do_not), TEST(future_changes_no_row),
      TEST(horizon_uses_only_earlier_data), TEST(probes_of_earlier_rounds_have_their_age),
      TEST(weighted_means_equal_direct_computation), TEST(neighbors_are_all_others),
      TEST(cache_follows_a_growing_chronicle), TEST(past_has_only_writes_that_had_ended),
      TEST(share_is_that_of_recent_writes), TEST(clock_and_node_match_the_time))
