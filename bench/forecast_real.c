/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One year of I/O benchmarks on Cori (tokio-abc): predicts whether the system was idle or busy for
 *a run, from what was known when the run started. States come from a mixture of two log-normal
 * distributions of the time per byte, fitted for each kind of run (program, direction, shared or
 *not, size, ranks) with enough runs. Two labels are evaluated: the likelier state, and the label of
 *the paper, which is drawn at random from the probabilities of both states, so that its accuracy
 *has a ceiling. Busy means slow: a run that is faster than the median of the idle state is labeled
 *idle, even if a wide busy component has the higher posterior probability.
 *
 * Feature sets; each includes the previous one:
 *	past     the kind, and the rates and states of earlier runs that had ended: of this kind, of
 *	         this direction, of any kind, the last run of every kind, and exponentially weighted
 *	         means; server counters during these runs, and the bytes of other jobs
 *	start    the time of day and of the week, the fill level and health of servers at the start,
 *	         and the places of the nodes
 *	queue    the number of other jobs and of their nodes. The data has it for the time of the
 *	         run, which is the best approximation of what a scheduler reports at the start
 *	hours    the node hours of these jobs. They depend on the run time, which is the response,
 *	         so this set is for comparison only
 * The correlation of such columns with the run time is printed first.
 *
 * The last quarter of the year is a separate test set: the states are learned from the data before
 * it, and columns, method and settings were chosen with blocked folds of the first three quarters.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/table.h"
#include "bench/series.h"
#include "learn/judge/calibration.h"
#include "learn/judge/metrics.h"
#include "learn/states/mixture.h"
#include "learn/table/folds.h"
#include "learn/table/schema.h"
#include "learn_runs.h"

#define FILE_NAME "tokio-abc/cori-summaries_2017-02-14-2018-02-15.csv.gz"
#define DAY_S 86400.0
enum { KIND_LEAST = 50, FOLDS = 8, BINS = 10, LAGS = 5, WINDOW = 10, HALF_LIFE = 3, FADED = 8 };

#define PAST                                                                                    \
	"program,write,shared,size,darshan_nprocs,rate_lag*,rate_mean,rate_deviation,"          \
	"rate_ewm,level,relative_*,way_*,surplus_*,state_*,near_*,same_*,slow*_*,seen_*,age_*," \
	"server_*,fading_*,others_*_*,cover_*"
#define START                                                             \
	PAST ",clock_*,topology_*,fshealth_ost_*_pct,fshealth_ost_*_kib," \
	     "fshealth_ost_*_count,fshealth_ost_avg_overloaded_*"
#define COUNTED START ",jobsdb_concurrent_jobs,jobsdb_concurrent_nodes"
#define QUEUE COUNTED ",nodes_mean"
#define HOURS COUNTED ",jobsdb_concurrent_nodehrs"

/* Feature sets that are evaluated with drawn labels, too. */
static const struct known {
	const char *name, *list;
	bool drawn;
} knowns[] = { { "past", PAST, false },
	       { "start", START, true },
	       { "queue", QUEUE, false },
	       { "hours", HOURS, false } };
enum { KNOWNS = sizeof(knowns) / sizeof(knowns[0]) };

/*
 * The response is the probability of busy, not the label, so that a run between both states has
 * little weight. The learning rate is small and nodes use few inputs, because most inputs are
 * noise.
 */
#define METHOD "boosting"
#define SETTINGS "trees=400,depth=6,leaf=20,rate=0.025,features=0.05,sample=0.5"

/* The rows of all kinds with a mixture, in time order. */
struct task {
	struct runs runs;
	struct dataset table;
	double *time, *known, *kind;
	double *busy;		  /* probability of the busy state */
	double *margin;		  /* log time, scaled: 0 at the idle median, 1 at the busy median */
	double *likelier, *drawn; /* labels */
	size_t rows;
	size_t early; /* number of rows in the first three quarters */
};

/* Collects the times per byte of one kind; returns their number. */
static size_t kind_times(const struct runs *runs, size_t kind, size_t *rows, double *seconds)
{
	size_t count = 0;

	for (size_t i = 0; i < runs->rows; i++) {
		if (runs->kind[i] != (double)kind)
			continue;
		rows[count] = i;
		seconds[count++] = exp(-runs->rate[i]);
	}
	return count;
}

/* Returns how many of the ascending rows are before the cut. */
static size_t rows_before(const size_t *rows, size_t count, size_t cut)
{
	while (count && rows[count - 1] >= cut)
		count--;
	return count;
}

/*
 * Computes busy, drawn and margin of all runs; NAN for kinds with too few runs. The states are
 * learned from the runs before the cut.
 */
static int labels_make(const struct runs *runs, size_t cut, double *busy, double *drawn,
		       double *margin, struct err *err)
{
	AUTO_FREE size_t *rows = xmalloc(runs->rows * sizeof(*rows));
	AUTO_FREE double *work = xmalloc(4 * runs->rows * sizeof(*work));
	double *seconds = work, *labels = work + runs->rows, *chances = work + 2 * runs->rows;

	for (size_t i = 0; i < runs->rows; i++)
		busy[i] = drawn[i] = margin[i] = NAN;
	for (size_t kind = 0; kind < runs->kinds; kind++) {
		struct mixture_plan plan = { .count = 2, .seed = 1 };
		struct mixture mixture;
		size_t count = kind_times(runs, kind, rows, seconds);
		size_t early = rows_before(rows, count, cut);
		int r;

		if (early < KIND_LEAST)
			continue;
		r = mixture_fit(&mixture, &plan, seconds, early, err);
		if (r < 0)
			return r;
		mixture_draw(&mixture, seconds, count, kind + 1, labels, chances);
		for (size_t i = 0; i < count; i++) {
			double idle = mixture.components[0].first;

			busy[rows[i]] = chances[2 * i + 1];
			drawn[rows[i]] = labels[i];
			margin[rows[i]] = (log(seconds[i]) - idle) /
					  fmax(mixture.components[1].first - idle, 1e-3);
		}
	}
	return 0;
}

static size_t column(const struct dataset *table, const char *name)
{
	struct err err;
	int found = dataset_find(table, name, &err);

	if (found < 0) {
		fprintf(stderr, "bench forecast_real: %s\n", err.text);
		exit(1);
	}
	return (size_t)found;
}

static void column_copy(const struct dataset *table, const char *name, double **out)
{
	*out = xmalloc(table->rows * sizeof(**out));
	dataset_column(table, column(table, name), *out);
}

/* Adds lagged values of a column as NAME_lag1, ... */
static int value_past(struct task *task, const char *name, const double *values,
		      const double *group, struct err *err)
{
	struct dataset *table = &task->table;
	struct series_lags past = { .time = column(table, "darshan_start_time"),
				    .known = column(table, "darshan_end_time"),
				    .value = dataset_add(table, name, values),
				    .group = group,
				    .lags = LAGS,
				    .window = WINDOW,
				    .half_life = HALF_LIFE };

	return series_add_lags(table, &past, err);
}

/* Returns the last run of a kind that had ended at that time; rows if there is none. */
static size_t last_of(const struct task *task, double kind, double time)
{
	size_t last = task->rows;

	for (size_t i = 0; i < task->rows && task->time[i] < time; i++) {
		if ((isnan(kind) || task->kind[i] == kind) && task->known[i] < time &&
		    (last == task->rows || task->known[i] >= task->known[last]))
			last = i;
	}
	return last;
}

/* Adds seen_K: the margin of the last run of every kind. */
static void seen_add(struct task *task, double kind)
{
	AUTO_FREE double *values = xmalloc(task->rows * sizeof(*values));
	AUTO_FREE char *name = xprintf("seen_%.0f", kind);
	size_t known = 0;

	for (size_t i = 0; i < task->rows; i++) {
		size_t last = last_of(task, kind, task->time[i]);

		values[i] = last < task->rows ? task->margin[last] : NAN;
		known += last < task->rows;
	}
	if (known)
		dataset_add(&task->table, name, values);
}

/* Adds the time since the last run of the kind, and of any kind, ended. */
static void ages_add(struct task *task)
{
	AUTO_FREE double *own = xmalloc(task->rows * sizeof(*own));
	AUTO_FREE double *any = xmalloc(task->rows * sizeof(*any));

	for (size_t i = 0; i < task->rows; i++) {
		size_t last = last_of(task, task->kind[i], task->time[i]);
		size_t newest = last_of(task, NAN, task->time[i]);

		own[i] = last < task->rows ? log1p(task->time[i] - task->known[last]) : NAN;
		any[i] = newest < task->rows ? log1p(task->time[i] - task->known[newest]) : NAN;
	}
	dataset_add(&task->table, "age_own", own);
	dataset_add(&task->table, "age_any", any);
}

/* Adds the server counters per second during the last run that had ended. */
static void servers_add(struct task *task)
{
	static const char *const counters[] = { "ave_bytes_read_per_sec",
						"ave_bytes_written_per_sec",
						"max_bytes_read_per_sec",
						"max_bytes_written_per_sec",
						"ave_oss_cpu",
						"max_oss_cpu",
						"ave_mds_cpu",
						"max_mds_cpu",
						"ave_open_ops_per_sec",
						"frac_missing" };

	for (size_t c = 0; c < sizeof(counters) / sizeof(counters[0]); c++) {
		AUTO_FREE char *from = xprintf("fs_%s", counters[c]);
		AUTO_FREE char *to = xprintf("server_%s", counters[c]);
		AUTO_FREE double *values = xmalloc(task->rows * sizeof(*values));
		size_t of = column(&task->table, from);

		for (size_t i = 0; i < task->rows; i++) {
			size_t last = last_of(task, NAN, task->time[i]);

			values[i] = last < task->rows
					    ? log1p(fmax(dataset_row(&task->table, last)[of], 0))
					    : NAN;
		}
		dataset_add(&task->table, to, values);
	}
}

/*
 * Adds NAME_H: the weighted mean margin of earlier runs of the group (NULL: of all runs). The
 * weight of a run halves every H hours after its end.
 */
static void fading_add(struct task *task, const char *group_name, const double *group, double hours)
{
	AUTO_FREE double *values = xmalloc(task->rows * sizeof(*values));
	AUTO_FREE char *name = xprintf("fading_%s_%.0f", group_name, hours);

	for (size_t i = 0; i < task->rows; i++) {
		double sum = 0, weights = 0;

		for (size_t j = i; j-- > 0;) {
			double age = (task->time[i] - task->known[j]) / (3600 * hours);
			double weight;

			if (age > FADED && weights > 0)
				break;
			if (age <= 0 || (group && group[j] != group[i]))
				continue;
			weight = exp2(-fmin(age, 100));
			weights += weight;
			sum += weight * fmin(fmax(task->margin[j], -1), 2);
		}
		values[i] = weights > 0 ? sum / weights : NAN;
	}
	dataset_add(&task->table, name, values);
}

static int fadings_add(struct task *task, struct err *err)
{
	static const struct {
		const char *name, *columns;
	} groups[] = { { "kind", "program,write,shared,size,darshan_nprocs" },
		       { "like", "program,write,shared" },
		       { "mode", "write,shared" },
		       { "way", "write" },
		       { "any", "" } };
	static const double hours[] = { 2, 12, 72, 400 };
	AUTO_FREE double *group = xmalloc(task->rows * sizeof(*group));

	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		AUTO_FREE size_t *columns = NULL;
		bool all = !groups[g].columns[0];
		size_t count = 0;
		int r = all ? 0
			    : dataset_choose(&task->table, groups[g].columns, &columns, &count,
					     err);

		if (r < 0)
			return r;
		if (!all)
			dataset_groups(&task->table, columns, count, group);
		for (size_t h = 0; h < sizeof(hours) / sizeof(hours[0]); h++)
			fading_add(task, groups[g].name, all ? NULL : group, hours[h]);
	}
	return 0;
}

/*
 * Adds the traffic of other jobs during earlier runs: others_read_*, others_written_* (log bytes
 * per second, without those of the run itself) and cover_* (the share of the run).
 */
static int others_add(struct task *task, struct err *err)
{
	struct dataset *table = &task->table;
	size_t n = task->rows, read = column(table, "fs_tot_bytes_read"),
	       written = column(table, "fs_tot_bytes_written"),
	       own_read = column(table, "darshan_tot_bytes_read_posix"),
	       own_written = column(table, "darshan_tot_bytes_written_posix");
	AUTO_FREE double *values = xmalloc(3 * n * sizeof(*values));
	int r;

	for (size_t i = 0; i < n; i++) {
		const double *row = dataset_row(table, i);
		double seconds = fmax(task->known[i] - task->time[i], 1);

		values[i] = log1p(fmax(row[read] - row[own_read], 0) / seconds / 1e6);
		values[n + i] = log1p(fmax(row[written] - row[own_written], 0) / seconds / 1e6);
		values[2 * n + i] = fmin(
			(row[own_read] + row[own_written]) / fmax(row[read] + row[written], 1), 2);
	}
	r = value_past(task, "others_read", values, NULL, err);
	if (r >= 0)
		r = value_past(task, "others_written", values + n, NULL, err);
	if (r >= 0)
		r = value_past(task, "cover", values + 2 * n, NULL, err);
	return r;
}

/* Adds the node hours of other jobs divided by the hours of the run: the busy nodes, independent of
 * the run time. */
static void nodes_add(struct task *task)
{
	AUTO_FREE double *values = xmalloc(task->rows * sizeof(*values));
	size_t hours = column(&task->table, "jobsdb_concurrent_nodehrs");

	for (size_t i = 0; i < task->rows; i++)
		values[i] = dataset_row(&task->table, i)[hours] * 3600 /
			    fmax(task->known[i] - task->time[i], 1);
	dataset_add(&task->table, "nodes_mean", values);
}

static void clock_add(struct task *task)
{
	static const char *const names[] = { "clock_day_sin", "clock_day_cos", "clock_week_sin",
					     "clock_week_cos" };
	AUTO_FREE double *values = xmalloc(task->rows * sizeof(*values));

	for (size_t k = 0; k < 4; k++) {
		double period = k < 2 ? DAY_S : 7 * DAY_S;

		for (size_t i = 0; i < task->rows; i++) {
			double phase = 2 * M_PI * fmod(task->time[i], period) / period;

			values[i] = k % 2 ? cos(phase) : sin(phase);
		}
		dataset_add(&task->table, names[k], values);
	}
}

static int features_make(struct task *task, struct err *err)
{
	AUTO_FREE double *way = NULL;
	int r;

	column_copy(&task->table, "write", &way);
	r = value_past(task, "state", task->busy, task->kind, err);
	if (r >= 0)
		r = value_past(task, "same", task->busy, way, err);
	if (r >= 0)
		r = value_past(task, "near", task->busy, NULL, err);
	if (r >= 0)
		r = value_past(task, "slow", task->margin, task->kind, err);
	if (r >= 0)
		r = value_past(task, "slowway", task->margin, way, err);
	if (r >= 0)
		r = value_past(task, "slowany", task->margin, NULL, err);
	if (r < 0)
		return r;
	for (size_t kind = 0; kind < task->runs.kinds; kind++)
		seen_add(task, (double)kind);
	ages_add(task);
	servers_add(task);
	clock_add(task);
	nodes_add(task);
	r = others_add(task, err);
	return r < 0 ? r : fadings_add(task, err);
}

static void labels_take(struct task *task, const size_t *rows, const double *busy,
			const double *drawn, const double *margin)
{
	task->busy = xmalloc(4 * task->rows * sizeof(double));
	task->likelier = task->busy + task->rows;
	task->drawn = task->likelier + task->rows;
	task->margin = task->drawn + task->rows;
	task->kind = xmalloc(task->rows * sizeof(double));
	for (size_t i = 0; i < task->rows; i++) {
		task->busy[i] = busy[rows[i]];
		task->margin[i] = margin[rows[i]];
		task->likelier[i] = task->busy[i] > 0.5 && task->margin[i] > 0;
		task->drawn[i] = drawn[rows[i]];
		task->kind[i] = task->runs.kind[rows[i]];
	}
}

static int task_init(struct task *task, const char *path, struct err *err)
{
	AUTO_FREE double *labels = NULL;
	AUTO_FREE size_t *rows = NULL;
	int r = runs_read(&task->runs, path, RUNS_ALL, err);
	size_t all = task->runs.rows, cut = 3 * all / 4;

	if (r < 0)
		return r;
	labels = xmalloc(3 * all * sizeof(*labels));
	rows = xmalloc(all * sizeof(*rows));
	r = labels_make(&task->runs, cut, labels, labels + all, labels + 2 * all, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < all; i++) {
		if (isnan(labels[i]))
			continue;
		rows[task->rows++] = i;
		task->early += i < cut;
	}
	dataset_take(&task->table, &task->runs.table, rows, task->rows);
	column_copy(&task->table, "darshan_start_time", &task->time);
	column_copy(&task->table, "darshan_end_time", &task->known);
	labels_take(task, rows, labels, labels + all, labels + 2 * all);
	return features_make(task, err);
}

static void task_release(struct task *task)
{
	runs_release(&task->runs);
	dataset_release(&task->table);
	free(task->time);
	free(task->known);
	free(task->kind);
	free(task->busy);
}

/* The data that a forecast learns from. */
struct lesson {
	struct samples samples;
	struct pipeline_plan plan;
};

/* Predicts the probability of busy for the test rows. */
static int chances_make(const struct lesson *lesson, const size_t *train, size_t trained,
			const size_t *test, size_t tested, double *out, struct err *err)
{
	const struct samples *samples = &lesson->samples;
	struct effort effort = { .seed = 1, .threads = 1 };
	struct pipeline pipeline;
	int r = pipeline_fit(&pipeline, &lesson->plan, samples, train, trained, &effort, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < tested; i++) {
		double chance;

		pipeline_predict(&pipeline, samples->x + test[i] * samples->width, &chance);
		out[test[i]] = fmin(fmax(chance, 0), 1);
	}
	pipeline_release(&pipeline);
	return 0;
}

/* Predicts all rows, each from the other folds. */
static int folds_guess(const struct lesson *lesson, const struct folds *folds, double *out,
		       struct err *err)
{
	AUTO_FREE size_t *train = xmalloc(2 * folds->rows * sizeof(*train));
	size_t *test = train + folds->rows, trained, tested;
	int r = 0;

	for (size_t fold = 0; r >= 0 && fold < folds->count; fold++) {
		folds_split(folds, fold, train, &trained, test, &tested);
		r = chances_make(lesson, train, trained, test, tested, out, err);
	}
	return r;
}

/* Predicts the last quarter from the runs that had ended when it began. */
static int last_guess(const struct task *task, const struct lesson *lesson, double *out,
		      struct err *err)
{
	AUTO_FREE size_t *train = xmalloc(2 * task->rows * sizeof(*train));
	size_t *test = train + task->rows, trained = 0, tested = 0;

	for (size_t i = 0; i < task->rows; i++) {
		if (i >= task->early)
			test[tested++] = i;
		else if (task->known[i] < task->time[task->early])
			train[trained++] = i;
	}
	return chances_make(lesson, train, trained, test, tested, out, err);
}

static double accuracy(const double *truth, const double *busy, size_t count)
{
	size_t right = 0;

	for (size_t i = 0; i < count; i++)
		right += truth[i] == (busy[i] > 0.5);
	return (double)right / (double)count;
}

/* Returns the calibration error that remains after Platt scaling, fitted to the other folds. */
static double calibrated_error(const double *truth, const double *busy, const struct folds *folds)
{
	AUTO_FREE double *work = xmalloc(3 * folds->rows * sizeof(*work));
	double *labels = work, *scores = work + folds->rows, *out = work + 2 * folds->rows;
	struct metrics_bin bins[BINS];

	for (size_t fold = 0; fold < folds->count; fold++) {
		struct calibration calibration = { 0 };
		struct err err;
		size_t n = 0;

		for (size_t i = 0; i < folds->rows; i++) {
			if (folds->of[i] == fold)
				continue;
			labels[n] = truth[i];
			scores[n++] = busy[i];
		}
		if (calibration_fit(&calibration, CALIBRATION_PLATT, labels, scores, n, &err) < 0)
			return NAN;
		for (size_t i = 0; i < folds->rows; i++) {
			if (folds->of[i] == fold)
				out[i] = calibration_apply(&calibration, busy[i]);
		}
		calibration_release(&calibration);
	}
	return metrics_reliability(truth, out, folds->rows, bins, BINS);
}

/* The accuracies of baselines without a model. */
struct baselines {
	double majority, majority_kind, last;
	double ceiling; /* the best possible accuracy */
};

/* Computes the baselines of the rows from `from` on. */
static struct baselines baselines_make(const struct task *task, const double *labels, size_t from)
{
	struct baselines of = { 0 };
	double sum = 0, n = (double)(task->rows - from);

	for (size_t i = from; i < task->rows; i++)
		sum += labels[i];
	of.majority = fmax(sum, n - sum) / n;
	for (size_t kind = 0; kind < task->runs.kinds; kind++) {
		double busy = 0, rows = 0;

		for (size_t i = from; i < task->rows; i++) {
			busy += task->kind[i] == (double)kind ? labels[i] : 0;
			rows += task->kind[i] == (double)kind;
		}
		of.majority_kind += fmax(busy, rows - busy) / n;
	}
	for (size_t i = from; i < task->rows; i++) {
		size_t last = last_of(task, task->kind[i], task->time[i]);
		double chance = task->busy[i];

		of.last += (last < task->rows ? labels[last] : 0) == labels[i] ? 1 / n : 0;
		of.ceiling += labels == task->drawn ? fmax(chance, 1 - chance) / n : 1 / n;
	}
	return of;
}

static void baselines_print(const struct task *task, const double *labels, size_t from,
			    const char *name)
{
	struct baselines of = baselines_make(task, labels, from);

	printf("%s: majority %.1f %%, of each kind %.1f %%; the last state of the kind %.1f %%; "
	       "ceiling %.1f %%\n",
	       name, 100 * of.majority, 100 * of.majority_kind, 100 * of.last, 100 * of.ceiling);
}

static int inputs_make(const struct task *task, const char *list, double **x, size_t *width,
		       struct err *err)
{
	AUTO_FREE size_t *columns = NULL;
	struct schema schema = { 0 };
	size_t count;
	int r = dataset_choose(&task->table, list, &columns, &count, err);

	if (r >= 0)
		r = schema_init(&schema, &task->table, columns, count, NULL, 0, err);
	if (r < 0)
		return r;
	*width = schema.width;
	*x = xmalloc(task->rows * schema.width * sizeof(**x));
	r = schema_inputs(&schema, &task->table, false, *x, NULL, NULL, err);
	schema_release(&schema);
	return r;
}

/* The response: the probability of busy, moved to the side of 1/2 on which the label is. */
static void targets_make(const struct task *task, const double *labels, double *out)
{
	for (size_t i = 0; i < task->rows; i++)
		out[i] = labels == task->drawn || task->margin[i] > 0 ? task->busy[i]
								      : fmin(task->busy[i], 0.5);
}

static void scores_add(struct table *table, const double *truth, const double *busy, size_t count)
{
	struct metrics_bin bins[BINS];

	table_add(table, "%.1f %%", 100 * accuracy(truth, busy, count));
	table_add(table, "%.3f", metrics_auc(truth, busy, count));
	table_add(table, "%.3f", metrics_reliability(truth, busy, count, bins, BINS));
}

static const char *const titles[] = { "known",	       ">inputs",  ">shuffled", ">AUC",	  ">error",
				      ">Platt",	       ">blocked", ">AUC",	">error", ">Platt",
				      ">last quarter", ">AUC",	   ">error",	NULL };

/* Adds one row of the table, and its key. */
static int known_judge(const struct task *task, const struct known *known, const char *name,
		       const double *labels, const struct folds folds[2], struct table *table,
		       struct buf *keys, struct err *err)
{
	AUTO_FREE double *x = NULL, *work = xmalloc(2 * task->rows * sizeof(*work));
	double *busy = work, *targets = work + task->rows;
	size_t early = task->early;
	struct lesson lesson = { .samples = { .y = targets, .rows = task->rows, .gaps = true } };
	int r = inputs_make(task, known->list, &x, &lesson.samples.width, err);

	if (r < 0)
		return r;
	lesson.samples.x = x;
	targets_make(task, labels, targets);
	pipeline_plan_init(&lesson.plan, learner_find(METHOD, LEARNER_REGRESSES, err));
	r = learner_parse(lesson.plan.learner, SETTINGS, lesson.plan.settings, err);
	table_add(table, "%s", known->name);
	table_add(table, "%zu", lesson.samples.width);
	buf_printf(keys, "key real_%s_%s ", name, known->name);
	for (size_t k = 0; r >= 0 && k < 2; k++) {
		r = folds_guess(&lesson, &folds[k], busy, err);
		scores_add(table, labels, busy, task->rows);
		table_add(table, "%.3f", calibrated_error(labels, busy, &folds[k]));
		buf_printf(keys, "%.1f/", 100 * accuracy(labels, busy, task->rows));
	}
	if (r >= 0)
		r = last_guess(task, &lesson, busy, err);
	scores_add(table, labels + early, busy + early, task->rows - early);
	buf_printf(keys, "%.1f\n",
		   100 * accuracy(labels + early, busy + early, task->rows - early));
	return r;
}

static int labels_judge(const struct task *task, const char *name, const double *labels,
			struct buf *keys, struct err *err)
{
	bool drawn = labels == task->drawn;
	struct folds folds[2] = { 0 };
	struct table table;
	int r = folds_init(&folds[0], FOLDS_STRATIFIED, FOLDS, task->rows, labels, 1, err);

	if (r >= 0)
		r = folds_init(&folds[1], FOLDS_BLOCKED, FOLDS, task->rows, task->time, 1, err);
	table_init(&table, titles);
	for (size_t known = 0; r >= 0 && known < KNOWNS; known++) {
		if (!drawn || knowns[known].drawn)
			r = known_judge(task, &knowns[known], drawn ? "drawn" : "likelier", labels,
					folds, &table, keys, err);
	}
	if (r >= 0) {
		printf("label: %s\n", name);
		baselines_print(task, labels, 0, "the year");
		baselines_print(task, labels, task->early, "last quarter");
		table_print(&table, stdout, 2);
	}
	table_release(&table);
	folds_release(&folds[0]);
	folds_release(&folds[1]);
	return r;
}

/*
 * Returns the correlation of a column with the run time (both as logarithms) within kinds, in the
 * first three quarters.
 */
static double length_correlation(const struct task *task, const char *name)
{
	size_t of = column(&task->table, name);
	double both = 0, one = 0, other = 0;

	for (size_t kind = 0; kind < task->runs.kinds; kind++) {
		double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

		for (size_t i = 0; i < task->early; i++) {
			double value = log1p(dataset_row(&task->table, i)[of]);
			double length = log1p(task->known[i] - task->time[i]);

			if (task->kind[i] != (double)kind || !isfinite(value))
				continue;
			n++;
			x += value;
			y += length;
			xx += value * value;
			yy += length * length;
			xy += value * length;
		}
		both += n ? xy - x * y / n : 0;
		one += n ? xx - x * x / n : 0;
		other += n ? yy - y * y / n : 0;
	}
	return both / sqrt(one * other);
}

static void leaks_print(const struct task *task)
{
	static const char *const names[] = {
		"fshealth_ost_avg_full_pct", "fshealth_ost_overloaded_ost_count",
		"topology_job_max_radius",   "jobsdb_concurrent_jobs",
		"jobsdb_concurrent_nodes",   "nodes_mean",
		"jobsdb_concurrent_nodehrs"
	};

	printf("correlation with the run time, within kinds:\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		printf("  %-34s %6.2f\n", names[i], length_correlation(task, names[i]));
}

int main(int argc, char **argv)
{
	AUTO_FREE char *path = NULL;
	struct task task = { 0 };
	struct buf keys = { 0 };
	struct err err = { 0 };
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_forecast_real DATA\n"
				"DATA is the folder with tokio-abc\n");
		return 2;
	}
	path = xprintf("%s/" FILE_NAME, argv[1]);
	r = task_init(&task, path, &err);
	if (r >= 0) {
		printf("Cori, %zu runs of kinds with at least %d runs, %zu of them in the last "
		       "quarter; %d folds, shuffled and blocked in time\n",
		       task.rows, KIND_LEAST, task.rows - task.early, FOLDS);
		leaks_print(&task);
		r = labels_judge(&task, "the likelier state", task.likelier, &keys, &err);
	}
	if (r >= 0)
		r = labels_judge(&task, "drawn at random", task.drawn, &keys, &err);
	if (r < 0)
		fprintf(stderr, "bench forecast_real: %s\n", err.text);
	else
		fputs(buf_text(&keys), stdout);
	buf_release(&keys);
	task_release(&task);
	return r < 0;
}
