/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups rows of benchmarks into cells: one per combination of arguments.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "predict/model/costs/costs_internal.h"
#include "store/elements.h"

void cost_arguments(const struct elemental *at, double out[COST_ARGUMENTS])
{
	out[0] = at->nodes;
	out[1] = at->cores;
	out[2] = at->senders;
	out[3] = at->receivers;
	out[4] = at->writers;
	out[5] = at->bytes;
}

int cost_compare(const struct elemental *a, const struct elemental *b)
{
	double x[COST_ARGUMENTS], y[COST_ARGUMENTS];

	cost_arguments(a, x);
	cost_arguments(b, y);
	for (size_t i = 0; i < COST_ARGUMENTS; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

double cost_round(double writers)
{
	int exponent;
	double digits = frexp(writers, &exponent);

	return ldexp(rint(ldexp(digits, 36)), exponent - 36);
}

/* Takes only the arguments that the kind of operation has, so unused columns do not split cells. */
static struct elemental row_arguments(const struct element *row, enum operation operation)
{
	struct elemental at = { .nodes = row->nodes, .cores = row->cores, .bytes = row->bytes };

	if (operations[operation].kind == OPERATION_EXCHANGE ||
	    operations[operation].kind == OPERATION_STORAGE) {
		at.senders = cost_round(row->senders);
		at.receivers = cost_round(row->receivers);
	}
	if (operation_has_writers(operation))
		at.writers = cost_round(row->writers);
	return at;
}

int cost_check_rows(const struct elements *rows, struct err *err)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct element *row = &rows->rows[i];
		double numbers[] = { row->nodes,     row->cores,   row->senders,
				     row->receivers, row->writers, row->bytes };

		if (operation_by_name(row->operation) < 0)
			return err_set(err, EINVAL, "row %zu: unknown operation \"%s\"", i + 1,
				       row->operation);
		if (!isfinite(row->seconds))
			return err_set(err, EINVAL, "row %zu (%s): the time is not a number", i + 1,
				       row->operation);
		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++)
			if (!isfinite(numbers[j]) || numbers[j] < 0)
				return err_set(
					err, EINVAL,
					"row %zu (%s): invalid number %g; expected 0 or more",
					i + 1, row->operation, numbers[j]);
	}
	return 0;
}

struct sample {
	struct elemental at;
	double seconds;
};

static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return cost_compare(&x->at, &y->at);
}

static bool has_operation(const struct element *row, enum operation operation)
{
	return strcmp(row->operation, operations[operation].name) == 0;
}

static bool is_by_topology(const struct element *row)
{
	return strcmp(row->placement, "uniform") != 0;
}

/* Collects samples. Rows of uniform placement are used only if there are no others. */
static size_t collect_samples(struct sample *samples, const struct elements *rows,
			      enum operation operation)
{
	bool topology = false;
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		topology |=
			has_operation(&rows->rows[i], operation) && is_by_topology(&rows->rows[i]);
	for (size_t i = 0; i < rows->count; i++) {
		const struct element *row = &rows->rows[i];

		if (has_operation(row, operation) && (!topology || is_by_topology(row)))
			samples[count++] =
				(struct sample){ row_arguments(row, operation), row->seconds };
	}
	qsort(samples, count, sizeof(*samples), compare_samples);
	return count;
}

static double mean_seconds(const struct sample *samples, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += samples[i].seconds;
	return sum / (double)count;
}

static double sum_relative_squares(const struct sample *samples, size_t count, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (samples[i].seconds / mean - 1) * (samples[i].seconds / mean - 1);
	return sum;
}

static void widen_range(struct elemental *least, struct elemental *most, const struct elemental *at)
{
#define WIDEN(field)                                          \
	do {                                                  \
		least->field = fmin(least->field, at->field); \
		most->field = fmax(most->field, at->field);   \
	} while (0)
	WIDEN(nodes);
	WIDEN(cores);
	WIDEN(senders);
	WIDEN(receivers);
	WIDEN(writers);
	WIDEN(bytes);
#undef WIDEN
}

static void append_cell(struct cost *cost, size_t *cap, const struct cost_cell *cell)
{
	if (!cost->cell_count)
		cost->least = cost->most = cell->at;
	widen_range(&cost->least, &cost->most, &cell->at);
	cost->cells = xgrow(cost->cells, cap, cost->cell_count + 1, sizeof(*cost->cells));
	cost->cells[cost->cell_count++] = *cell;
}

void cost_gather(struct cost *cost, const struct elements *rows, enum operation operation,
		 bool logarithm)
{
	AUTO_FREE struct sample *samples = xmalloc((rows->count + 1) * sizeof(*samples));
	size_t count = collect_samples(samples, rows, operation), cap = 0, repeated = 0, n;
	double squares = 0;

	for (size_t i = 0; i < count; i += n) {
		struct cost_cell cell = { .at = samples[i].at };

		for (n = 1; i + n < count && !cost_compare(&samples[i + n].at, &cell.at);)
			n++;
		cell.repetitions = n;
		cell.seconds = mean_seconds(samples + i, n);
		if (logarithm && !(cell.seconds > 0)) {
			cost->left_out++;
			continue;
		}
		if (n > 1 && cell.seconds > 0)
			cell.squares = sum_relative_squares(samples + i, n, cell.seconds);
		cell.smooth = cell.seconds;
		cell.deviation = NAN;
		append_cell(cost, &cap, &cell);
		cost->rows += n;
		if (n > 1 && cell.seconds > 0) {
			squares += cell.squares;
			repeated += n - 1;
		}
	}
	for (size_t i = 0; i < rows->count; i++)
		cost->is_cached |= has_operation(&rows->rows[i], operation) &&
				   strcmp(rows->rows[i].cache, "within") == 0;
	cost->noise = repeated ? sqrt(squares / (double)repeated) : NAN;
}

const struct cost_cell *cost_find(const struct cost *cost, const struct elemental *at)
{
	size_t low = 0, high = cost->cell_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = cost_compare(&cost->cells[middle].at, at);

		if (!order)
			return &cost->cells[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
