/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A recipe becomes a list of steps. Centring and scaling that follow each other are one step, since
 * every prediction goes through here.
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
#include "learn/file/blob.h"
#include "learn/maths/components.h"
#include "learn/maths/moments.h"
#include "learn/maths/power.h"
#include "base/number.h"
#include "learn/maths/vector.h"

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
	size_t width;		      /* of its input */
	struct power *powers;	      /* per column: STEP_BOXCOX, STEP_YEOJOHNSON */
	double *shift, *factor;	      /* per column: STEP_LINEAR is (x - shift) * factor */
	double *median;		      /* per column: STEP_FILL */
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

/* ---- applying ---- */

/* Column by column upwards, so that out may begin before in. */
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

/* Steps from `first` on that keep the width; returns the number of the step that stopped it. */
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

static inline void reduce(const struct preparation *preparation, const double *in, double *out,
			  double *room)
{
	size_t i = steps_apply(preparation, 0, in, room);

	components_apply(&preparation->steps[i].components, room, out);
	steps_apply(preparation, i + 1, out, out);
}

/* A large frame costs even where it is not touched. */
static __attribute__((noinline)) void reduce_wide(const struct preparation *preparation,
						  const double *in, double *out)
{
	double room[PREPARATION_WIDTH_MAX];

	reduce(preparation, in, out, room);
}

static __attribute__((noinline)) void reduce_narrow(const struct preparation *preparation,
						    const double *in, double *out)
{
	double room[64];

	reduce(preparation, in, out, room);
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

/* ---- fitting ---- */

/* Where a fit has come to. */
struct fitting {
	struct preparation made;
	double *x;
	size_t rows;
	double *deviation; /* of the last step, which centres and is not applied yet; or NULL */
	bool finite;	   /* the last step cannot have made numbers that are not */
};

static struct preparation_step *step_add(struct preparation *preparation, enum step_kind kind)
{
	struct preparation_step *step;

	preparation->steps =
		xrealloc(preparation->steps, preparation->count + 1, sizeof(*preparation->steps));
	step = &preparation->steps[preparation->count++];
	*step = (struct preparation_step){ .kind = kind, .width = preparation->width_out };
	return step;
}

static void rows_apply(const struct fitting *fitting, const struct preparation_step *step)
{
	for (size_t i = 0; i < fitting->rows; i++)
		step_apply(step, fitting->x + i * step->width, fitting->x + i * step->width);
}

typedef double lanes __attribute__((vector_size(16)));

/* Are all of them? Zero times a number is zero, unless the number is not finite. */
static bool all_finite(const double *x, size_t count)
{
	lanes sum[4] = { 0 }, all;
	size_t i = 0;

	for (; i + 8 <= count; i += 8) {
		lanes some[4];

		memcpy(some, x + i, sizeof(some));
		for (size_t l = 0; l < 4; l++)
			sum[l] += some[l] * 0;
	}
	for (; i < count; i++)
		sum[0][0] += x[i] * 0;
	all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
	return all[0] + all[1] == 0;
}

/* The first row with a number that is not finite; rows where all are. */
static size_t row_infinite(const double *x, size_t rows, size_t width)
{
	size_t i = 0;

	if (all_finite(x, rows * width))
		return rows;
	while (i < rows && all_finite(x + i * width, width))
		i++;
	return i;
}

static int fitting_check(const struct fitting *fitting, const char *when, struct err *err)
{
	size_t row = row_infinite(fitting->x, fitting->rows, fitting->made.width_out);

	if (row == fitting->rows)
		return 0;
	return err_set(err, EDOM, "row %zu of the inputs is not finite %s the preparation", row + 1,
		       when);
}

/* Of what is there; 0 where nothing is. */
static double median_of(const struct fitting *fitting, size_t column, double *room)
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
	struct preparation_step *step = step_add(&fitting->made, STEP_FILL);
	AUTO_FREE double *room = xcalloc(fitting->rows, sizeof(*room));

	(void)value;
	step->median = xcalloc(step->width, sizeof(*step->median));
	for (size_t j = 0; j < step->width; j++)
		step->median[j] = median_of(fitting, j, room);
	rows_apply(fitting, step);
	return fitting_check(fitting, "before", err);
}

/* As rows_apply() for a linear step: in place, which the compiler cannot know above. */
static void rows_move(const struct fitting *fitting, const struct preparation_step *step)
{
	const double *restrict shift = step->shift, *restrict factor = step->factor;
	size_t width = step->width;
	double *restrict row = fitting->x;

	for (size_t i = 0; i < fitting->rows; i++, row += width) {
		for (size_t j = 0; j < width; j++)
			row[j] = (row[j] - shift[j]) * factor[j];
	}
}

/* Applies centring that has waited for a scaling to follow. */
static void centre_finish(struct fitting *fitting)
{
	if (!fitting->deviation)
		return;
	rows_move(fitting, &fitting->made.steps[fitting->made.count - 1]);
	free(fitting->deviation);
	fitting->deviation = NULL;
}

static int powers_fit(struct fitting *fitting, enum power_kind kind, bool caret)
{
	struct preparation_step *step =
		step_add(&fitting->made, kind == POWER_BOXCOX ? STEP_BOXCOX : STEP_YEOJOHNSON);

	step->powers = xcalloc(step->width, sizeof(*step->powers));
	for (size_t j = 0; j < step->width; j++)
		power_fit(&step->powers[j], kind, caret, fitting->x + j, fitting->rows,
			  step->width);
	rows_apply(fitting, step);
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

static struct preparation_step *linear_add(struct preparation *preparation)
{
	struct preparation_step *step = step_add(preparation, STEP_LINEAR);

	step->shift = xcalloc(step->width, sizeof(*step->shift));
	step->factor = xcalloc(step->width, sizeof(*step->factor));
	for (size_t j = 0; j < step->width; j++)
		step->factor[j] = 1;
	return step;
}

static int centre_fit(struct fitting *fitting, const char *value, struct err *err)
{
	struct preparation_step *step = linear_add(&fitting->made);

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
		/* Centring and scaling in one. */
		step = &fitting->made.steps[fitting->made.count - 1];
	} else {
		fitting->finite = false;
		step = linear_add(&fitting->made);
		deviation = xmalloc(width * sizeof(*deviation));
		moments_deviation(fitting->x, fitting->rows, width, deviation);
	}
	for (size_t j = 0; j < width; j++) {
		double factor = 1 / deviation[j];

		step->factor[j] = deviation[j] > 0 && isfinite(factor) ? factor : 1;
	}
	rows_move(fitting, step);
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
	step_add(&fitting->made, STEP_COMPONENTS)->components = components;
	fitting->made.width_out = components.count;
	return 0;
}

/* ---- recipes ---- */

static bool value_none(const char *value)
{
	return !*value;
}

static bool value_caret(const char *value)
{
	return !*value || strcmp(value, "caret") == 0;
}

static bool value_wanted(const char *value)
{
	double wanted;

	if (!*value)
		return true;
	return number_parse(value, strlen(value), &wanted) && wanted > 0 &&
	       (wanted < 1 || (wanted == floor(wanted) && wanted <= PREPARATION_WIDTH_MAX));
}

static const struct dish {
	const char *name, *value; /* value: what may stand behind "=" */
	bool (*accept)(const char *value);
	int (*fit)(struct fitting *fitting, const char *value, struct err *err);
} dishes[] = {
	{ "fill", NULL, value_none, fill_fit },
	{ "boxcox", "caret", value_caret, boxcox_fit },
	{ "yeojohnson", NULL, value_none, yeojohnson_fit },
	{ "centre", NULL, value_none, centre_fit },
	{ "center", NULL, value_none, centre_fit },
	{ "scale", NULL, value_none, scale_fit },
	{ "pca", "a share below 1 or a whole number", value_wanted, pca_fit },
	{ 0 },
};

static const struct dish *dish_find(const char *item, const char **value, struct err *err)
{
	size_t n = strcspn(item, "=");

	for (const struct dish *dish = dishes; dish->name; dish++) {
		if (strncmp(dish->name, item, n) != 0 || dish->name[n])
			continue;
		*value = item[n] ? item + n + 1 : "";
		if ((!item[n] || **value) && dish->accept(*value))
			return dish;
		err_set(err, EINVAL, "preparation \"%.80s\": %s takes %s", item, dish->name,
			dish->value ? dish->value : "no value");
		return NULL;
	}
	err_set(err, EINVAL,
		"no preparation \"%.80s\": there are fill, boxcox, yeojohnson, centre, scale and "
		"pca",
		item);
	return NULL;
}

/* fitting NULL: only looks whether it makes sense. */
static int recipe_walk(const char *recipe, struct fitting *fitting, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(recipe ? recipe : "");
	char *rest = copy, *item;
	bool reduced = false;
	int r = 0;

	while (r >= 0 && (item = strsep(&rest, ", "))) {
		const struct dish *dish;
		const char *value;

		if (!*item || strcmp(item, "none") == 0)
			continue;
		dish = dish_find(item, &value, err);
		if (!dish)
			return -EINVAL;
		if (dish->fit == pca_fit && reduced)
			return err_set(err, EINVAL, "preparation \"%.80s\": pca comes only once",
				       recipe);
		reduced |= dish->fit == pca_fit;
		if (!fitting)
			continue;
		if (dish->fit != scale_fit) {
			centre_finish(fitting);
			fitting->finite = false;
		}
		r = dish->fit(fitting, value, err);
	}
	if (fitting)
		centre_finish(fitting);
	return r;
}

int preparation_check(const char *recipe, struct err *err)
{
	return recipe_walk(recipe, NULL, err);
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
		return err_set(err, EINVAL,
			       "%zu rows of %zu inputs: there must be rows and 1 to %d inputs",
			       rows, width, PREPARATION_WIDTH_MAX);
	/* What is missing is let in where it is filled first. */
	if (!recipe || strncmp(recipe, "fill", 4) != 0)
		r = fitting_check(&fitting, "before", err);
	if (r >= 0)
		r = recipe_walk(recipe, &fitting, err);
	if (r >= 0 && fitting.made.count && !fitting.finite)
		r = fitting_check(&fitting, "after", err);
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

/* ---- for people ---- */

static void powers_describe(const struct preparation_step *step, struct buf *out)
{
	enum { LISTED_MAX = 16 };

	buf_puts(out, step->kind == STEP_BOXCOX ? "boxcox: powers" : "yeojohnson: powers");
	for (size_t j = 0; j < step->width && j < LISTED_MAX; j++) {
		const struct power *power = &step->powers[j];

		if (power->kind == POWER_NONE)
			buf_puts(out, " -");
		else if (power->lambda == 0)
			buf_puts(out, " log");
		else
			buf_printf(out, " %.2f", power->lambda);
	}
	buf_puts(out, step->width > LISTED_MAX ? " ...\n" : "\n");
}

static void linear_describe(const struct preparation_step *step, struct buf *out)
{
	bool shifts = false, scales = false;

	for (size_t j = 0; j < step->width; j++) {
		shifts |= step->shift[j] != 0;
		scales |= step->factor[j] != 1;
	}
	buf_printf(out, "%s%s%s\n", shifts || !scales ? "centre" : "",
		   shifts && scales ? " and " : "", scales ? "scale" : "");
}

void preparation_describe(const struct preparation *preparation, struct buf *out)
{
	for (size_t i = 0; i < preparation->count; i++) {
		const struct preparation_step *step = &preparation->steps[i];

		if (step->powers)
			powers_describe(step, out);
		else if (step->kind == STEP_LINEAR)
			linear_describe(step, out);
		else if (step->kind == STEP_FILL)
			buf_puts(out, "fill: missing values become the median\n");
		else
			buf_printf(out, "pca: %zu components of %zu inputs\n",
				   step->components.count, step->width);
	}
}

/* ---- files ---- */

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
		blob_put_u64(buf, step->components.count);
		blob_put_reals(buf, step->components.mean, step->width);
		blob_put_reals(buf, step->components.loading, step->components.count * step->width);
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
		step = step_add(&made, kind);
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
