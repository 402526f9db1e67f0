/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/contrast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "learn/math/false_discovery.h"
#include "learn/math/ratio.h"
#include "learn/math/vector.h"
#include "observe/compare/contrast_rows.h"

const struct contrast_measure_info contrast_measures[CONTRAST_MEASURES] = {
	[CONTRAST_RUN_TIME] = { "run_time", "run time", CONTRAST_NS, false },
	[CONTRAST_IO_TIME] = { "io_time", "time in I/O", CONTRAST_NS, false },
	[CONTRAST_TIME] = { "time", "time of all threads", CONTRAST_NS, false },
	[CONTRAST_TIME_PER_CALL] = { "time_per_call", "time per call", CONTRAST_NS, false },
	[CONTRAST_CALLS] = { "calls", "calls", CONTRAST_COUNT, true },
	[CONTRAST_ERRORS] = { "errors", "failed calls", CONTRAST_COUNT, true },
	[CONTRAST_READ] = { "bytes_read", "read", CONTRAST_BYTES, true },
	[CONTRAST_WRITTEN] = { "bytes_written", "written", CONTRAST_BYTES, true },
	[CONTRAST_SIZE] = { "bytes_per_transfer", "bytes per transfer", CONTRAST_BYTES, true },
	[CONTRAST_SEQUENTIAL] = { "sequential_percent", "sequential", CONTRAST_PERCENT, true },
	[CONTRAST_LEVEL] = { "level", "level", CONTRAST_COUNT, false },
};

static double divide(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

/* Tables in which a measure has a meaning: one bit each. */
static unsigned measure_tables(enum contrast_measure measure)
{
	switch (measure) {
	case CONTRAST_RUN_TIME:
		return 1u << ACCOUNT_RUN;
	case CONTRAST_IO_TIME:
		return 1u << ACCOUNT_RUN | 1u << ACCOUNT_RANKS;
	case CONTRAST_LEVEL:
		return 1u << ACCOUNT_NODE;
	case CONTRAST_SEQUENTIAL:
		return 1u << ACCOUNT_LAYERS | 1u << ACCOUNT_FILES;
	default:
		return ~(1u << ACCOUNT_NODE);
	}
}

static double measure_value(enum contrast_measure measure, const double *sums)
{
	switch (measure) {
	case CONTRAST_RUN_TIME:
		return sums[ACCOUNT_RUN_NS];
	case CONTRAST_IO_TIME:
		return sums[ACCOUNT_BUSY_NS];
	case CONTRAST_TIME:
		return sums[ACCOUNT_TIME_NS];
	case CONTRAST_TIME_PER_CALL:
		return divide(sums[ACCOUNT_TIME_NS], sums[ACCOUNT_CALLS]);
	case CONTRAST_CALLS:
		return sums[ACCOUNT_CALLS];
	case CONTRAST_ERRORS:
		return sums[ACCOUNT_ERRORS];
	case CONTRAST_READ:
		return sums[ACCOUNT_READ];
	case CONTRAST_WRITTEN:
		return sums[ACCOUNT_WRITTEN];
	case CONTRAST_SIZE:
		return divide(sums[ACCOUNT_READ] + sums[ACCOUNT_WRITTEN], sums[ACCOUNT_TRANSFERS]);
	case CONTRAST_SEQUENTIAL:
		return 100 * divide(sums[ACCOUNT_SEQUENTIAL], sums[ACCOUNT_PLACED]);
	case CONTRAST_LEVEL:
		return sums[ACCOUNT_LEVEL];
	case CONTRAST_MEASURES:
		break;
	}
	return NAN;
}

static double median_of(const double *values, size_t count)
{
	AUTO_FREE double *copy = xcalloc(count, sizeof(*copy));

	memcpy(copy, values, count * sizeof(*copy));
	return vector_median(copy, count);
}

static bool is_constant(const double *values, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

static bool is_positive(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(values[i] > 0))
			return false;
	return true;
}

/* Compares what needs no test. VERDICT_UNTESTED: it needs one. */
static void compare_values(struct difference *d, const size_t runs[SIDES], bool is_count)
{
	const double *a = d->values[SIDE_A], *b = d->values[SIDE_B];
	bool is_exact = is_constant(a, runs[SIDE_A]) && is_constant(b, runs[SIDE_B]);

	d->low = d->high = d->level = d->chance = d->ratio = NAN;
	d->verdict = VERDICT_UNDEFINED;
	for (int side = 0; side < SIDES; side++) {
		if (!vector_all_finite(d->values[side], runs[side]))
			d->median[side] = NAN;
		else
			d->median[side] = median_of(d->values[side], runs[side]);
	}
	if (isnan(d->median[SIDE_A]) || isnan(d->median[SIDE_B]))
		return;
	if (d->median[SIDE_A] > 0 || d->median[SIDE_B] > 0)
		d->ratio = d->median[SIDE_B] / d->median[SIDE_A];
	d->verdict = is_exact && a[0] == b[0] ? VERDICT_SAME
		     : is_exact && is_count   ? VERDICT_EXACT
					      : VERDICT_UNTESTED;
}

static void set_interval(struct difference *d, const struct ratio_test *test, double level)
{
	struct ratio_interval interval;

	if (!is_positive(d->values[SIDE_B], test->n) || !is_positive(d->values[SIDE_A], test->m) ||
	    !ratio_test_interval(test, d->values[SIDE_B], d->values[SIDE_A], level, &interval))
		return;
	d->ratio = interval.middle;
	d->low = interval.low;
	d->high = interval.high;
	d->level = level;
}

/* limit: the highest probability that counts as a difference; level: that of an interval. */
static void judge(struct difference *d, const struct ratio_test *test, double limit, double level)
{
	if (d->verdict != VERDICT_UNTESTED || isnan(d->chance))
		return;
	d->verdict = d->chance <= limit ? VERDICT_SIGNIFICANT : VERDICT_NOISE;
	set_interval(d, test, level);
}

/* Calls visit() for all differences beside the primary one that need a test. */
static void visit_tests(struct contrast *contrast, const struct difference *primary,
			void (*visit)(struct difference *, void *), void *arg)
{
	for (size_t i = 0; i < contrast->count; i++) {
		for (int k = 0; k < CONTRAST_MEASURES; k++) {
			struct difference *d = &contrast->rows[i].differences[k];

			if (d != primary && d->verdict == VERDICT_UNTESTED)
				visit(d, arg);
		}
	}
}

struct family {
	const struct ratio_test *test;
	double *chances;
	size_t count, cap;
	double limit, level;
};

static void add_test(struct difference *d, void *arg)
{
	struct family *family = arg;

	d->chance = ratio_test_chance(family->test, d->values[SIDE_B], d->values[SIDE_A]);
	family->chances =
		xgrow(family->chances, &family->cap, family->count + 1, sizeof(*family->chances));
	family->chances[family->count++] = d->chance;
}

static void judge_test(struct difference *d, void *arg)
{
	const struct family *family = arg;

	judge(d, family->test, family->limit, family->level);
}

static void judge_family(struct contrast *contrast, const struct ratio_test *test,
			 const struct difference *primary)
{
	struct family family = { .test = test };

	visit_tests(contrast, primary, add_test, &family);
	contrast->tests = family.count;
	if (family.count) {
		family.limit = false_discovery_limit(family.chances, family.count, RATIO_LEVEL);
		family.level = family.limit > 0 ? family.limit : RATIO_LEVEL / (double)family.count;
		visit_tests(contrast, primary, judge_test, &family);
	}
	free(family.chances);
}

static struct contrast_row *find_row(const struct contrast *contrast, enum account_table table,
				     const char *name)
{
	for (size_t i = 0; i < contrast->count; i++)
		if (contrast->rows[i].table == table && !strcmp(contrast->rows[i].name, name))
			return &contrast->rows[i];
	return NULL;
}

static void test_differences(struct contrast *contrast)
{
	struct contrast_row *run = find_row(contrast, ACCOUNT_RUN, ACCOUNT_REQUESTED);
	struct difference *primary = run ? &run->differences[contrast->primary] : NULL;
	struct ratio_test test;

	ratio_test_init(&test, contrast->runs[SIDE_B], contrast->runs[SIDE_A]);
	contrast->is_testable = ratio_test_least(&test) <= RATIO_LEVEL;
	if (contrast->is_testable) {
		if (primary && primary->verdict == VERDICT_UNTESTED) {
			primary->chance = ratio_test_chance(&test, primary->values[SIDE_B],
							    primary->values[SIDE_A]);
			judge(primary, &test, RATIO_LEVEL, RATIO_LEVEL);
		}
		judge_family(contrast, &test, primary);
	}
	ratio_test_release(&test);
}

/* Computes the measures of each run from its sums. */
static void fill_row(const struct contrast *contrast, struct contrast_row *row,
		     const struct row_sums *sums)
{
	for (int k = 0; k < CONTRAST_MEASURES; k++) {
		struct difference *d = &row->differences[k];
		bool has_meaning = measure_tables((enum contrast_measure)k) >> row->table & 1;

		for (int side = 0; side < SIDES; side++) {
			size_t runs = contrast->runs[side];

			d->values[side] = xcalloc(runs, sizeof(double));
			for (size_t i = 0; i < runs; i++)
				d->values[side][i] =
					has_meaning ? measure_value((enum contrast_measure)k,
								    row_sums_of(sums, side, i))
						    : (double)NAN;
		}
		compare_values(d, contrast->runs, contrast_measures[k].is_count);
	}
}

static double changed_time(const struct contrast_row *row)
{
	const struct difference *d = &row->differences[CONTRAST_TIME];

	return fabs(d->median[SIDE_B] - d->median[SIDE_A]);
}

static int compare_rows(const void *a, const void *b)
{
	const struct contrast_row *x = a, *y = b;
	double by;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->is_aside != y->is_aside)
		return x->is_aside ? 1 : -1;
	if (x->table == ACCOUNT_RANKS)
		by = atof(x->name) - atof(y->name);
	else if (x->table == ACCOUNT_LAYERS)
		by = (double)y->layer - (double)x->layer;
	else if (x->table == ACCOUNT_FUNCTIONS || x->table == ACCOUNT_FILES)
		by = changed_time(y) - changed_time(x);
	else
		by = 0;
	return by < 0 ? -1 : by > 0 ? 1 : strcmp(x->name, y->name);
}

void contrast_init(struct contrast *contrast, const struct account *const accounts[SIDES],
		   const size_t runs[SIDES], enum contrast_measure primary, size_t top)
{
	struct row_groups groups;

	*contrast = (struct contrast){ .primary = primary };
	for (int side = 0; side < SIDES; side++) {
		contrast->accounts[side] = accounts[side];
		contrast->runs[side] = runs[side];
	}
	row_groups_init(&groups, accounts, runs);
	row_groups_limit(&groups, top, contrast->left_out);
	contrast->rows = xcalloc(groups.count, sizeof(*contrast->rows));
	contrast->count = groups.count;
	for (size_t i = 0; i < groups.count; i++) {
		struct contrast_row *row = &contrast->rows[i];
		struct row_sums sums;

		row_groups_read(&groups, i, row, &sums);
		fill_row(contrast, row, &sums);
		contrast->patterns += groups.list[i].is_pattern;
		row_sums_release(&sums);
	}
	row_groups_release(&groups);
	test_differences(contrast);
	qsort(contrast->rows, contrast->count, sizeof(*contrast->rows), compare_rows);
}

void contrast_release(struct contrast *contrast)
{
	for (size_t i = 0; i < contrast->count; i++) {
		struct contrast_row *row = &contrast->rows[i];

		for (int k = 0; k < CONTRAST_MEASURES; k++) {
			free(row->differences[k].values[SIDE_A]);
			free(row->differences[k].values[SIDE_B]);
		}
		free(row->name);
	}
	free(contrast->rows);
	*contrast = (struct contrast){ 0 };
}

const struct contrast_row *contrast_find(const struct contrast *contrast, enum account_table table,
					 const char *name)
{
	return find_row(contrast, table, name);
}

const struct difference *contrast_primary(const struct contrast *contrast)
{
	const struct contrast_row *run = find_row(contrast, ACCOUNT_RUN, ACCOUNT_REQUESTED);

	return &run->differences[contrast->primary];
}

bool difference_is_real(const struct difference *difference)
{
	return difference->verdict == VERDICT_EXACT || difference->verdict == VERDICT_SIGNIFICANT;
}

bool difference_exceeds(const struct difference *difference, double factor)
{
	if (difference->verdict == VERDICT_EXACT)
		return difference->ratio > factor;
	return difference->verdict == VERDICT_SIGNIFICANT && difference->low > factor;
}
