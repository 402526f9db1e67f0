/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns a table and a plan into matrices: selects columns, rows, classes and folds.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/option.h"
#include "learn/math/vector.h"
#include "learn/model/model.h"
#include "learn/table/dataset.h"
#include "learn/table/folds.h"

/* Returns the distinct values, sorted, without NAN. The caller frees the array. */
static double *distinct_values(const double *values, size_t count, size_t *distinct)
{
	double *sorted = xmalloc((count ? count : 1) * sizeof(*sorted));
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (isfinite(values[i]))
			sorted[n++] = values[i];
	}
	if (n)
		vector_sort(sorted, n);
	*distinct = 0;
	for (size_t i = 0; i < n; i++) {
		if (!i || sorted[i] != sorted[*distinct - 1])
			sorted[(*distinct)++] = sorted[i];
	}
	return sorted;
}

/* Replaces each value by its index among the distinct values. */
static void number_values(double *values, size_t count, const double *sorted, size_t distinct)
{
	for (size_t i = 0; i < count; i++) {
		const double *at =
			bsearch(&values[i], sorted, distinct, sizeof(*sorted), vector_compare);

		values[i] = at ? (double)(at - sorted) : NAN;
	}
}

static char *format_number(double value)
{
	char text[NUMBER_TEXT_MAX];

	number_format(value, text);
	return xstrdup(text);
}

/* Removes a column from the list. */
static void drop_column(size_t *columns, size_t *count, int column)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		if (column < 0 || columns[i] != (size_t)column)
			columns[kept++] = columns[i];
	}
	*count = kept;
}

static bool has_given_folds(const struct model_plan *plan)
{
	return plan->split && plan->by && strcmp(plan->split, "given") == 0;
}

static int choose_features(const struct dataset *dataset, const struct model_plan *plan, int target,
			   size_t **columns, size_t *count, struct err *err)
{
	/*
	 * Without a list, or with a list that only removes columns, the time and the folds are not
	 * features.
	 */
	bool all = !plan->features || plan->features[0] == '-';
	int time = plan->time ? dataset_find(dataset, plan->time, err) : -1;
	int given = has_given_folds(plan) ? dataset_find(dataset, plan->by, err) : -1;
	int r;

	if ((plan->time && time < 0) || (has_given_folds(plan) && given < 0))
		return -ENOENT;
	r = dataset_choose(dataset, plan->features ? plan->features : "*", columns, count, err);
	if (r < 0)
		return r;
	drop_column(*columns, count, target);
	if (all) {
		drop_column(*columns, count, time);
		drop_column(*columns, count, given);
	}
	if (*count)
		return 0;
	free(*columns);
	*columns = NULL;
	return err_set(err, EINVAL, "no feature columns remain to learn %s from", plan->target);
}

static int check_class_count(const char *target, size_t count, struct err *err)
{
	if (count < 2)
		return err_set(err, EINVAL,
			       "%s has the same value in all rows; classification needs at least "
			       "two classes",
			       target);
	if (count > LEARNER_CLASSES_MAX)
		return err_set(err, EINVAL,
			       "%s has %zu distinct values, too many for classes (at most %d)",
			       target, count, LEARNER_CLASSES_MAX);
	return 0;
}

/* Numbers and names the classes that occur in y, which holds values or levels. */
static int make_classes(struct model_rows *rows, const struct column *target, struct err *err)
{
	size_t count;
	AUTO_FREE double *distinct = distinct_values(rows->y, rows->rows, &count);
	int r = check_class_count(target->name, count, err);

	if (r < 0)
		return r;
	number_values(rows->y, rows->rows, distinct, count);
	rows->classes = xcalloc(count, sizeof(*rows->classes));
	for (size_t i = 0; i < count; i++)
		rows->classes[i] = target->levels ? xstrdup(target->levels[(size_t)distinct[i]])
						  : format_number(distinct[i]);
	rows->class_count = count;
	return 0;
}

static void find_rows(struct model_rows *rows, const struct dataset *dataset, size_t target)
{
	rows->from = xmalloc((dataset->rows ? dataset->rows : 1) * sizeof(*rows->from));
	rows->y = xmalloc((dataset->rows ? dataset->rows : 1) * sizeof(*rows->y));
	for (size_t i = 0; i < dataset->rows; i++) {
		double y = dataset_row(dataset, i)[target];

		if (!isfinite(y))
			continue;
		rows->from[rows->rows] = i;
		rows->y[rows->rows++] = y;
	}
	rows->left_out = dataset->rows - rows->rows;
}

static int find_target(const struct dataset *dataset, const struct model_plan *plan,
		       struct err *err)
{
	int target;

	if (!plan->target)
		return err_set(err, EINVAL, "missing target column");
	target = dataset_find(dataset, plan->target, err);
	if (target >= 0 && dataset->columns[target].levels && !plan->classify)
		return err_set(err, EINVAL,
			       "%s holds text such as \"%s\"; use --classify for classes",
			       plan->target, dataset->columns[target].levels[0]);
	return target;
}

/* Computes the inputs of the selected rows; those of other rows are overwritten. */
static int make_inputs(struct model_rows *rows, const struct dataset *dataset, struct err *err)
{
	size_t width = rows->schema.width;
	int r;

	if (!width || width > PIPELINE_WIDTH_MAX)
		return err_set(err, EINVAL,
			       "these features make %zu inputs (one per level of a text column), "
			       "more than "
			       "the %d allowed",
			       width, PIPELINE_WIDTH_MAX);
	rows->x = xmalloc(dataset->rows * width * sizeof(*rows->x));
	r = schema_inputs(&rows->schema, dataset, false, rows->x, NULL, &rows->missing, err);
	for (size_t i = 0; r >= 0 && i < rows->rows; i++) {
		if (rows->from[i] != i)
			memcpy(rows->x + i * width, rows->x + rows->from[i] * width,
			       width * sizeof(*rows->x));
	}
	return r;
}

static void copy_time(struct model_rows *rows, const struct dataset *dataset, size_t column)
{
	rows->time = xmalloc(rows->rows * sizeof(*rows->time));
	for (size_t i = 0; i < rows->rows; i++)
		rows->time[i] = dataset_row(dataset, rows->from[i])[column];
}

/* Removes columns without a value in these rows, which nothing can be learned from. */
static int drop_empty_columns(const struct model_rows *rows, const struct dataset *dataset,
			      size_t *columns, size_t *count, struct err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		size_t row = 0;

		while (row < rows->rows &&
		       !isfinite(dataset_row(dataset, rows->from[row])[columns[i]]))
			row++;
		if (row < rows->rows)
			columns[kept++] = columns[i];
	}
	if (*count && !kept)
		return err_set(err, ENODATA, "no feature has a value in any row");
	*count = kept;
	return 0;
}

/* Squares of larger numbers are not finite, and neither would be the results of any method. */
#define TARGET_MOST 1e150

static int check_target(const struct model_rows *rows, const struct model_plan *plan,
			struct err *err)
{
	for (size_t i = 0; !plan->classify && !plan->pipeline.log_target && i < rows->rows; i++)
		if (fabs(rows->y[i]) > TARGET_MOST)
			return err_set(err, EDOM,
				       "column %s holds %g; learn its logarithm or divide it, "
				       "because values beyond %g cannot be squared",
				       plan->target, rows->y[i], TARGET_MOST);
	return 0;
}

static int make_rows(struct model_rows *rows, const struct dataset *dataset,
		     const struct model_plan *plan, struct err *err)
{
	int target = find_target(dataset, plan, err), r;
	AUTO_FREE size_t *columns = NULL;
	size_t count = 0;

	if (target < 0)
		return target;
	find_rows(rows, dataset, (size_t)target);
	if (!rows->rows)
		return err_set(err, ENODATA, "no row has a value in column %s", plan->target);
	r = check_target(rows, plan, err);
	if (r >= 0)
		r = choose_features(dataset, plan, target, &columns, &count, err);
	if (r >= 0)
		r = drop_empty_columns(rows, dataset, columns, &count, err);
	if (r >= 0)
		r = schema_init(&rows->schema, dataset, columns, count, rows->from, rows->rows,
				err);
	if (r >= 0)
		r = make_inputs(rows, dataset, err);
	if (r >= 0 && plan->classify)
		r = make_classes(rows, &dataset->columns[target], err);
	if (r >= 0 && plan->time)
		copy_time(rows, dataset, (size_t)dataset_find(dataset, plan->time, err));
	return r;
}

int model_rows_init(struct model_rows *rows, const struct dataset *dataset,
		    const struct model_plan *plan, struct err *err)
{
	struct model_rows made = { 0 };
	int r = make_rows(&made, dataset, plan, err);

	if (r < 0) {
		model_rows_release(&made);
		return r;
	}
	*rows = made;
	return 0;
}

void model_rows_release(struct model_rows *rows)
{
	schema_release(&rows->schema);
	free(rows->x);
	free(rows->y);
	free(rows->time);
	free(rows->from);
	for (size_t i = 0; i < rows->class_count; i++)
		free(rows->classes[i]);
	free(rows->classes);
	*rows = (struct model_rows){ 0 };
}

struct samples model_rows_samples(const struct model_rows *rows)
{
	return (struct samples){ .x = rows->x,
				 .y = rows->y,
				 .rows = rows->rows,
				 .width = rows->schema.width,
				 .classes = rows->class_count,
				 .gaps = rows->missing > 0 };
}

static int parse_split(const struct model_plan *plan, struct err *err)
{
	int kind;

	if (!plan->split)
		return plan->time	? FOLDS_FORWARD
		       : plan->by	? FOLDS_GROUPED
		       : plan->classify ? FOLDS_STRATIFIED
					: FOLDS_PLAIN;
	kind = option_choice(FOLDS_WORDS, plan->split, strlen(plan->split));
	if (kind < 0)
		return err_set(err, EINVAL, "unknown split \"%s\"; choose from %s", plan->split,
			       FOLDS_WORDS);
	return kind;
}

static int report_missing_key(enum folds_kind kind, struct err *err)
{
	const char *what = kind == FOLDS_GROUPED
				   ? "grouped folds need the columns that identify a group"
			   : kind == FOLDS_GIVEN
				   ? "given folds need the column that holds the fold of each row"
				   : "stratified folds of a numeric target need a class column";

	return err_set(err, EINVAL, "%s", what);
}

/*
 * Computes one number per row: the group of its values in the columns, or the value of the one
 * column.
 */
static int make_key(double *key, const struct model_rows *rows, const struct dataset *dataset,
		    enum folds_kind kind, const char *by, struct err *err)
{
	AUTO_FREE size_t *columns = NULL;
	AUTO_FREE double *all = xmalloc(dataset->rows * sizeof(*all));
	size_t count;
	int r = dataset_choose(dataset, by, &columns, &count, err);

	if (r < 0)
		return r;
	if (kind == FOLDS_GROUPED)
		dataset_groups(dataset, columns, count, all);
	else if (count == 1)
		dataset_column(dataset, columns[0], all);
	else
		return err_set(err, EINVAL, "\"%s\" must select one column, not %zu", by, count);
	for (size_t i = 0; i < rows->rows; i++)
		key[i] = all[rows->from[i]];
	return 0;
}

/* Folds may have any names: there is one fold per distinct value. */
static int count_given_folds(double *key, size_t rows, size_t *count, struct err *err)
{
	AUTO_FREE double *distinct = distinct_values(key, rows, count);

	number_values(key, rows, distinct, *count);
	if (*count < 2 || *count > 1000)
		return err_set(err, EINVAL, "given folds: the column has %zu distinct values",
			       *count);
	return 0;
}

int model_rows_split(const struct model_rows *rows, const struct dataset *dataset,
		     const struct model_plan *plan, struct folds *folds, struct err *err)
{
	int kind = parse_split(plan, err), r = 0;
	bool in_time = kind == FOLDS_BLOCKED || kind == FOLDS_FORWARD;
	AUTO_FREE double *made = NULL;
	const double *key = NULL;
	size_t count = plan->folds;

	if (kind < 0)
		return kind;
	if (plan->by && kind != FOLDS_PLAIN) {
		made = xmalloc(rows->rows * sizeof(*made));
		r = make_key(made, rows, dataset, (enum folds_kind)kind, plan->by, err);
		key = made;
	} else if (in_time) {
		key = rows->time;
	} else if (kind == FOLDS_STRATIFIED && rows->class_count) {
		key = rows->y;
	} else if (kind != FOLDS_PLAIN) {
		r = report_missing_key((enum folds_kind)kind, err);
	}
	if (r >= 0 && made && kind == FOLDS_GIVEN)
		r = count_given_folds(made, rows->rows, &count, err);
	if (r >= 0)
		r = folds_init(folds, (enum folds_kind)kind, count, rows->rows, key,
			       plan->effort.seed, err);
	return r;
}

static int find_class(const struct model *model, const char *name)
{
	for (size_t i = 0; i < model->pipeline.classes; i++) {
		if (strcmp(model->classes[i], name) == 0)
			return (int)i;
	}
	return -ENOENT;
}

static int read_class(const struct model *model, const struct column *target, double value,
		      double *number, struct err *err)
{
	AUTO_FREE char *name =
		target->levels ? xstrdup(target->levels[(size_t)value]) : format_number(value);
	int class = find_class(model, name);

	if (class < 0)
		return err_set(err, EINVAL, "%s: \"%s\" is not among the %zu classes of the model",
			       target->name, name, model->pipeline.classes);
	*number = class;
	return 0;
}

int model_truth(const struct model *model, const struct dataset *dataset, double *truth,
		struct err *err)
{
	int column = dataset_find(dataset, model->origin.target, err), r = 0;
	const struct column *target;

	if (column < 0)
		return column;
	target = &dataset->columns[column];
	if (target->levels && !model->classes)
		return err_set(err, EINVAL, "%s holds text, but the model predicts numbers",
			       target->name);
	dataset_column(dataset, (size_t)column, truth);
	for (size_t i = 0; r >= 0 && i < dataset->rows; i++) {
		if (!isfinite(truth[i]))
			truth[i] = NAN;
		else if (model->classes)
			r = read_class(model, target, truth[i], &truth[i], err);
	}
	return r;
}
