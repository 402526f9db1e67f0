/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"

static int plan_init(struct job *job, struct err *err)
{
	const struct learner_ops *learner =
		learner_find(job->field[JOB_LEARNER],
			     strcmp(job->field[JOB_TASK], "classify") == 0 ? LEARNER_CLASSIFIES
									   : LEARNER_REGRESSES,
			     err);

	if (!learner)
		return -EINVAL;
	pipeline_plan_init(&job->plan, learner);
	job->plan.recipe = job->field[JOB_RECIPE];
	job->plan.log_target = strcmp(job->field[JOB_TASK], "log") == 0;
	return learner_parse(learner, job->field[JOB_SETTINGS], job->plan.settings, err);
}

int job_next(struct job *job, FILE *list, struct err *err)
{
	size_t room = 0, n = 0;
	char *at, *word;

	*job = (struct job){ 0 };
	if (getline(&job->line, &room, list) < 0) {
		job_release(job);
		return 0;
	}
	at = job->line;
	at[strcspn(at, "\n")] = '\0';
	while (n < JOB_FIELDS && (word = strsep(&at, "\t")))
		job->field[n++] = strcmp(word, "-") == 0 ? "" : word;
	if (n < JOB_FIELDS || at)
		return err_set(err, EINVAL, "a job must have %d fields: %s", JOB_FIELDS, job->line);
	job->seeds = strtoul(job->field[JOB_SEEDS], NULL, 10);
	job->first = strtoul(job->field[JOB_FIRST], NULL, 10);
	if (plan_init(job, err) < 0)
		return err_prefix(err, "%s", job->field[JOB_ID]);
	return 1;
}

void job_release(struct job *job)
{
	free(job->line);
	*job = (struct job){ 0 };
}

static double *column_take(const struct dataset *table, const char *name, struct err *err)
{
	int column = dataset_find(table, name, err);
	double *values;

	if (column < 0)
		return NULL;
	values = xmalloc(table->rows * sizeof(*values));
	dataset_column(table, (size_t)column, values);
	return values;
}

static size_t distinct(const double *values, size_t count)
{
	double most = -1;

	for (size_t i = 0; i < count; i++)
		most = values[i] > most ? values[i] : most;
	return (size_t)(most + 1);
}

static int rows_take(struct job_rows *rows, const struct job *job, const struct dataset *table,
		     struct err *err)
{
	AUTO_FREE size_t *columns = NULL;
	size_t width;
	int r = dataset_choose(table, job->field[JOB_FEATURES], &columns, &width, err);

	if (r < 0)
		return r;
	rows->y = column_take(table, job->field[JOB_TARGET], err);
	rows->fold = rows->y ? column_take(table, job->field[JOB_FOLD], err) : NULL;
	if (!rows->fold)
		return -EINVAL;
	rows->group = column_take(table, "target", NULL);
	if (!rows->group)
		rows->group = xcalloc(table->rows, sizeof(*rows->group));
	rows->x = xmalloc(table->rows * width * sizeof(*rows->x));
	for (size_t i = 0; i < table->rows; i++)
		for (size_t j = 0; j < width; j++)
			rows->x[i * width + j] = dataset_row(table, i)[columns[j]];
	rows->samples =
		(struct samples){ .x = rows->x, .y = rows->y, .rows = table->rows, .width = width };
	return 0;
}

int job_rows_init(struct job_rows *rows, const struct job *job, struct err *err)
{
	AUTO_DATASET struct dataset table = { 0 };
	int r = csv_read(&table, job->field[JOB_FILE], err);

	*rows = (struct job_rows){ 0 };
	if (r < 0)
		return r;
	r = rows_take(rows, job, &table, err);
	if (r < 0) {
		job_rows_release(rows);
		return r;
	}
	if (strcmp(job->field[JOB_TASK], "classify") == 0)
		rows->samples.classes = distinct(rows->y, table.rows);
	rows->folds = job->first ? job->first : distinct(rows->fold, table.rows);
	return 0;
}

void job_rows_release(struct job_rows *rows)
{
	free(rows->x);
	free(rows->y);
	free(rows->fold);
	free(rows->group);
	*rows = (struct job_rows){ 0 };
}

size_t job_rows_split(const struct job_rows *rows, size_t from, size_t to, size_t fold, bool inside,
		      size_t *chosen)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		if ((rows->fold[i] == (double)fold) == inside)
			chosen[n++] = i;
	return n;
}

double job_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
