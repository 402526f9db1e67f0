/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The generated Titan and Cori match the published data: Table I, the two modes of write times, and
 * their tail. Forecasts from this data are tested elsewhere.
 * Papers: WAN-5, WAN-12, WAN-14, WAN-15, WAN-40.
 */
#include "predict/simulate/system.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "predict/describe.h"
#include "predict/simulate/system_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DAY_S 86400.0

static struct system *opened(const char *name)
{
	struct system *system = NULL;
	struct err err = { 0 };

	CHECK_INT(system_open(&system, name, &err), 0);
	CHECK_TEXT(err.text, "");
	REQUIRE(system);
	return system;
}

static struct generated made(const struct system *system, const struct system_request *wish)
{
	struct generated generated = { 0 };
	struct err err = { 0 };

	REQUIRE(system_generate(&generated, system, wish, &err) == 0);
	return generated;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool is_near(double value, double expected, double part)
{
	if (fabs(value - expected) <= part * expected)
		return true;
	printf("%g is not within %g of %g\n", value, part, expected);
	return false;
}

struct published {
	const char *name;
	double per_day, small;
	double nodes[3], memory_gb[3], hours[3]; /* least, median, most */
};
static const struct published published[] = {
	{ "titan", 820, 0.18, { 1, 64, 17920 }, { 0.001, 3.27, 3135.9 }, { 0.0014, 1.58, 28 } },
	{ "cori", 1340, 0.54, { 1, 8, 5468 }, { 1, 360, 492120 }, { 0.05, 1.95, 48 } },
};

static void check_three(double *values, size_t count, const double expected[3], double part)
{
	qsort(values, count, sizeof(*values), compare);
	CHECK(is_near(values[0], expected[0], 0.2));
	CHECK(is_near(values[count / 2], expected[1], part));
	CHECK(is_near(values[count - 1], expected[2], 0.01));
}

static void check_table(const struct published *paper)
{
	struct system *system = opened(paper->name);
	double days = 40, small = 0, *values[3];
	size_t count, kept = 0;
	struct system_job *jobs = system_jobs(system, 7, days * DAY_S, 0, &count);

	for (size_t i = 0; i < COUNT(values); i++)
		values[i] = xcalloc(count, sizeof(*values[i]));
	for (size_t i = 0; i < count; i++) {
		if (jobs[i].start_s < 0)
			continue;
		values[0][kept] = jobs[i].nodes;
		values[1][kept] = jobs[i].memory_bytes / 1e9;
		values[2][kept++] = (jobs[i].end_s - jobs[i].start_s) / 3600;
		small += jobs[i].nodes < 10;
	}
	CHECK(is_near((double)kept / days, paper->per_day, 0.03));
	CHECK(is_near(small / (double)kept, paper->small, 0.05));
	check_three(values[0], kept, paper->nodes, 0.05);
	check_three(values[1], kept, paper->memory_gb, 0.12);
	check_three(values[2], kept, paper->hours, 0.04);
	for (size_t i = 0; i < COUNT(values); i++)
		free(values[i]);
	free(jobs);
	system_close(system);
}

static void jobs_match_table_1(void)
{
	for (size_t i = 0; i < COUNT(published); i++)
		check_table(&published[i]);
}

/* The use of nodes peaks right after the start of a job. */
static void running_jobs_never_exceed_the_nodes_of_the_system(void)
{
	struct system *system = opened("titan");
	size_t count;
	struct system_job *jobs = system_jobs(system, 3, 6 * DAY_S, 0, &count);
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		double nodes = 0, now_s = jobs[i].start_s;

		CHECK(!i || jobs[i - 1].start_s <= now_s);
		CHECK(jobs[i].submit_s <= now_s);
		CHECK(jobs[i].requested_s >= jobs[i].end_s - now_s);
		for (size_t k = 0; i % 8 == 0 && k <= i; k++)
			nodes += jobs[k].end_s > now_s ? jobs[k].nodes : 0;
		most = fmax(most, nodes);
	}
	CHECK(most <= 18688);
	CHECK(most > 0.9 * 18688);
	free(jobs);
	system_close(system);
}

/* Backfill lets small jobs overtake, but large jobs still start. */
static void small_jobs_are_backfilled_and_large_ones_start(void)
{
	struct system *system = opened("titan");
	size_t count, passed = 0;
	struct system_job *jobs = system_jobs(system, 3, 6 * DAY_S, 0, &count);

	for (size_t i = 1; i < count; i++)
		passed += jobs[i].submit_s < jobs[i - 1].submit_s;
	CHECK(passed > 0);
	for (size_t i = 0; i < count; i++)
		CHECK(jobs[i].start_s - jobs[i].submit_s < 4 * DAY_S);
	free(jobs);
	system_close(system);
}

struct shape {
	const char *name;
	double within_s, idle_share;
	double modes[SYSTEM_SIZES][2];
};
static const struct shape shapes[] = {
	{ "titan",
	  2,
	  0.7,
	  { { 0.0085, 0.0136 }, { 0.112, 0.152 }, { 0.526, 0.736 }, { 1.85, 2.7 } } },
	{ "cori",
	  3.5,
	  0.65,
	  { { 0.0147, 0.0235 }, { 0.194, 0.233 }, { 0.91, 1.11 }, { 3.2, 4.0 } } },
};

#define BINS 60

static size_t highest(const double *bins, size_t from, size_t to)
{
	size_t best = from;

	for (size_t i = from; i < to; i++)
		best = bins[i] > bins[best] ? i : best;
	return best;
}

/* Checks that a histogram of 60 bins up to twice the slow mode has peaks at both modes and a valley
 * between them. */
static void check_modes(const struct generated *generated, size_t size, const double modes[2])
{
	double bins[BINS] = { 0 }, width = 2 * modes[1] / BINS, valley = INFINITY;
	size_t middle = (size_t)((modes[0] + modes[1]) / 2 / width), first, second;

	for (size_t t = 0; t < generated->chronicle.target_count; t++) {
		const struct chronicle_series *series =
			chronicle_series(&generated->chronicle, t, size);

		for (size_t i = 0; i < series->count; i++)
			if (series->seconds[i] < BINS * width)
				bins[(size_t)(series->seconds[i] / width)]++;
	}
	first = highest(bins, 0, middle);
	second = highest(bins, middle, BINS);
	for (size_t i = first; i < second; i++)
		valley = fmin(valley, bins[i]);
	CHECK(is_near(((double)first + 0.5) * width, modes[0], 0.06));
	CHECK(is_near(((double)second + 0.5) * width, modes[1], 0.10));
	CHECK(valley < 0.85 * bins[second]);
}

static void check_shape(const struct shape *shape)
{
	struct system *system = opened(shape->name);
	/* More writes than in the paper: the same states with more samples. */
	struct generated g =
		made(system, &(struct system_request){
				     .days = 4, .targets = 24, .seed = 5, .truth_every_s = 90 });
	double all = 0, within = 0, tail = 0, idle = 0;

	for (size_t size = 0; size < SYSTEM_SIZES; size++)
		check_modes(&g, size, shape->modes[size]);
	for (size_t t = 0; t < g.chronicle.target_count; t++) {
		const struct chronicle_series *series = chronicle_series(&g.chronicle, t, 3);

		for (size_t i = 0; i < series->count; i++) {
			CHECK(series->seconds[i] > 0 && series->seconds[i] <= 120);
			within += series->seconds[i] < shape->within_s;
			tail += series->seconds[i] > 20;
			idle += !g.busy[t * CHRONICLE_SIZES + 3][i];
			all++;
		}
	}
	CHECK(is_near(idle / all, shape->idle_share, 0.08));
	CHECK(within / all > 0.55);
	CHECK(tail > 0 && tail / all < 0.001);
	generated_release(&g);
	system_close(system);
}

static void writes_have_the_published_modes_and_a_tail(void)
{
	for (size_t i = 0; i < COUNT(shapes); i++)
		check_shape(&shapes[i]);
}

/* Within a state and without the tail, logarithms have the mean and deviation of the description.
 */
static void times_of_a_state_are_log_normal(void)
{
	struct system *system = opened("titan");
	double sum = 0, squares = 0, cubes = 0, n = 0;
	struct generated g;

	system->tail_share = system->shift = 0;
	g = made(system, &(struct system_request){
				 .days = 3, .targets = 8, .seed = 9, .truth_every_s = 30 });
	for (size_t t = 0; t < g.chronicle.target_count; t++) {
		const struct chronicle_series *series = chronicle_series(&g.chronicle, t, 3);

		for (size_t i = 0; i < series->count; i++) {
			double z = (log(series->seconds[i]) - log(1.85)) / 0.06 - 0.06;

			if (g.busy[t * CHRONICLE_SIZES + 3][i])
				continue;
			sum += z;
			squares += z * z;
			cubes += z * z * z;
			n++;
		}
	}
	CHECK(n > 20000);
	CHECK(fabs(sum / n) < 0.03);
	CHECK(fabs(squares / n - 1) < 0.03);
	CHECK(fabs(cubes / n) < 0.1);
	generated_release(&g);
	system_close(system);
}

static double busy_of(const struct generated *g, size_t target, size_t i)
{
	return g->busy[target * CHRONICLE_SIZES][i];
}

/* Targets are busier in the upper quartile of pressure than in the lower; phases last minutes to
 * hours. */
static void pressure_drives_states_that_last(void)
{
	struct system *system = opened("titan");
	struct generated g =
		made(system, &(struct system_request){ .days = 5, .targets = 12, .seed = 4 });
	double high = 0, highs = 0, low = 0, lows = 0, changes = 0, all = 0;

	CHECK_INT(g.pressure_count, 5 * 2880);
	for (size_t t = 0; t < g.chronicle.target_count; t++)
		for (size_t i = 1; i < g.pressure_count; i++) {
			double busy = busy_of(&g, t, i);

			high += g.pressure[i] > 0.7 ? busy : 0;
			highs += g.pressure[i] > 0.7;
			low += g.pressure[i] < -0.7 ? busy : 0;
			lows += g.pressure[i] < -0.7;
			changes += busy != busy_of(&g, t, i - 1);
			all++;
		}
	CHECK(high / highs > 1.5 * low / lows);
	/* An idle and a busy phase last 48 minutes together, on average, if none is too short to
	 * sample. */
	CHECK(all / changes * 2 * 30 > 15 * 60);
	CHECK(all / changes * 2 * 30 < 90 * 60);
	generated_release(&g);
	system_close(system);
}

static void same_series(const struct generated *a, const struct generated *b, size_t target,
			size_t size)
{
	const struct chronicle_series *x = chronicle_series(&a->chronicle, target, size);
	const struct chronicle_series *y = chronicle_series(&b->chronicle, target, size);
	size_t at = target * CHRONICLE_SIZES + size;

	CHECK_INT(x->count, y->count);
	CHECK(!memcmp(x->seconds, y->seconds, x->count * sizeof(*x->seconds)));
	CHECK(!memcmp(x->time_s, y->time_s, x->count * sizeof(*x->time_s)));
	CHECK(!memcmp(x->outcome, y->outcome, x->count));
	CHECK(!memcmp(a->busy[at], b->busy[at], x->count));
}

static void the_same_seed_gives_the_same_data_on_any_number_of_threads(void)
{
	struct system *system = opened("cori");
	struct system_request wish = { .days = 0.5, .targets = 7, .seed = 11, .threads = 1 };
	struct generated one = made(system, &wish), three, few, other;

	wish.threads = 3;
	three = made(system, &wish);
	wish.targets = 2;
	few = made(system, &wish);
	wish.seed = 12;
	other = made(system, &wish);
	CHECK_INT(one.job_count, three.job_count);
	CHECK(!memcmp(one.jobs, three.jobs, one.job_count * sizeof(*one.jobs)));
	for (size_t t = 0; t < 7; t++)
		for (size_t size = 0; size < SYSTEM_SIZES; size++)
			same_series(&one, &three, t, size);
	/* The data of a target does not depend on the number of targets. */
	for (size_t size = 0; size < SYSTEM_SIZES; size++)
		same_series(&few, &one, 1, size);
	CHECK(memcmp(chronicle_series(&few.chronicle, 0, 0)->seconds,
		     chronicle_series(&other.chronicle, 0, 0)->seconds, 1000 * sizeof(float)));
	generated_release(&one);
	generated_release(&three);
	generated_release(&few);
	generated_release(&other);
	system_close(system);
}

static void the_chronicle_has_the_sampling_intervals_of_the_paper(void)
{
	struct system *system = opened("titan");
	struct generated g =
		made(system, &(struct system_request){ .days = 1, .targets = 150, .seed = 1 });
	double waiting = 0;

	CHECK_TEXT(g.chronicle.targets[0], "atlas1-0");
	CHECK_TEXT(g.chronicle.targets[149], "atlas2-5");
	CHECK_INT(g.chronicle.snapshot_count, 288);
	CHECK_INT(chronicle_series(&g.chronicle, 149, 0)->count, 2880);
	CHECK_INT(chronicle_series(&g.chronicle, 149, 3)->count, 288);
	CHECK_INT(chronicle_find_size(&g.chronicle, 1 << 30), 3);
	CHECK(g.chronicle.snapshots[1].time_s == SYSTEM_START_S + 300);
	for (size_t i = 0; i < g.chronicle.snapshot_count; i++) {
		const struct jobs *jobs = &g.chronicle.snapshots[i];
		double nodes = 0;

		for (size_t k = 0; k < jobs->count; k++) {
			nodes += jobs->rows[k].nodes;
			CHECK(jobs->rows[k].used_s >= 0);
			CHECK(jobs->rows[k].used_s <= jobs->rows[k].allocated_s);
			waiting += strcmp(jobs->rows[k].queue, "debug") == 0;
		}
		CHECK(nodes > 0 && nodes <= 18688);
	}
	CHECK(waiting > 0);
	generated_release(&g);
	system_close(system);
}

static void refuse(const char *text, const char *words)
{
	struct system *system = NULL;
	struct err err = { 0 };

	CHECK(system_parse(&system, "x.ini", text, strlen(text), &err) < 0);
	CHECK(!system);
	CHECK_WORDS(err.text, words);
}

static void errors_in_descriptions_name_the_line(void)
{
	struct system *system = NULL;
	struct err err = { 0 };

	refuse("", "x.ini");
	refuse("[system]\nnodes = -3\n", "x.ini:2");
	refuse("[system]\nnodse = 3\n", "x.ini:2");
	refuse("[disks]\n[disks]\na = 1\n", "disks");
	refuse("[jobs]\nnodes = 0:1 0.5:64\n", "last share");
	refuse("[jobs]\nnodes = 0:1 0.5:64 0.4:70 1:80\n", "x.ini:2:|nodes");
	refuse("[jobs]\nnodes = 0:1 0.5:nan 1:80\n", "x.ini:2:|nodes");
	refuse("[jobs]\nnodes = a lot\n", "x.ini:2:|nodes");
	refuse("[system]\ntargets = atlas:0\n", "x.ini:2:|targets");
	refuse("[system]\ntargets = atlas:-1\n", "x.ini:2:|targets");
	CHECK_INT(system_open(&system, "no-such-system", &err), -ENOENT);
	CHECK_WORDS(err.text, "titan|cori");
}

/* Returns the text of the shipped description. */
static char *described(size_t *bytes)
{
	static const struct describe_folder folder = { "machines", "SLUICE_MACHINES", "system",
						       "" };
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *path = NULL;

	REQUIRE(describe_load(&folder, "titan", &path, &text, NULL) == 0);
	*bytes = text.len;
	return xstrndup(buf_text(&text), text.len);
}

static void damaged_descriptions_do_not_crash_the_reader(void)
{
	struct system_request wish = { .days = 0.01, .targets = 1, .probe_every_s = 60 };
	AUTO_FREE char *text = NULL;
	size_t bytes, good = 0;
	struct random random;

	text = described(&bytes);
	random_init(&random, 1);
	for (int i = 0; i < 400; i++) {
		size_t at = random_below(&random, bytes);
		char old = text[at];
		struct system *system = NULL;
		struct err err = { 0 };

		text[at] = (char)random_u64(&random);
		if (system_parse(&system, "x.ini", text, bytes, &err) < 0) {
			CHECK(!system && *err.text);
		} else if (system->per_day < 2000 && system->warm_days < 10 && good++ < 20) {
			struct generated g = made(system, &wish);

			CHECK_INT(chronicle_series(&g.chronicle, 0, 0)->count, 15);
			generated_release(&g);
		}
		system_close(system);
		text[at] = old;
	}
	CHECK(good > 20);
}

static void requests_beyond_the_system_are_refused(void)
{
	struct system *system = opened("cori");
	struct generated g = { 0 };
	struct err err = { 0 };

	CHECK_INT(system_targets(system), 248);
	CHECK(system_generate(&g, system, &(struct system_request){ .targets = 249 }, &err) < 0);
	CHECK(strstr(err.text, "248"));
	CHECK(system_generate(&g, system, &(struct system_request){ .days = 1e9 }, &err) < 0);
	CHECK(!g.busy);
	system_close(system);
}

TESTS(TEST(jobs_match_table_1), TEST(running_jobs_never_exceed_the_nodes_of_the_system),
      TEST(small_jobs_are_backfilled_and_large_ones_start),
      TEST(writes_have_the_published_modes_and_a_tail), TEST(times_of_a_state_are_log_normal),
      TEST(pressure_drives_states_that_last),
      TEST(the_same_seed_gives_the_same_data_on_any_number_of_threads),
      TEST(the_chronicle_has_the_sampling_intervals_of_the_paper),
      TEST(errors_in_descriptions_name_the_line),
      TEST(damaged_descriptions_do_not_crash_the_reader),
      TEST(requests_beyond_the_system_are_refused))
