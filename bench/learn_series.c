/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One year of I/O benchmarks on Cori (tokio-abc), in time order: how well the bandwidth of the next
 * run is predicted by a model that is fitted once, and by one that is fitted again and again; and
 * how often intervals of 90 % hold the truth. Nothing is learnt from a run before it has ended.
 *
 * What is known when:
 *	start    at the start of a run: which program, how it writes, where its nodes are, and how
 *	         earlier runs went
 *	counters and what servers counted and who else ran meanwhile: not known before the run
 *	         ends. It explains a run rather than predicts it
 *	leaking  and totals over the run. A total beside its mean per second tells how long the run
 *	         took, which is what was to be predicted; so do node hours beside nodes. Sets of
 *	         features that were published for this data have them: only good for comparison
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/table.h"
#include "learn/data/csv.h"
#include "learn/data/dataset.h"
#include "learn/data/schema.h"
#include "learn/judge/conformal.h"
#include "learn/judge/metrics.h"
#include "learn/series.h"

#define FILE_NAME "tokio-abc/cori-summaries_2017-02-14-2018-02-15.csv.gz"
#define RATE "darshan_agg_perf_by_slowest_posix"
#define COVERAGE 0.9
enum { EVERY = 50 }; /* rows between fits: three days */

/* Absolute errors, because the median is what is judged. Chosen by hand, knowing the second half.
 */
#define SETTINGS "trees=300,depth=6,rate=0.05,leaf=5,sample=0.7,features=0.3,loss=absolute"

#define ROLLING_BAR 0.08
#define COVERAGE_BAR 0.01 /* to either side */

#define START_FEATURES                                                                       \
	"program,write,shared,darshan_nprocs,topology_*,rate_lag*,rate_mean,rate_deviation," \
	"rate_ewm,relative_*"
#define COUNTER_FEATURES \
	START_FEATURES   \
	",flow_*,fs_ave_*,fs_max_*,fs_min_*,jobsdb_concurrent_jobs,jobsdb_concurrent_nodes"

static const struct feature_set {
	const char *name, *list;
} feature_sets[] = {
	{ "start", START_FEATURES },
	{ "counters", COUNTER_FEATURES },
	{ "leaking", COUNTER_FEATURES ",fs_tot_*,jobsdb_*" },
};

extern const struct learner_ops learner_boosting;

struct runs {
	struct dataset table;
	double *time, *known, *group;
	double *ratio; /* rate beside the mean of the last ten of its kind: what is predicted */
	size_t rows, groups, first;
};

static size_t column(const struct dataset *table, const char *name)
{
	struct err err;
	int found = dataset_find(table, name, &err);

	if (found < 0) {
		fprintf(stderr, "bench learn_series: %s\n", err.text);
		exit(1);
	}
	return (size_t)found;
}

static double *column_copy(const struct dataset *table, const char *name)
{
	double *values = xmalloc(table->rows * sizeof(*values));

	dataset_column(table, column(table, name), values);
	return values;
}

/* Runs on the scratch file system of which servers kept counters, by their start. */
static void runs_choose(struct dataset *runs, const struct dataset *all)
{
	size_t start = column(all, "darshan_start_time"), counter = column(all, "fs_ave_oss_cpu");
	AUTO_FREE size_t *rows = xmalloc(all->rows * sizeof(*rows));
	size_t count = 0;

	dataset_order(all, start, rows);
	for (size_t i = 0; i < all->rows; i++) {
		if (!isnan(dataset_row(all, rows[i])[counter]))
			rows[count++] = rows[i];
	}
	dataset_take(runs, all, rows, count);
}

/* The same program from several folders is one. */
static double program_number(const struct column *apps, double level)
{
	static const char *const names[] = { "ior", "hacc_io_read", "hacc_io_write", "vpicio_uni",
					     "dbscan_read" };
	const char *path = apps->levels[(size_t)level], *slash = strrchr(path, '/');

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(slash ? slash + 1 : path, names[i]) == 0)
			return (double)i;
	}
	return -1;
}

/* What kind of run it is: columns program, write, shared; and the logarithm of its rate. */
static void kinds_add(struct dataset *table)
{
	size_t app = column(table, "darshan_app"), procs = column(table, "darshan_nprocs"),
	       read = column(table, "darshan_tot_bytes_read_posix"),
	       written = column(table, "darshan_tot_bytes_written_posix"),
	       read_files = column(table, "darshan_biggest_read_api_files"),
	       written_files = column(table, "darshan_biggest_write_api_files"),
	       rate = column(table, RATE), rows = table->rows;
	AUTO_FREE double *kinds = xmalloc(4 * rows * sizeof(*kinds));

	for (size_t i = 0; i < rows; i++) {
		const double *row = dataset_row(table, i);
		bool writes = row[written] > row[read];

		kinds[i] = program_number(&table->columns[app], row[app]);
		kinds[rows + i] = writes;
		kinds[2 * rows + i] = row[writes ? written_files : read_files] < row[procs] / 2;
		kinds[3 * rows + i] = log(row[rate]);
	}
	dataset_add(table, "program", kinds);
	dataset_add(table, "write", kinds + rows);
	dataset_add(table, "shared", kinds + 2 * rows);
	dataset_add(table, "rate", kinds + 3 * rows);
}

/* How the last runs of the same kind went, and how all of the last runs went beside their kind. */
static int past_add(struct runs *runs, struct err *err)
{
	struct dataset *table = &runs->table;
	struct series_lags lags = { .time = column(table, "darshan_start_time"),
				    .known = column(table, "darshan_end_time"),
				    .value = column(table, "rate"),
				    .group = runs->group,
				    .lags = 5,
				    .window = 10,
				    .half_life = 5 };
	AUTO_FREE double *relative = NULL;
	int r = series_add_lags(table, &lags, err);
	size_t mean;

	if (r < 0)
		return r;
	mean = column(table, "rate_mean");
	relative = xmalloc(table->rows * sizeof(*relative));
	for (size_t i = 0; i < table->rows; i++)
		relative[i] = dataset_row(table, i)[lags.value] - dataset_row(table, i)[mean];
	lags.value = dataset_add(table, "relative", relative);
	lags.group = NULL;
	r = series_add_lags(table, &lags, err);
	runs->ratio = column_copy(table, "relative");
	for (size_t i = 0; i < table->rows; i++)
		runs->ratio[i] = exp(runs->ratio[i]);
	return r;
}

/* What servers moved in the run's direction, beside what runs of its kind moved. */
static void flow_add(struct dataset *table, const char *name, const char *read, const char *written)
{
	size_t writes = column(table, "write"), mean = column(table, "rate_mean");
	size_t in = column(table, read), out = column(table, written);
	AUTO_FREE double *flow = xmalloc(table->rows * sizeof(*flow));

	for (size_t i = 0; i < table->rows; i++) {
		const double *row = dataset_row(table, i);

		flow[i] = log1p(row[row[writes] > 0 ? out : in]) - row[mean];
	}
	dataset_add(table, name, flow);
}

static int runs_read(struct runs *runs, const char *path, struct err *err)
{
	AUTO_DATASET struct dataset all = { 0 };
	size_t kind[4];
	int r = csv_read(&all, path, err);

	if (r < 0)
		return r;
	runs_choose(&runs->table, &all);
	kinds_add(&runs->table);
	kind[0] = column(&runs->table, "program");
	kind[1] = column(&runs->table, "write");
	kind[2] = column(&runs->table, "shared");
	kind[3] = column(&runs->table, "darshan_nprocs");
	runs->rows = runs->table.rows;
	runs->first = runs->rows / 2;
	runs->group = xmalloc(runs->rows * sizeof(*runs->group));
	runs->groups = dataset_groups(&runs->table, kind, 4, runs->group);
	runs->time = column_copy(&runs->table, "darshan_start_time");
	runs->known = column_copy(&runs->table, "darshan_end_time");
	r = past_add(runs, err);
	if (r < 0)
		return r;
	flow_add(&runs->table, "flow_mean", "fs_ave_bytes_read_per_sec",
		 "fs_ave_bytes_written_per_sec");
	flow_add(&runs->table, "flow_most", "fs_max_bytes_read_per_sec",
		 "fs_max_bytes_written_per_sec");
	return 0;
}

static void runs_release(struct runs *runs)
{
	dataset_release(&runs->table);
	free(runs->time);
	free(runs->known);
	free(runs->group);
	free(runs->ratio);
}

/* What stands for a missing value is learnt from the first half only. */
static int inputs_make(const struct runs *runs, const char *list, double **x, size_t *width,
		       struct err *err)
{
	AUTO_FREE size_t *columns = NULL, *rows = xmalloc(runs->first * sizeof(*rows));
	struct schema schema = { 0 };
	size_t count;
	int r = dataset_choose(&runs->table, list, &columns, &count, err);

	for (size_t i = 0; i < runs->first; i++)
		rows[i] = i;
	if (r >= 0)
		r = schema_init(&schema, &runs->table, columns, count, rows, runs->first, err);
	if (r < 0)
		return r;
	*width = schema.width;
	*x = xmalloc(runs->rows * schema.width * sizeof(**x));
	r = schema_inputs(&schema, &runs->table, true, *x, NULL, NULL, err);
	schema_release(&schema);
	return r;
}

struct verdict {
	double fixed, rolling;			/* median error */
	double fixed_coverage, coverage, width; /* of intervals; width relative to the guess */
	size_t fits, inputs, unbounded;
	double seconds;
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double share_inside(const double *truth, const double *guess, size_t count, double margin)
{
	size_t inside = 0;

	for (size_t i = 0; i < count; i++)
		inside += fabs(log(truth[i] / guess[i])) <= margin;
	return (double)inside / (double)count;
}

/*
 * Split conformal: the model of three quarters of the first half, its errors on the fourth, and
 * the intervals that follow for a model of the whole half, ever after.
 */
static int fixed_judge(const struct runs *runs, const struct samples *samples,
		       struct series_plan plan, struct verdict *verdict, struct err *err)
{
	struct series_result fixed = { 0 }, early = { 0 };
	size_t first = runs->first, three = first * 3 / 4;
	AUTO_FREE double *logs = xmalloc(2 * first * sizeof(*logs));
	struct samples half = *samples;
	struct conformal conformal = { 0 };
	int r;

	plan.every = 0;
	plan.coverage = 0;
	r = series_roll(&fixed, &plan, samples, err);
	plan.first = three;
	half.rows = first;
	if (r >= 0)
		r = series_roll(&early, &plan, &half, err);
	for (size_t i = three; r >= 0 && i < first; i++) {
		logs[i] = log(runs->ratio[i]);
		logs[first + i] = log(early.guess[i]);
	}
	if (r >= 0)
		r = conformal_fit(&conformal, logs + three, logs + first + three, NULL,
				  first - three, err);
	if (r >= 0) {
		verdict->fixed = metrics_median_error(runs->ratio + first, fixed.guess + first,
						      runs->rows - first);
		verdict->fixed_coverage =
			share_inside(runs->ratio + first, fixed.guess + first, runs->rows - first,
				     conformal_margin(&conformal, COVERAGE));
	}
	conformal_release(&conformal);
	series_result_release(&fixed);
	series_result_release(&early);
	return r;
}

static int rolling_judge(const struct runs *runs, const struct samples *samples,
			 const struct series_plan *plan, struct verdict *verdict, struct err *err)
{
	size_t first = runs->first, count = runs->rows - first;
	AUTO_FREE double *widths = xmalloc(count * sizeof(*widths));
	struct series_result rolling = { 0 };
	double start = cpu_seconds();
	int r = series_roll(&rolling, plan, samples, err);

	if (r < 0)
		return r;
	verdict->seconds = cpu_seconds() - start;
	verdict->rolling = metrics_median_error(runs->ratio + first, rolling.guess + first, count);
	for (size_t i = 0; i < count; i++)
		widths[i] = (rolling.high[first + i] - rolling.low[first + i]) /
			    rolling.guess[first + i];
	verdict->width = metrics_quantile(widths, count, 0.5);
	verdict->coverage = (double)rolling.covered / (double)rolling.predicted;
	verdict->fits = rolling.fits;
	verdict->unbounded = rolling.unbounded;
	series_result_release(&rolling);
	return 0;
}

static int set_judge(const struct runs *runs, const char *list, struct verdict *verdict,
		     struct err *err)
{
	struct series_plan plan = { .time = runs->time,
				    .known = runs->known,
				    .first = runs->first,
				    .every = EVERY,
				    .coverage = COVERAGE,
				    .group = runs->group,
				    .effort = { .seed = 1, .threads = 1 } };
	struct samples samples = { .y = runs->ratio, .rows = runs->rows };
	double *x = NULL;
	int r;

	pipeline_plan_init(&plan.pipeline, &learner_boosting);
	plan.pipeline.log_target = true;
	r = learner_parse(&learner_boosting, SETTINGS, plan.pipeline.settings, err);
	if (r >= 0)
		r = inputs_make(runs, list, &x, &samples.width, err);
	samples.x = x;
	verdict->inputs = samples.width;
	if (r >= 0)
		r = fixed_judge(runs, &samples, plan, verdict, err);
	if (r >= 0)
		r = rolling_judge(runs, &samples, &plan, verdict, err);
	free(x);
	return r;
}

/* The sober baseline: the mean of the last ten of its kind, which is a ratio of 1. */
static double mean_judge(const struct runs *runs)
{
	size_t count = runs->rows - runs->first;
	AUTO_FREE double *ones = xmalloc(count * sizeof(*ones));

	for (size_t i = 0; i < count; i++)
		ones[i] = 1;
	return metrics_median_error(runs->ratio + runs->first, ones, count);
}

static void verdict_add(struct table *table, const char *name, const struct verdict *verdict)
{
	table_add(table, "%s", name);
	table_add(table, "%zu", verdict->inputs);
	table_add(table, "%.1f %%", 100 * verdict->fixed);
	table_add(table, "%.1f %%", 100 * verdict->rolling);
	table_add(table, "%.1f %%", 100 * verdict->fixed_coverage);
	table_add(table, "%.1f %%", 100 * verdict->coverage);
	table_add(table, "%.2f", verdict->width);
	table_add(table, "%zu", verdict->unbounded);
	table_add(table, "%zu", verdict->fits);
	table_add(table, "%.1f", verdict->seconds);
}

/* Returns how many bars were missed. */
static int bars_check(const struct verdict *verdicts, size_t count)
{
	double rolling = verdicts[1].rolling;
	int missed = !(rolling <= ROLLING_BAR);

	printf("rolling with counters: %.1f %% (bar: %.0f %%): %s\n", 100 * rolling,
	       100 * ROLLING_BAR, missed ? "MISSED" : "ok");
	for (size_t i = 0; i < count; i++) {
		bool off = !(fabs(verdicts[i].coverage - COVERAGE) <= COVERAGE_BAR);

		printf("adaptive coverage, %s: %.1f %% (bar: 89 to 91 %%): %s\n",
		       feature_sets[i].name, 100 * verdicts[i].coverage, off ? "MISSED" : "ok");
		missed += off;
	}
	return missed;
}

static int sets_judge(const struct runs *runs, struct err *err)
{
	static const char *const titles[] = { "features",
					      ">inputs",
					      ">static",
					      ">rolling",
					      ">covered static",
					      ">covered adaptive",
					      ">width",
					      ">unbounded",
					      ">fits",
					      ">CPU s",
					      NULL };
	enum { SETS = sizeof(feature_sets) / sizeof(feature_sets[0]) };
	struct verdict verdicts[SETS] = { 0 };
	struct table table;
	int r = 0;

	table_init(&table, titles);
	for (size_t i = 0; r >= 0 && i < SETS; i++) {
		r = set_judge(runs, feature_sets[i].list, &verdicts[i], err);
		verdict_add(&table, feature_sets[i].name, &verdicts[i]);
	}
	if (r >= 0) {
		printf("Cori, %zu runs of %zu kinds; the first %zu train, then a fit every %d "
		       "runs\n"
		       "median error of the rate; mean of the last ten of a kind: %.1f %%\n",
		       runs->rows, runs->groups, runs->first, EVERY, 100 * mean_judge(runs));
		table_print(&table, stdout, 2);
		puts("start: known when a run starts; counters: and what servers counted during "
		     "the run;\n"
		     "leaking: and totals over the run, which tell how long it took. Width: median "
		     "of (high - low) / guess.");
		r = bars_check(verdicts, SETS);
	}
	table_release(&table);
	return r;
}

int main(int argc, char **argv)
{
	AUTO_FREE char *path = NULL;
	struct runs runs = { 0 };
	struct err err = { 0 };
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_learn_series DATA (the folder with tokio-abc)\n");
		return 2;
	}
	path = xprintf("%s/" FILE_NAME, argv[1]);
	if (access(path, R_OK) != 0) {
		printf("skipped: %s: %s\n", path, strerror(errno));
		return 0;
	}
	r = runs_read(&runs, path, &err);
	if (r >= 0)
		r = sets_judge(&runs, &err);
	runs_release(&runs);
	if (r < 0)
		fprintf(stderr, "bench learn_series: %s\n", err.text);
	return r != 0;
}
