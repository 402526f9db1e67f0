/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs the jobs of bench/learn.sh with Sluice; learn_reference.py runs them with scikit-learn.
 * Rows, folds, settings and the format of the output are the same. Times are CPU times of one
 * thread; the time of all targets is wall time.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "learn/judge/metrics.h"
#include "learn_exact.h"
#include "learn_job.h"

/* Short fits are repeated for this time; the median is used. */
#define ENOUGH_S 0.2
enum { REPEATS = 20 };
/* A single row takes less time than the clock resolves. */
enum { BLOCKS = 2000, BLOCK_CALLS = 8 };
#define ONE_ROW_ENOUGH_S 0.3

struct cross {
	double *out;	 /* rows x answers, for the tested rows */
	size_t *chosen;	 /* room for all rows */
	double *answers; /* room for all rows */
	struct pipeline last;
	double fit_s, predict_s;
};

static size_t answers_of(const struct job_rows *rows)
{
	return rows->samples.classes ? rows->samples.classes : 1;
}

static int cross_fold(struct cross *cross, const struct job *job, const struct job_rows *rows,
		      size_t fold, uint64_t seed, struct err *err)
{
	size_t count = rows->samples.rows, answers = answers_of(rows), n;
	struct effort effort = { .seed = seed, .threads = 1 };
	double start, fitted;
	int r;

	pipeline_release(&cross->last);
	n = job_rows_split(rows, 0, count, fold, false, cross->chosen);
	start = job_clock();
	r = pipeline_fit(&cross->last, &job->plan, &rows->samples, cross->chosen, n, &effort, err);
	if (r < 0)
		return r;
	fitted = job_clock();
	n = job_rows_split(rows, 0, count, fold, true, cross->chosen);
	pipeline_predict_rows(&cross->last, rows->x, cross->chosen, n, cross->answers);
	cross->fit_s += fitted - start;
	cross->predict_s += job_clock() - fitted;
	for (size_t i = 0; i < n; i++)
		memcpy(cross->out + cross->chosen[i] * answers, cross->answers + i * answers,
		       answers * sizeof(double));
	return 0;
}

static int cross_run(struct cross *cross, const struct job *job, const struct job_rows *rows,
		     uint64_t seed, struct err *err)
{
	cross->fit_s = cross->predict_s = 0;
	for (size_t fold = 0; fold < rows->folds; fold++) {
		int r = cross_fold(cross, job, rows, fold, seed, err);

		if (r < 0)
			return err_prefix(err, "%s", job->field[JOB_ID]);
	}
	return 0;
}

/* Returns the median over blocks of calls for single rows, including preparation. */
static double one_row_us(const struct pipeline *pipeline, const struct job_rows *rows)
{
	double took[BLOCKS], out[LEARNER_CLASSES_MAX], end = job_clock() + ONE_ROW_ENOUGH_S;
	size_t n = 0, row = 0;

	while (n < BLOCKS && (n < 3 || job_clock() < end)) {
		double start = job_clock();

		for (size_t i = 0; i < BLOCK_CALLS; i++) {
			pipeline_predict(pipeline, rows->x + row * rows->samples.width, out);
			row = (row + 1) % rows->samples.rows;
		}
		took[n++] = (job_clock() - start) * 1e6 / BLOCK_CALLS;
	}
	return metrics_quantile(took, n, 0.5);
}

/* Moves tested rows to the front; returns their number. */
static size_t tested_take(const struct cross *cross, const struct job_rows *rows, double *truth,
			  double *guess)
{
	size_t answers = answers_of(rows), n = 0;

	for (size_t i = 0; i < rows->samples.rows; i++) {
		if (rows->fold[i] >= (double)rows->folds)
			continue;
		truth[n] = rows->y[i];
		memcpy(guess + n * answers, cross->out + i * answers, answers * sizeof(*guess));
		n++;
	}
	return n;
}

static void quality_print(const struct job *job, const struct job_rows *rows,
			  const struct cross *cross)
{
	size_t classes = rows->samples.classes, n;
	AUTO_FREE double *truth = xmalloc(rows->samples.rows * sizeof(double));
	AUTO_FREE double *guess = xmalloc(rows->samples.rows * answers_of(rows) * sizeof(double));
	double median;

	n = tested_take(cross, rows, truth, guess);
	if (classes) {
		printf("\taccuracy=%.9g\tauc=%.9g", metrics_accuracy(truth, guess, n, classes),
		       metrics_auc_classes(truth, guess, n, classes));
		return;
	}
	median = metrics_median_error(truth, guess, n);
	for (size_t i = 0; job->plan.log_target && i < n; i++) {
		truth[i] = log(truth[i]);
		guess[i] = log(guess[i]);
	}
	printf("\trmse=%.9g\tr2=%.9g\tmedian=%.9g", metrics_rmse(truth, guess, n),
	       metrics_r2(truth, guess, n), median);
}

static int seed_run(struct cross *cross, const struct job *job, const struct job_rows *rows,
		    uint64_t seed, struct err *err)
{
	double fits[REPEATS], predicts[REPEATS], sum = 0;
	size_t n = 0;

	while (!n || (sum < ENOUGH_S && n < REPEATS)) {
		int r = cross_run(cross, job, rows, seed, err);

		if (r < 0)
			return r;
		fits[n] = cross->fit_s;
		predicts[n++] = cross->predict_s;
		sum += cross->fit_s;
	}
	printf("id=%s\tseed=%llu", job->field[JOB_ID], (unsigned long long)seed);
	quality_print(job, rows, cross);
	printf("\tfit_s=%.9g\tpredict_s=%.9g\tone_us=%.9g\n", metrics_quantile(fits, n, 0.5),
	       metrics_quantile(predicts, n, 0.5), one_row_us(&cross->last, rows));
	fflush(stdout);
	return 0;
}

static int job_run(const struct job *job, struct err *err)
{
	struct cross cross = { 0 };
	struct job_rows rows;
	int r = job_rows_init(&rows, job, err);

	if (r < 0)
		return r;
	cross.out = xcalloc(rows.samples.rows * answers_of(&rows), sizeof(double));
	cross.answers = xmalloc(rows.samples.rows * answers_of(&rows) * sizeof(double));
	cross.chosen = xmalloc(rows.samples.rows * sizeof(size_t));
	for (size_t seed = 0; seed < job->seeds && r >= 0; seed++)
		r = seed_run(&cross, job, &rows, seed, err);
	pipeline_release(&cross.last);
	free(cross.out);
	free(cross.answers);
	free(cross.chosen);
	job_rows_release(&rows);
	return r;
}

/* A job that fails prints a message, and the others continue; the table shows the gap. */
static int command_run(char **words, struct err *err)
{
	AUTO_FCLOSE FILE *list = fopen(words[0], "re");
	struct job job;
	int r, worst = 0;

	if (!list)
		return err_set(err, errno, "%s: %s", words[0], strerror(errno));
	while ((r = job_next(&job, list, err)) != 0) {
		r = r < 0 ? r : job_run(&job, err);
		if (r < 0) {
			fprintf(stderr, "bench learn: %s\n", err->text);
			worst = r;
		}
		job_release(&job);
	}
	return worst;
}

enum { JOBS_MAX = 16 };

struct targets {
	struct job jobs[JOBS_MAX];
	size_t job_count, target_count;
	size_t *first; /* first row of each target, and the end */
	struct job_rows rows;
	struct piece {
		size_t right;
		double cpu_s;
		struct err err;
	} * pieces; /* targets x jobs x folds */
};

static void target_work(void *arg, size_t number, unsigned worker)
{
	struct targets *all = arg;
	struct piece *piece = &all->pieces[number];
	size_t fold = number % all->rows.folds, classes = all->rows.samples.classes;
	const struct job *job = &all->jobs[number / all->rows.folds % all->job_count];
	size_t target = number / all->rows.folds / all->job_count;
	size_t from = all->first[target], to = all->first[target + 1], n;
	AUTO_FREE size_t *chosen = xmalloc((to - from) * sizeof(*chosen));
	AUTO_FREE double *out = xmalloc((to - from) * classes * sizeof(*out));
	struct effort effort = { .threads = 1 };
	struct pipeline pipeline = { 0 };
	double start = job_clock();

	(void)worker;
	n = job_rows_split(&all->rows, from, to, fold, false, chosen);
	if (pipeline_fit(&pipeline, &job->plan, &all->rows.samples, chosen, n, &effort,
			 &piece->err) < 0)
		return;
	n = job_rows_split(&all->rows, from, to, fold, true, chosen);
	pipeline_predict_rows(&pipeline, all->rows.x, chosen, n, out);
	for (size_t i = 0; i < n; i++)
		piece->right +=
			learner_best(out + i * classes, classes) == (size_t)all->rows.y[chosen[i]];
	piece->cpu_s = job_clock() - start;
	pipeline_release(&pipeline);
}

static int targets_init(struct targets *all, const char *path, size_t most, struct err *err)
{
	AUTO_FCLOSE FILE *list = fopen(path, "re");
	int r = 1;

	if (!list)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	while (all->job_count < JOBS_MAX && r > 0) {
		r = job_next(&all->jobs[all->job_count], list, err);
		all->job_count += r > 0;
	}
	if (r >= 0 && !all->job_count)
		r = err_set(err, ENODATA, "%s: the list has no jobs", path);
	if (r >= 0)
		r = job_rows_init(&all->rows, &all->jobs[0], err);
	if (r < 0)
		return r;
	all->first = xcalloc(most + 1, sizeof(*all->first));
	for (size_t i = 1; i <= all->rows.samples.rows; i++) {
		if (i < all->rows.samples.rows && all->rows.group[i] == all->rows.group[i - 1])
			continue;
		all->first[++all->target_count] = i;
		if (all->target_count == most)
			break;
	}
	all->pieces =
		xcalloc(all->target_count * all->job_count * all->rows.folds, sizeof(*all->pieces));
	return 0;
}

static int targets_print(const struct targets *all, unsigned threads, double wall_s,
			 struct err *err)
{
	size_t folds = all->rows.folds;
	double cpu_s = 0;

	for (size_t j = 0; j < all->job_count; j++) {
		struct piece sum = { 0 };

		for (size_t t = 0; t < all->target_count; t++) {
			for (size_t f = 0; f < folds; f++) {
				const struct piece *piece =
					&all->pieces[(t * all->job_count + j) * folds + f];

				if (piece->err.code)
					return err_set(err, piece->err.code, "%s: %s",
						       all->jobs[j].field[JOB_ID], piece->err.text);
				sum.right += piece->right;
				sum.cpu_s += piece->cpu_s;
			}
		}
		printf("id=%s\ttargets=%zu\taccuracy=%.9g\tcpu_s=%.9g\n",
		       all->jobs[j].field[JOB_ID], all->target_count,
		       (double)sum.right / (double)all->first[all->target_count], sum.cpu_s);
		cpu_s += sum.cpu_s;
	}
	printf("id=all\ttargets=%zu\tthreads=%u\twall_s=%.9g\tcpu_s=%.9g\n", all->target_count,
	       threads, wall_s, cpu_s);
	return 0;
}

static void targets_release(struct targets *all)
{
	for (size_t j = 0; j < all->job_count; j++)
		job_release(&all->jobs[j]);
	job_rows_release(&all->rows);
	free(all->first);
	free(all->pieces);
}

static int command_targets(char **words, struct err *err)
{
	struct targets all = { 0 };
	unsigned threads = (unsigned)strtoul(words[2], NULL, 10);
	struct timespec start, end;
	int r = targets_init(&all, words[0], strtoul(words[1], NULL, 10), err);

	if (r >= 0) {
		clock_gettime(CLOCK_MONOTONIC, &start);
		parallel_for(threads, all.target_count * all.job_count * all.rows.folds,
			     target_work, &all);
		clock_gettime(CLOCK_MONOTONIC, &end);
		r = targets_print(&all, threads,
				  (double)(end.tv_sec - start.tv_sec) +
					  (double)(end.tv_nsec - start.tv_nsec) * 1e-9,
				  err);
	}
	targets_release(&all);
	return r;
}

static const struct command {
	const char *name;
	int words;
	int (*run)(char **words, struct err *err);
	const char *usage;
} commands[] = {
	{ "run", 1, command_run, "JOBS" },
	{ "targets", 3, command_targets, "JOBS COUNT THREADS" },
	{ "powers", 2, exact_powers, "CSV FEATURES" },
	{ "components", 2, exact_components, "CSV FEATURES" },
	{ "linear", 3, exact_linear, "CSV TARGET FEATURES" },
	{ "mixtures", 1, exact_mixtures, "CSV" },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

int main(int argc, char **argv)
{
	struct err err = { 0 };

	for (size_t i = 0; i < COMMANDS && argc > 1; i++) {
		if (strcmp(argv[1], commands[i].name) != 0 || argc != commands[i].words + 2)
			continue;
		if (commands[i].run(argv + 2, &err) >= 0)
			return 0;
		fprintf(stderr, "bench learn: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(stderr, "usage: bench_learn %s %s\n", commands[i].name, commands[i].usage);
	return 2;
}
