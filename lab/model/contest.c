/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-4, HYB-5.
 */
#include "lab/model/contest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/math/random.h"
#include "learn/table/csv.h"
#include "learn/table/dataset.h"

#define MIB 1048576ull
#define EXACT_MAX 0x1p53 /* doubles represent whole numbers up to this exactly */

void contest_release(struct contest *contest)
{
	free(contest->instances);
	free(contest->aggregators);
	free(contest->buffers);
	free(contest->choices);
	free(contest->seconds);
	free(contest->means);
	*contest = (struct contest){ 0 };
}

static int make_choices(struct contest *contest, struct err *err)
{
	const struct machine *machine = &contest->machine;

	contest->choice_count = contest->aggregator_count * contest->buffer_count;
	contest->choices = xcalloc(contest->choice_count, sizeof(*contest->choices));
	contest->initial = SIZE_MAX;
	for (size_t i = 0; i < contest->choice_count; i++) {
		struct settings *s = &contest->choices[i];

		/* Collective buffering is explicit; ROMIO skips it for contiguous accesses. */
		*s = (struct settings){
			.aggregators = contest->aggregators[i / contest->buffer_count],
			.buffer_bytes = contest->buffers[i % contest->buffer_count],
			.buffering = BUFFERING_ENABLED,
		};
		if (s->aggregators == machine->aggregators &&
		    s->buffer_bytes == machine->buffer_bytes)
			contest->initial = i;
	}
	if (contest->initial == SIZE_MAX)
		return err_set(err, EINVAL,
			       "the default settings of %s (%" PRIu64
			       " aggregators, buffers of %" PRIu64
			       " bytes) are not among the choices",
			       machine->name, machine->aggregators, machine->buffer_bytes);
	return 0;
}

static struct access make_access(uint64_t nodes, uint64_t ranks, uint64_t bytes)
{
	return (struct access){ .nodes = nodes, .ranks = ranks, .rank_bytes = bytes };
}

int contest_paper(struct contest *contest, const struct machine *machine, struct err *err)
{
	static const uint64_t nodes[] = { 128, 256, 512 }, aggregators[] = { 4, 16, 64 },
			      buffers[] = { 8 * MIB, 16 * MIB, 32 * MIB };
	static const uint64_t sizes[] = { 1, 2, 4, 8, 16, 32, 64, 96, 128, 196, 256 };
	size_t n = sizeof(nodes) / sizeof(*nodes), s = sizeof(sizes) / sizeof(*sizes);
	struct contest made = { .machine = *machine, .instance_count = n * s };
	int r;

	made.instances = xcalloc(n * s, sizeof(*made.instances));
	for (size_t i = 0; i < n * s; i++)
		made.instances[i] = make_access(nodes[i / s], nodes[i / s] * machine->cores,
						sizes[i % s] * MIB);
	made.aggregator_count = made.buffer_count = 3;
	made.aggregators = xmalloc(sizeof(aggregators));
	memcpy(made.aggregators, aggregators, sizeof(aggregators));
	made.buffers = xmalloc(sizeof(buffers));
	memcpy(made.buffers, buffers, sizeof(buffers));
	r = make_choices(&made, err);
	if (r < 0) {
		contest_release(&made);
		return r;
	}
	*contest = made;
	return 0;
}

static void compute_means(struct contest *contest)
{
	size_t cells = contest->instance_count * contest->choice_count;

	free(contest->means);
	contest->means = xcalloc(cells, sizeof(*contest->means));
	for (size_t i = 0; i < cells; i++) {
		for (size_t k = 0; k < contest->runs; k++)
			contest->means[i] += contest->seconds[i * contest->runs + k];
		contest->means[i] /= (double)contest->runs;
	}
}

int contest_measure(struct contest *contest, size_t runs, contest_run run, void *arg,
		    struct err *err)
{
	size_t cells = contest->instance_count * contest->choice_count;
	double *seconds = xcalloc(cells * runs, sizeof(*seconds));

	for (size_t i = 0; i < cells * runs; i++) {
		size_t cell = i / runs;

		seconds[i] = run(arg, &contest->instances[cell / contest->choice_count],
				 &contest->choices[cell % contest->choice_count], i % runs);
		if (!(seconds[i] > 0) || !isfinite(seconds[i])) {
			int r = err_set(err, EDOM,
					"a run takes %g seconds; expected a positive number",
					seconds[i]);

			free(seconds);
			return r;
		}
	}
	free(contest->seconds);
	contest->seconds = seconds;
	contest->runs = runs;
	compute_means(contest);
	return 0;
}

enum { NODES, RANKS, BYTES, AGGREGATORS, BUFFER, SECONDS, COLUMNS };
static const char *const column_names[COLUMNS] = { "nodes",	  "ranks",	  "rank_bytes",
						   "aggregators", "buffer_bytes", "seconds" };

/* State of contest_table(). */
struct reading {
	const struct dataset *table;
	const char *name;
	int columns[COLUMNS]; /* positions in the table; -1: missing */
	struct contest *made;
	struct err *err;
};

static double read_cell(const struct reading *reading, size_t row, int column)
{
	int at = reading->columns[column];

	return at < 0 ? NAN : dataset_row(reading->table, row)[at];
}

/* Messages count lines of the file; row 0 is line 2. */
static int check_row(const struct reading *reading, size_t row)
{
	for (int c = 0; c < COLUMNS; c++) {
		double value = read_cell(reading, row, c);

		if (reading->columns[c] < 0)
			continue;
		if (!(value > 0) || !isfinite(value) ||
		    (c != SECONDS && (value != floor(value) || value > EXACT_MAX)))
			return err_set(reading->err, EINVAL, "%s:%zu: %s must be a positive %s",
				       reading->name, row + 2, column_names[c],
				       c == SECONDS ? "number" : "whole number");
	}
	return 0;
}

static int find_columns(struct reading *reading)
{
	const struct dataset *table = reading->table;

	for (int c = 0; c < COLUMNS; c++) {
		int at = dataset_find(table, column_names[c], reading->err);

		if (at < 0 && c != RANKS)
			return err_prefix(reading->err, "%s", reading->name);
		if (at >= 0 && table->columns[at].levels)
			return err_set(reading->err, EINVAL,
				       "%s: column %s contains text; expected numbers",
				       reading->name, column_names[c]);
		reading->columns[c] = at < 0 ? -1 : at;
	}
	for (size_t row = 0; row < table->rows; row++) {
		int r = check_row(reading, row);

		if (r < 0)
			return r;
	}
	return table->rows ? 0 : err_set(reading->err, ENODATA, "%s has no rows", reading->name);
}

static int compare_counts(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t *find_levels(const struct reading *reading, int column, size_t *count)
{
	size_t rows = reading->table->rows, used = 0;
	uint64_t *levels = xmalloc(rows * sizeof(*levels));

	for (size_t i = 0; i < rows; i++)
		levels[i] = (uint64_t)read_cell(reading, i, column);
	qsort(levels, rows, sizeof(*levels), compare_counts);
	for (size_t i = 0; i < rows; i++)
		if (!i || levels[i] != levels[i - 1])
			levels[used++] = levels[i];
	*count = used;
	return levels;
}

static struct access read_access(const struct reading *reading, size_t row)
{
	double nodes = read_cell(reading, row, NODES), ranks = read_cell(reading, row, RANKS);

	if (isnan(ranks))
		ranks = nodes * (double)reading->made->machine.cores;
	return make_access((uint64_t)nodes, (uint64_t)ranks,
			   (uint64_t)read_cell(reading, row, BYTES));
}

/* The number of the instance with that access; adds it if it is new. */
static size_t find_or_add_instance(struct contest *made, const struct access *access)
{
	size_t i = 0;

	for (; i < made->instance_count; i++) {
		const struct access *a = &made->instances[i];

		if (a->nodes == access->nodes && a->ranks == access->ranks &&
		    a->rank_bytes == access->rank_bytes)
			return i;
	}
	made->instances = xrealloc(made->instances, i + 1, sizeof(*made->instances));
	made->instances[made->instance_count++] = *access;
	return i;
}

static size_t find_choice(const struct reading *reading, size_t row)
{
	const struct contest *made = reading->made;
	size_t a = 0, b = 0;

	while (made->aggregators[a] != (uint64_t)read_cell(reading, row, AGGREGATORS))
		a++;
	while (made->buffers[b] != (uint64_t)read_cell(reading, row, BUFFER))
		b++;
	return a * made->buffer_count + b;
}

/* Checks that every cell has the same number of runs. */
static int check_runs(const struct reading *reading, const size_t *runs)
{
	const struct contest *made = reading->made;

	for (size_t i = 0; i < made->instance_count * made->choice_count; i++) {
		const struct access *a = &made->instances[i / made->choice_count];
		const struct settings *s = &made->choices[i % made->choice_count];

		if (runs[i] != made->runs)
			return err_set(reading->err, EINVAL,
				       "%s: %" PRIu64 " nodes, %" PRIu64 " bytes per rank, %" PRIu64
				       " aggregators and buffers of %" PRIu64
				       " bytes have %zu runs; expected %zu as for the others",
				       reading->name, a->nodes, a->rank_bytes, s->aggregators,
				       s->buffer_bytes, runs[i], made->runs);
	}
	return 0;
}

static int read_seconds(struct reading *reading)
{
	struct contest *made = reading->made;
	size_t rows = reading->table->rows, cells;
	AUTO_FREE size_t *cell = xmalloc(rows * sizeof(*cell)), *runs = NULL;
	int r;

	for (size_t i = 0; i < rows; i++) {
		struct access access = read_access(reading, i);

		cell[i] = find_or_add_instance(made, &access) * made->choice_count +
			  find_choice(reading, i);
	}
	cells = made->instance_count * made->choice_count;
	runs = xcalloc(cells, sizeof(*runs));
	made->runs = rows / cells + !!(rows % cells);
	for (size_t i = 0; i < rows; i++)
		runs[cell[i]]++;
	r = check_runs(reading, runs);
	if (r < 0)
		return r;
	made->seconds = xcalloc(cells * made->runs, sizeof(*made->seconds));
	memset(runs, 0, cells * sizeof(*runs));
	for (size_t i = 0; i < rows; i++)
		made->seconds[cell[i] * made->runs + runs[cell[i]]++] =
			read_cell(reading, i, SECONDS);
	compute_means(made);
	return 0;
}

int contest_table(struct contest *contest, const struct machine *machine,
		  const struct dataset *table, const char *name, struct err *err)
{
	struct contest made = { .machine = *machine };
	struct err silent = { 0 };
	struct reading reading = {
		.table = table, .name = name, .made = &made, .err = err ? err : &silent
	};
	int r = find_columns(&reading);

	if (r < 0)
		return r;
	made.aggregators = find_levels(&reading, AGGREGATORS, &made.aggregator_count);
	made.buffers = find_levels(&reading, BUFFER, &made.buffer_count);
	r = make_choices(&made, reading.err);
	if (r < 0)
		err_prefix(reading.err, "%s", name);
	else
		r = read_seconds(&reading);
	if (r < 0)
		contest_release(&made);
	else
		*contest = made;
	return r;
}

int contest_read(struct contest *contest, const struct machine *machine, const char *path,
		 struct err *err)
{
	AUTO_DATASET struct dataset table = { 0 };
	int r = csv_read(&table, path, err);

	return r < 0 ? r : contest_table(contest, machine, &table, path, err);
}

double contest_gain(const struct contest *contest, size_t instance, size_t choice)
{
	return contest_mean(contest, instance, contest->initial) /
	       contest_mean(contest, instance, choice);
}

size_t contest_best(const struct contest *contest, size_t instance)
{
	size_t best = 0;

	for (size_t i = 1; i < contest->choice_count; i++)
		if (contest_mean(contest, instance, i) < contest_mean(contest, instance, best))
			best = i;
	return best;
}

size_t contest_design(const struct contest *contest, uint64_t seed, size_t *points)
{
	size_t a = contest->aggregator_count, b = contest->buffer_count, count = 0;
	size_t longer = a > b ? a : b, shorter = a > b ? b : a;

	for (size_t instance = 0; instance < contest->instance_count; instance++) {
		struct random random;
		size_t k;

		random_stream(&random, seed, instance);
		k = random_below(&random, shorter);
		for (size_t i = 0; i < longer; i++) {
			size_t x = a >= b ? i : (i + k) % a, y = a >= b ? (i + k) % b : i;

			points[count++] = instance * contest->choice_count + x * b + y;
		}
	}
	return count;
}
