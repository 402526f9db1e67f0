/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A recipe becomes a list of steps. Adjacent centering and scaling become one step, because every
 * prediction runs through here.
 */
#include "learn/table/preparation.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "learn/file/blob.h"
#include "learn/math/components.h"
#include "learn/math/moments.h"
#include "learn/math/power.h"
#include "learn/math/vector.h"

enum step_kind {
	STEP_BOXCOX,
	STEP_YEOJOHNSON,
	STEP_LINEAR,
	STEP_COMPONENTS,
	STEP_FILL,
	STEP_KINDS
};

struct preparation_step {
	enum step_kind kind;
	size_t width;		      /* columns of its input */
	struct power *powers;	      /* STEP_BOXCOX, STEP_YEOJOHNSON: one per column */
	double *shift, *factor;	      /* STEP_LINEAR, per column: (x - shift) * factor */
	double *median;		      /* STEP_FILL: one per column */
	struct components components; /* STEP_COMPONENTS */
};

static void step_release(struct preparation_step *step)
{
	free(step->powers);
	free(step->shift);
	free(step->factor);
	free(step->median);
	components_release(&step->components);
}

static size_t step_width_out(const struct preparation_step *step)
{
	return step->kind == STEP_COMPONENTS ? step->components.count : step->width;
}

/* Works from the first column up, so that out may begin before in. */
static void step_apply(const struct preparation_step *step, const double *in, double *out)
{
	if (step->kind == STEP_LINEAR) {
		const double *shift = step->shift, *factor = step->factor;

		for (size_t j = 0; j < step->width; j++)
			out[j] = (in[j] - shift[j]) * factor[j];
		return;
	}
	for (size_t j = 0; step->kind == STEP_FILL && j < step->width; j++)
		out[j] = isnan(in[j]) ? step->median[j] : in[j];
	for (size_t j = 0; step->powers && j < step->width; j++)
		out[j] = power_apply(&step->powers[j], in[j]);
}

/* Applies steps from `first` on that keep the width; returns the first step that does not. */
static size_t steps_apply(const struct preparation *preparation, size_t first, const double *in,
			  double *out)
{
	size_t i = first;

	for (; i < preparation->count && preparation->steps[i].kind != STEP_COMPONENTS; i++) {
		step_apply(&preparation->steps[i], in, out);
		in = out;
	}
	if (in != out)
		memmove(out, in,
			(i < preparation->count ? preparation->steps[i].width
						: preparation->width_out) *
				sizeof(*out));
	return i;
}

static inline void reduce_row(const struct preparation *preparation, const double *in, double *out,
			      double *room)
{
	size_t i = steps_apply(preparation, 0, in, room);

	components_apply(&preparation->steps[i].components, room, out);
	steps_apply(preparation, i + 1, out, out);
}

/* Separate, because a large stack frame costs time even if it is not used. */
static __attribute__((noinline)) void reduce_wide(const struct preparation *preparation,
						  const double *in, double *out)
{
	double room[PREPARATION_WIDTH_MAX];

	reduce_row(preparation, in, out, room);
}

static __attribute__((noinline)) void reduce_narrow(const struct preparation *preparation,
						    const double *in, double *out)
{
	double room[64];

	reduce_row(preparation, in, out, room);
}

void preparation_apply(const struct preparation *preparation, const double *in, double *out)
{
	bool reduces = false;

	for (size_t i = 0; i < preparation->count; i++)
		reduces |= preparation->steps[i].kind == STEP_COMPONENTS;
	if (!reduces)
		steps_apply(preparation, 0, in, out);
	else if (preparation->width_in <= 64)
		reduce_narrow(preparation, in, out);
	else
		reduce_wide(preparation, in, out);
}

/* The state of a fit. */
struct fitting {
	struct preparation made;
	double *x;
	size_t rows;
	/* Deviations of the last step, which centers and is not applied yet; or NULL. */
	double *deviation;
	bool finite; /* all numbers are known to be finite after the last step */
};

static struct preparation_step *add_step(struct preparation *preparation, enum step_kind kind)
{
	struct preparation_step *step;

	preparation->steps =
		xrealloc(preparation->steps, preparation->count + 1, sizeof(*preparation->steps));
	step = &preparation->steps[preparation->count++];
	*step = (struct preparation_step){ .kind = kind, .width = preparation->width_out };
	return step;
}

static void apply_step_to_rows(const struct fitting *fitting, const struct preparation_step *step)
{
	for (size_t i = 0; i < fitting->rows; i++)
		step_apply(step, fitting->x + i * step->width, fitting->x + i * step->width);
}

/* The first row with a number that is not finite; `rows` if there is none. */
static size_t find_infinite_row(const double *x, size_t rows, size_t width)
{
	size_t i = 0;

	if (vector_all_finite(x, rows * width))
		return rows;
	while (i < rows && vector_all_finite(x + i * width, width))
		i++;
	return i;
}

static int check_finite(const struct fitting *fitting, const char *when, struct err *err)
{
	size_t row = find_infinite_row(fitting->x, fitting->rows, fitting->made.width_out);

	if (row == fitting->rows)
		return 0;
	return err_set(err, EDOM,
		       "row %zu of the inputs has a number that is not finite %s the preparation",
		       row + 1, when);
}

/* The median of the values that are present; 0 if there are none. */
static double column_median(const struct fitting *fitting, size_t column, double *room)
{
	size_t width = fitting->made.width_out, count = 0;

	for (size_t i = 0; i < fitting->rows; i++) {
		room[count] = fitting->x[i * width + column];
		count += !isnan(room[count]);
	}
	return count ? vector_median(room, count) : 0;
}

static int fill_fit(struct fitting *fitting, const char *value, struct err *err)
{
	struct preparation_step *step = add_step(&fitting->made, STEP_FILL);
	AUTO_FREE double *room = xcalloc(fitting->rows, sizeof(*room));

	(void)value;
	step->median = xcalloc(step->width, sizeof(*step->median));
	for (size_t j = 0; j < step->width; j++)
		step->median[j] = column_median(fitting, j, room);
	apply_step_to_rows(fitting, step);
	return check_finite(fitting, "before", err);
}

/*
 * Like apply_step_to_rows() for a linear step. It works in place, which the compiler can exploit.
 */
static void apply_linear_to_rows(const struct fitting *fitting, const struct preparation_step *step)
{
	const double *restrict shift = step->shift, *restrict factor = step->factor;
	size_t width = step->width;
	double *restrict row = fitting->x;

	for (size_t i = 0; i < fitting->rows; i++, row += width) {
		for (size_t j = 0; j < width; j++)
			row[j] = (row[j] - shift[j]) * factor[j];
	}
}

/* Applies a centering that was deferred because a scaling might follow. */
static void apply_deferred_center(struct fitting *fitting)
{
	if (!fitting->deviation)
		return;
	apply_linear_to_rows(fitting, &fitting->made.steps[fitting->made.count - 1]);
	free(fitting->deviation);
	fitting->deviation = NULL;
}

static int powers_fit(struct fitting *fitting, enum power_kind kind, bool caret)
{
	struct preparation_step *step =
		add_step(&fitting->made, kind == POWER_BOXCOX ? STEP_BOXCOX : STEP_YEOJOHNSON);

	step->powers = xcalloc(step->width, sizeof(*step->powers));
	for (size_t j = 0; j < step->width; j++)
		power_fit(&step->powers[j], kind, caret, fitting->x + j, fitting->rows,
			  step->width);
	apply_step_to_rows(fitting, step);
	return 0;
}

static int boxcox_fit(struct fitting *fitting, const char *value, struct err *err)
{
	(void)err;
	return powers_fit(fitting, POWER_BOXCOX, *value);
}

static int yeojohnson_fit(struct fitting *fitting, const char *value, struct err *err)
{
	(void)value, (void)err;
	return powers_fit(fitting, POWER_YEOJOHNSON, false);
}

static struct preparation_step *add_linear_step(struct preparation *preparation)
{
	struct preparation_step *step = add_step(preparation, STEP_LINEAR);

	step->shift = xcalloc(step->width, sizeof(*step->shift));
	step->factor = xcalloc(step->width, sizeof(*step->factor));
	for (size_t j = 0; j < step->width; j++)
		step->factor[j] = 1;
	return step;
}

static int center_fit(struct fitting *fitting, const char *value, struct err *err)
{
	struct preparation_step *step = add_linear_step(&fitting->made);

	(void)value, (void)err;
	fitting->deviation = xmalloc(step->width * sizeof(double));
	fitting->finite = moments_find(fitting->x, fitting->rows, step->width, step->shift,
				       fitting->deviation);
	return 0;
}

static int scale_fit(struct fitting *fitting, const char *value, struct err *err)
{
	size_t width = fitting->made.width_out;
	AUTO_FREE double *deviation = fitting->deviation;
	struct preparation_step *step;

	(void)value, (void)err;
	fitting->deviation = NULL;
	if (deviation) {
		/* Centering and scaling become one step. */
		step = &fitting->made.steps[fitting->made.count - 1];
	} else {
		fitting->finite = false;
		step = add_linear_step(&fitting->made);
		deviation = xmalloc(width * sizeof(*deviation));
		moments_deviation(fitting->x, fitting->rows, width, deviation);
	}
	for (size_t j = 0; j < width; j++) {
		double factor = 1 / deviation[j];

		step->factor[j] = deviation[j] > 0 && isfinite(factor) ? factor : 1;
	}
	apply_linear_to_rows(fitting, step);
	return 0;
}

static int pca_fit(struct fitting *fitting, const char *value, struct err *err)
{
	double wanted = 0;
	struct components components;
	int r;

	number_parse(value, strlen(value), &wanted);
	r = components_fit(&components, wanted, fitting->x, fitting->rows, fitting->made.width_out,
			   err);
	if (r < 0)
		return r;
	add_step(&fitting->made, STEP_COMPONENTS)->components = components;
	fitting->made.width_out = components.count;
	return 0;
}

static bool accepts_no_value(const char *value)
{
	return !*value;
}

static bool accepts_caret(const char *value)
{
	return !*value || strcmp(value, "caret") == 0;
}

static bool accepts_count(const char *value)
{
	double wanted;

	if (!*value)
		return true;
	return number_parse(value, strlen(value), &wanted) && wanted > 0 &&
	       (wanted < 1 || (wanted == floor(wanted) && wanted <= PREPARATION_WIDTH_MAX));
}

static const struct recipe_item {
	const char *name, *value; /* value: what may follow "=", for messages; NULL: nothing */
	bool (*accept)(const char *value);
	int (*fit)(struct fitting *fitting, const char *value, struct err *err);
} recipe_items[] = {
	{ "fill", NULL, accepts_no_value, fill_fit },
	{ "boxcox", "caret", accepts_caret, boxcox_fit },
	{ "yeojohnson", NULL, accepts_no_value, yeojohnson_fit },
	{ "centre", NULL, accepts_no_value, center_fit },
	{ "center", NULL, accepts_no_value, center_fit },
	{ "scale", NULL, accepts_no_value, scale_fit },
	{ "pca", "a share below 1 or an integer", accepts_count, pca_fit },
	{ 0 },
};

static const struct recipe_item *find_recipe_item(const char *item, const char **value,
						  struct err *err)
{
	size_t n = strcspn(item, "=");

	for (const struct recipe_item *entry = recipe_items; entry->name; entry++) {
		if (strncmp(entry->name, item, n) != 0 || entry->name[n])
			continue;
		*value = item[n] ? item + n + 1 : "";
		if ((!item[n] || **value) && entry->accept(*value))
			return entry;
		err_set(err, EINVAL, "preparation \"%.80s\": %s takes %s", item, entry->name,
			entry->value ? entry->value : "no value");
		return NULL;
	}
	err_set(err, EINVAL,
		"unknown preparation \"%.80s\"; choose from fill, boxcox, yeojohnson, center, "
		"scale and "
		"pca",
		item);
	return NULL;
}

/* fitting NULL: only check the syntax. */
static int walk_recipe(const char *recipe, struct fitting *fitting, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(recipe ? recipe : "");
	char *rest = copy, *item;
	bool reduced = false;
	int r = 0;

	while (r >= 0 && (item = strsep(&rest, ", "))) {
		const struct recipe_item *entry;
		const char *value;

		if (!*item || strcmp(item, "none") == 0)
			continue;
		entry = find_recipe_item(item, &value, err);
		if (!entry)
			return -EINVAL;
		if (entry->fit == pca_fit && reduced)
			return err_set(err, EINVAL,
				       "preparation \"%.80s\": pca is allowed only once", recipe);
		reduced |= entry->fit == pca_fit;
		if (!fitting)
			continue;
		if (entry->fit != scale_fit) {
			apply_deferred_center(fitting);
			fitting->finite = false;
		}
		r = entry->fit(fitting, value, err);
	}
	if (fitting)
		apply_deferred_center(fitting);
	return r;
}

int preparation_check(const char *recipe, struct err *err)
{
	return walk_recipe(recipe, NULL, err);
}

int preparation_fit(struct preparation *preparation, const char *recipe, double *x, size_t rows,
		    size_t width, struct err *err)
{
	struct fitting fitting = { .made = { .width_in = width, .width_out = width },
				   .x = x,
				   .rows = rows };
	int r = preparation_check(recipe, err);

	if (r < 0)
		return r;
	if (!rows || !width || width > PREPARATION_WIDTH_MAX)
		return err_set(
			err, EINVAL,
			"%zu rows of %zu inputs; expected at least one row and 1 to %d inputs",
			rows, width, PREPARATION_WIDTH_MAX);
	/* Missing values are accepted if the first step fills them. */
	if (!recipe || strncmp(recipe, "fill", 4) != 0)
		r = check_finite(&fitting, "before", err);
	if (r >= 0)
		r = walk_recipe(recipe, &fitting, err);
	if (r >= 0 && fitting.made.count && !fitting.finite)
		r = check_finite(&fitting, "after", err);
	if (r < 0) {
		preparation_release(&fitting.made);
		return r;
	}
	*preparation = fitting.made;
	return 0;
}

void preparation_release(struct preparation *preparation)
{
	for (size_t i = 0; i < preparation->count; i++)
		step_release(&preparation->steps[i]);
	free(preparation->steps);
	*preparation = (struct preparation){ 0 };
}

double preparation_lambda(const struct preparation *preparation, size_t column)
{
	for (size_t i = 0; i < preparation->count; i++) {
		const struct preparation_step *step = &preparation->steps[i];

		if (!step->powers || column >= step->width)
			continue;
		return step->powers[column].kind == POWER_NONE ? NAN : step->powers[column].lambda;
	}
	return NAN;
}

static void step_save(const struct preparation_step *step, struct buf *buf)
{
	blob_put_u32(buf, step->kind);
	if (step->powers) {
		for (size_t j = 0; j < step->width; j++)
			power_save(&step->powers[j], buf);
	} else if (step->kind == STEP_FILL) {
		blob_put_reals(buf, step->median, step->width);
	} else if (step->kind == STEP_LINEAR) {
		blob_put_reals(buf, step->shift, step->width);
		blob_put_reals(buf, step->factor, step->width);
	} else {
		components_save(&step->components, buf);
	}
}

void preparation_save(const struct preparation *preparation, struct buf *buf)
{
	blob_put_u64(buf, preparation->width_in);
	blob_put_u64(buf, preparation->count);
	for (size_t i = 0; i < preparation->count; i++)
		step_save(&preparation->steps[i], buf);
}

static void step_load(struct preparation_step *step, struct blob *blob)
{
	if (step->kind == STEP_BOXCOX || step->kind == STEP_YEOJOHNSON) {
		step->powers = xcalloc(step->width, sizeof(*step->powers));
		for (size_t j = 0; j < step->width; j++)
			power_load(&step->powers[j],
				   step->kind == STEP_BOXCOX ? POWER_BOXCOX : POWER_YEOJOHNSON,
				   blob);
	} else if (step->kind == STEP_FILL) {
		step->median = xcalloc(step->width, sizeof(double));
		blob_take_finite(blob, step->median, step->width);
	} else if (step->kind == STEP_LINEAR) {
		step->shift = xcalloc(step->width, sizeof(double));
		step->factor = xcalloc(step->width, sizeof(double));
		blob_take_finite(blob, step->shift, step->width);
		blob_take_finite(blob, step->factor, step->width);
	} else {
		components_load(&step->components, step->width, blob);
	}
}

int preparation_load(struct preparation *preparation, struct blob *blob, struct err *err)
{
	struct preparation made = { .width_in = blob_take_u64(blob) };
	size_t count = blob_take_count(blob, 4), reductions = 0;

	blob_expect(blob, made.width_in >= 1 && made.width_in <= PREPARATION_WIDTH_MAX);
	made.width_out = made.width_in;
	for (size_t i = 0; i < count && blob_ok(blob); i++) {
		uint32_t kind = blob_take_u32(blob);
		struct preparation_step *step;

		reductions += kind == STEP_COMPONENTS;
		if (!blob_expect(blob, kind < STEP_KINDS && reductions <= 1))
			break;
		step = add_step(&made, kind);
		step_load(step, blob);
		if (blob_ok(blob))
			made.width_out = step_width_out(step);
	}
	if (!blob_ok(blob)) {
		preparation_release(&made);
		return err_set(err, EBADMSG, "its preparation is damaged");
	}
	*preparation = made;
	return 0;
}
