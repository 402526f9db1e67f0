/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One year of I/O benchmarks on Cori (tokio-abc): was the system idle or busy for a run, by what
 * was known when it started? A state is that of a mixture of two log-normal distributions of the
 * time per byte, one for each kind of run (program, direction, shared or not, size, ranks) that
 * there are enough runs of. Two labels are judged: the likelier state, and the paper's, which is
 * drawn at random from the chances of both and which nobody can predict better than its ceiling.
 * Busy means slow: of a run that is faster than the idle state's median the likelier state is idle,
 * also where the busy component is so wide that Bayes' formula would have it.
 *
 * What is known:
 *	past     the kind, and how earlier runs went that had ended: their rates and states, of this
 *	         kind, of this direction, of any, the last one of every kind; what servers counted
 *	         during them
 *	start    and the time of day and of the week, how full and how healthy servers were when it
 *	         started, and where its nodes are
 *	queue    and how many jobs and nodes were busy beside it. Counted while it ran: it is the
 *	         nearest that there is in the data to what a scheduler says at the start
 *	hours    and node hours of these jobs. They grow with the time that the run took, which
 *	         was to be predicted: beside nodes they tell it. For comparison only
 *	during   and what servers counted while it ran: for comparison, too
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/table.h"
#include "learn/data/folds.h"
#include "learn/data/schema.h"
#include "learn/judge/calibration.h"
#include "learn/judge/metrics.h"
#include "learn/series.h"
#include "learn/states/mixture.h"
#include "learn_runs.h"

#define FILE_NAME "tokio-abc/cori-summaries_2017-02-14-2018-02-15.csv.gz"
#define DAY_S 86400.0
enum { KIND_LEAST = 50, FOLDS = 8, BINS = 10, LAGS = 5, WINDOW = 10, HALF_LIFE = 3 };

#define PAST                                                                                    \
	"program,write,shared,size,darshan_nprocs,rate_lag*,rate_mean,rate_deviation,"          \
	"rate_ewm,level,relative_*,way_*,surplus_*,state_*,near_*,same_*,slow*_*,seen_*,age_*," \
	"server_*"
#define START                                                             \
	PAST ",clock_*,topology_*,fshealth_ost_*_pct,fshealth_ost_*_kib," \
	     "fshealth_ost_*_count,fshealth_ost_avg_overloaded_*"
#define QUEUE START ",jobsdb_concurrent_jobs,jobsdb_concurrent_nodes"
#define HOURS QUEUE ",jobsdb_concurrent_nodehrs"
#define DURING HOURS ",fs_*"

static const struct known {
	const char *name, *list;
} knowns[] = { { "past", PAST },
	       { "start", START },
	       { "queue", QUEUE },
	       { "hours", HOURS },
	       { "during", DURING } };
enum { KNOWNS = sizeof(knowns) / sizeof(knowns[0]) };

static const struct method {
	const char *name, *settings;
} methods[] = {
	{ "forest", "trees=50,features=0.3,leaf=2" },
	{ "boosting", "trees=100,depth=4,leaf=10,rate=0.12,features=0.3,sample=0.7" },
};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

/* Rows of kinds that have a mixture, in time order. */
struct task {
	struct runs runs;
	struct dataset table;
	double *time, *known, *kind;
	double *busy;		  /* chance of the state by the mixture */
	double *margin;		  /* log of the time: 0 at the idle median, 1 at the busy */
	double *likelier, *drawn; /* labels */
	size_t rows, kinds;
	double ceiling;
};

/* ---- labels ---- */

/* Times per byte of one kind; returns how many. */
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

/* busy, drawn and margin of all runs; NAN where a kind is too rare. */
static int labels_make(const struct runs *runs, double *busy, double *drawn, double *margin,
		       struct err *err)
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
		int r;

		if (count < KIND_LEAST)
			continue;
		r = mixture_fit(&mixture, &plan, seconds, count, err);
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

/* ---- features ---- */

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

/* Its own past under a name of its own: NAME_lag1 ... */
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

/* The last run of a kind that had ended by then; rows if there is none. */
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

/* seen_K: how slow the last run of every kind was. */
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

/* How long ago the last run of the kind, and of any, ended. */
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

/* What servers counted per second during the last run of any kind that had ended. */
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
	return 0;
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
		task->ceiling += fmax(task->busy[i], 1 - task->busy[i]) / (double)task->rows;
	}
}

static int task_init(struct task *task, const char *path, struct err *err)
{
	AUTO_FREE double *labels = NULL;
	AUTO_FREE size_t *rows = NULL;
	int r = runs_read(&task->runs, path, RUNS_ALL, err);
	size_t all = task->runs.rows;

	if (r < 0)
		return r;
	labels = xmalloc(3 * all * sizeof(*labels));
	rows = xmalloc(all * sizeof(*rows));
	r = labels_make(&task->runs, labels, labels + all, labels + 2 * all, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < all; i++) {
		if (!isnan(labels[i]))
			rows[task->rows++] = i;
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

/* ---- judgement ---- */

/* Out-of-fold chances of busy. */
static int chances_make(const struct task *task, const struct method *method, const double *x,
			size_t width, const double *labels, const struct folds *folds, double *out,
			struct err *err)
{
	struct samples samples = {
		.x = x, .y = labels, .rows = task->rows, .width = width, .classes = 2, .gaps = true
	};
	AUTO_FREE size_t *train = xmalloc(2 * task->rows * sizeof(*train));
	size_t *test = train + task->rows, trained, tested;
	struct effort effort = { .seed = 1, .threads = 2 };
	struct pipeline_plan plan;
	int r;

	pipeline_plan_init(&plan, learner_find(method->name, LEARNER_CLASSIFIES, err));
	r = learner_parse(plan.learner, method->settings, plan.settings, err);
	for (size_t fold = 0; r >= 0 && fold < folds->count; fold++) {
		struct pipeline pipeline;
		double chance[2];

		folds_split(folds, fold, train, &trained, test, &tested);
		r = pipeline_fit(&pipeline, &plan, &samples, train, trained, &effort, err);
		if (r < 0)
			break;
		for (size_t i = 0; i < tested; i++) {
			pipeline_predict(&pipeline, x + test[i] * width, chance);
			out[test[i]] = chance[1];
		}
		pipeline_release(&pipeline);
	}
	return r;
}

static double accuracy(const double *truth, const double *busy, size_t count)
{
	size_t right = 0;

	for (size_t i = 0; i < count; i++)
		right += truth[i] == (busy[i] > 0.5);
	return (double)right / (double)count;
}

/* The chances as Platt's sigmoid has them, fitted to the other folds' rows; the error that stays.
 */
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

/* What those say who have no model. */
struct baselines {
	double majority, majority_kind, last;
};

static struct baselines baselines_make(const struct task *task, const double *labels)
{
	struct baselines of = { 0 };
	double sum = 0, n = (double)task->rows;

	for (size_t i = 0; i < task->rows; i++)
		sum += labels[i];
	of.majority = fmax(sum, n - sum) / n;
	for (size_t kind = 0; kind < task->runs.kinds; kind++) {
		double busy = 0, rows = 0;

		for (size_t i = 0; i < task->rows; i++) {
			busy += task->kind[i] == (double)kind ? labels[i] : 0;
			rows += task->kind[i] == (double)kind;
		}
		of.majority_kind += fmax(busy, rows - busy) / n;
	}
	for (size_t i = 0; i < task->rows; i++) {
		size_t last = last_of(task, task->kind[i], task->time[i]);

		of.last += (last < task->rows ? labels[last] : 0) == labels[i] ? 1 / n : 0;
	}
	return of;
}

/* The best of methods, by name of what is known. */
struct best {
	double shuffled[KNOWNS], blocked[KNOWNS];
};

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

static int method_judge(const struct task *task, const struct method *method, size_t known,
			const double *labels, const struct folds folds[2], struct table *table,
			struct best *best, struct err *err)
{
	AUTO_FREE double *x = NULL, *busy = xmalloc(task->rows * sizeof(*busy));
	double right[2], auc[2], error[2], calibrated[2];
	struct metrics_bin bins[BINS];
	size_t width;
	int r = inputs_make(task, knowns[known].list, &x, &width, err);

	for (size_t k = 0; r >= 0 && k < 2; k++) {
		r = chances_make(task, method, x, width, labels, &folds[k], busy, err);
		right[k] = accuracy(labels, busy, task->rows);
		auc[k] = metrics_auc(labels, busy, task->rows);
		error[k] = metrics_reliability(labels, busy, task->rows, bins, BINS);
		calibrated[k] = calibrated_error(labels, busy, &folds[k]);
	}
	if (r < 0)
		return r;
	table_add(table, "%s", knowns[known].name);
	table_add(table, "%s", method->name);
	table_add(table, "%zu", width);
	for (size_t k = 0; k < 2; k++) {
		table_add(table, "%.1f %%", 100 * right[k]);
		table_add(table, "%.3f", auc[k]);
		table_add(table, "%.3f", error[k]);
		table_add(table, "%.3f", calibrated[k]);
	}
	best->shuffled[known] = fmax(best->shuffled[known], right[0]);
	best->blocked[known] = fmax(best->blocked[known], right[1]);
	return 0;
}

static const char *const titles[] = { "known", "method", ">inputs", ">shuffled",
				      ">AUC",  ">error", ">Platt",  ">blocked",
				      ">AUC",  ">error", ">Platt",  NULL };

static int labels_judge(const struct task *task, const char *name, const double *labels,
			struct best *best, struct err *err)
{
	struct baselines of = baselines_make(task, labels);
	struct folds folds[2] = { 0 };
	struct table table;
	int r = folds_init(&folds[0], FOLDS_STRATIFIED, FOLDS, task->rows, labels, 1, err);

	if (r >= 0)
		r = folds_init(&folds[1], FOLDS_BLOCKED, FOLDS, task->rows, task->time, 1, err);
	table_init(&table, titles);
	for (size_t known = 0; known < KNOWNS; known++) {
		for (size_t m = 0; r >= 0 && m < METHODS; m++)
			r = method_judge(task, &methods[m], known, labels, folds, &table, best,
					 err);
	}
	if (r >= 0) {
		printf("label: %s; majority %.1f %%, of each kind %.1f %%; the last state of the "
		       "kind %.1f %%; ceiling %.1f %%\n",
		       name, 100 * of.majority, 100 * of.majority_kind, 100 * of.last,
		       labels == task->drawn ? 100 * task->ceiling : 100.0);
		table_print(&table, stdout, 2);
	}
	table_release(&table);
	folds_release(&folds[0]);
	folds_release(&folds[1]);
	return r;
}

static void keys_print(const char *name, const struct best *best)
{
	for (size_t i = 0; i < KNOWNS; i++)
		printf("key real_%s_%s %.1f/%.1f\n", name, knowns[i].name, 100 * best->shuffled[i],
		       100 * best->blocked[i]);
}

int main(int argc, char **argv)
{
	AUTO_FREE char *path = NULL;
	struct task task = { 0 };
	struct best likelier = { 0 }, drawn = { 0 };
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
		printf("Cori, %zu runs of kinds with at least %d runs; %d folds, shuffled and "
		       "blocked in time\n",
		       task.rows, KIND_LEAST, FOLDS);
		r = labels_judge(&task, "the likelier state", task.likelier, &likelier, &err);
	}
	if (r >= 0)
		r = labels_judge(&task, "drawn at random", task.drawn, &drawn, &err);
	if (r < 0) {
		fprintf(stderr, "bench forecast_real: %s\n", err.text);
	} else {
		keys_print("likelier", &likelier);
		keys_print("drawn", &drawn);
	}
	task_release(&task);
	return r < 0;
}
