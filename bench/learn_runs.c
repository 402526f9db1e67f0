/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the runs and adds features of earlier runs. All such features are made by
 * series_add_lags(), which uses a value only after the time at which it was known.
 */
#include "learn_runs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench/series.h"
#include "learn/table/csv.h"

#define RATE "darshan_agg_perf_by_slowest_posix"
enum { LAGS = 5, WINDOW = 10, HALF_LIFE = 5 };

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

struct ordering {
	const struct dataset *dataset;
	size_t column;
};

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct ordering *ordering = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	double x = dataset_row(ordering->dataset, i)[ordering->column];
	double y = dataset_row(ordering->dataset, j)[ordering->column];

	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (x < y || x > y)
		return x < y ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Sorts row indices by ascending value of a column. The sort is stable and puts NAN last. */
static void order_rows(const struct dataset *dataset, size_t column, size_t *rows)
{
	struct ordering ordering = { .dataset = dataset, .column = column };

	for (size_t i = 0; i < dataset->rows; i++)
		rows[i] = i;
	qsort_r(rows, dataset->rows, sizeof(*rows), compare_rows, &ordering);
}

/* Selects runs on the scratch file system with server counters, ordered by start. */
static void runs_choose(struct dataset *runs, const struct dataset *all, enum runs_part part)
{
	size_t start = column(all, "darshan_start_time"), counter = column(all, "fs_ave_oss_cpu");
	AUTO_FREE size_t *rows = xmalloc(all->rows * sizeof(*rows));
	size_t count = 0;

	order_rows(all, start, rows);
	for (size_t i = 0; i < all->rows; i++) {
		if (!isnan(dataset_row(all, rows[i])[counter]))
			rows[count++] = rows[i];
	}
	dataset_take(runs, all, rows, part == RUNS_FIRST_HALF ? count / 2 : count);
}

/* Programs of the same name from several folders count as one. */
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

/* Adds the kind of the run and the logarithm of its rate. Size has steps of a factor of 1.4. */
static void kinds_add(struct dataset *table)
{
	size_t app = column(table, "darshan_app"), procs = column(table, "darshan_nprocs"),
	       read = column(table, "darshan_tot_bytes_read_posix"),
	       written = column(table, "darshan_tot_bytes_written_posix"),
	       read_files = column(table, "darshan_biggest_read_api_files"),
	       written_files = column(table, "darshan_biggest_write_api_files"),
	       rate = column(table, RATE), rows = table->rows;
	AUTO_FREE double *kinds = xmalloc(5 * rows * sizeof(*kinds));

	for (size_t i = 0; i < rows; i++) {
		const double *row = dataset_row(table, i);
		bool writes = row[written] > row[read];

		kinds[i] = program_number(&table->columns[app], row[app]);
		kinds[rows + i] = writes;
		kinds[2 * rows + i] = row[writes ? written_files : read_files] < row[procs] / 2;
		kinds[3 * rows + i] = round(2 * log2(row[writes ? written : read]));
		kinds[4 * rows + i] = log(row[rate]);
	}
	dataset_add(table, "program", kinds);
	dataset_add(table, "write", kinds + rows);
	dataset_add(table, "shared", kinds + 2 * rows);
	dataset_add(table, "size", kinds + 3 * rows);
	dataset_add(table, "rate", kinds + 4 * rows);
}

static size_t kinds_number(const struct dataset *table, const char *list, double *kind)
{
	AUTO_FREE size_t *columns = NULL;
	size_t count;
	struct err err;

	if (dataset_choose(table, list, &columns, &count, &err) < 0) {
		fprintf(stderr, "bench learn_series: %s\n", err.text);
		exit(1);
	}
	return dataset_groups(table, columns, count, kind);
}

/* Adds features of earlier values of a column (value_lag1, ..., value_mean), or only the mean. */
static int past_add(struct dataset *table, const char *value, const double *group, bool lags,
		    struct err *err)
{
	struct series_lags past = { .time = column(table, "darshan_start_time"),
				    .known = column(table, "darshan_end_time"),
				    .value = column(table, value),
				    .group = group,
				    .lags = lags ? LAGS : 0,
				    .window = WINDOW,
				    .half_life = lags ? HALF_LIFE : 0 };

	return series_add_lags(table, &past, err);
}

static void column_subtract(struct dataset *table, const char *one, const char *other,
			    const char *name)
{
	AUTO_FREE double *values = column_copy(table, one);
	size_t taken = column(table, other);

	for (size_t i = 0; i < table->rows; i++)
		values[i] -= dataset_row(table, i)[taken];
	dataset_add(table, name, values);
}

static double first_number(const double *row, const size_t *columns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!isnan(row[columns[i]]))
			return row[columns[i]];
	}
	return 0;
}

/* Adds the level of the kind; without earlier runs, that of similar kinds, or else of all runs. */
static int level_add(struct runs *runs, struct err *err)
{
	struct dataset *table = &runs->table;
	AUTO_FREE double *like = xmalloc(table->rows * sizeof(*like));
	size_t means[3];
	int r = past_add(table, "rate", runs->kind, true, err);

	kinds_number(table, "program,write,shared,darshan_nprocs", like);
	dataset_add(table, "like", runs->rate);
	dataset_add(table, "any", runs->rate);
	if (r >= 0)
		r = past_add(table, "like", like, false, err);
	if (r >= 0)
		r = past_add(table, "any", NULL, false, err);
	if (r < 0)
		return r;
	means[0] = column(table, "rate_mean");
	means[1] = column(table, "like_mean");
	means[2] = column(table, "any_mean");
	runs->level = xmalloc(table->rows * sizeof(*runs->level));
	for (size_t i = 0; i < table->rows; i++)
		runs->level[i] = first_number(dataset_row(table, i), means, 3);
	dataset_add(table, "level", runs->level);
	return 0;
}

static int relative_add(struct runs *runs, struct err *err)
{
	struct dataset *table = &runs->table;
	AUTO_FREE double *way = column_copy(table, "write");
	int r;

	column_subtract(table, "rate", "level", "relative");
	column_subtract(table, "rate", "level", "way");
	r = past_add(table, "relative", NULL, true, err);
	if (r >= 0)
		r = past_add(table, "way", way, true, err);
	return r;
}

static int counter_add(struct runs *runs, const char *counter, struct err *err)
{
	struct dataset *table = &runs->table;
	AUTO_FREE char *from = xprintf("fs_%s", counter), *now = xprintf("now_%s", counter),
		       *usual = xprintf("now_%s_mean", counter),
		       *beside = xprintf("beside_%s", counter);
	AUTO_FREE double *values = column_copy(table, from);
	int r;

	for (size_t i = 0; i < table->rows; i++)
		values[i] = log1p(fmax(values[i], 0));
	dataset_add(table, now, values);
	r = past_add(table, now, runs->kind, false, err);
	if (r >= 0)
		column_subtract(table, now, usual, beside);
	return r;
}

/* Splits a pair of columns into the one for the direction of the run and the other one. */
static void ways_add(struct dataset *table, const char *prefix, const char *how)
{
	AUTO_FREE char *read = xprintf("%s_%s_bytes_read_per_sec", prefix, how),
		       *written = xprintf("%s_%s_bytes_written_per_sec", prefix, how),
		       *own = xprintf("own_%s_%s", prefix, how),
		       *other = xprintf("other_%s_%s", prefix, how);
	size_t writes = column(table, "write"), in = column(table, read),
	       out = column(table, written);
	AUTO_FREE double *values = xmalloc(2 * table->rows * sizeof(*values));

	for (size_t i = 0; i < table->rows; i++) {
		const double *row = dataset_row(table, i);

		values[i] = row[row[writes] > 0 ? out : in];
		values[table->rows + i] = row[row[writes] > 0 ? in : out];
	}
	dataset_add(table, own, values);
	dataset_add(table, other, values + table->rows);
}

static int counters_add(struct runs *runs, struct err *err)
{
	static const char *const counters[] = {
		"ave_bytes_read_per_sec",
		"ave_bytes_written_per_sec",
		"max_bytes_read_per_sec",
		"max_bytes_written_per_sec",
		"min_bytes_read_per_sec",
		"min_bytes_written_per_sec",
		"ave_oss_cpu",
		"max_oss_cpu",
		"ave_mds_cpu",
		"max_mds_cpu",
	};
	static const char *const hows[] = { "ave", "max", "min" };
	struct dataset *table = &runs->table;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(counters) / sizeof(counters[0]); i++)
		r = counter_add(runs, counters[i], err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		ways_add(table, "now", hows[i]);
		ways_add(table, "beside", hows[i]);
	}
	column_subtract(table, "own_now_ave", "level", "flow_mean");
	column_subtract(table, "own_now_max", "level", "flow_most");
	column_subtract(table, "relative", "own_beside_ave", "surplus");
	return past_add(table, "surplus", NULL, true, err);
}

int runs_read(struct runs *runs, const char *path, enum runs_part part, struct err *err)
{
	AUTO_DATASET struct dataset all = { 0 };
	int r = csv_read(&all, path, err);

	if (r < 0)
		return r;
	runs_choose(&runs->table, &all, part);
	kinds_add(&runs->table);
	runs->rows = runs->table.rows;
	runs->kind = xmalloc(runs->rows * sizeof(*runs->kind));
	runs->kinds =
		kinds_number(&runs->table, "program,write,shared,size,darshan_nprocs", runs->kind);
	runs->time = column_copy(&runs->table, "darshan_start_time");
	runs->known = column_copy(&runs->table, "darshan_end_time");
	runs->rate = column_copy(&runs->table, "rate");
	r = level_add(runs, err);
	if (r >= 0)
		r = relative_add(runs, err);
	if (r >= 0)
		r = counters_add(runs, err);
	return r;
}

void runs_release(struct runs *runs)
{
	dataset_release(&runs->table);
	free(runs->time);
	free(runs->known);
	free(runs->kind);
	free(runs->level);
	free(runs->rate);
}
