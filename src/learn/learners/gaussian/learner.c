/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Gaussian process (gaussian.h) as a learning method. A file holds points and hyper-parameters;
 * the root is recomputed on load, which rejects invalid files and keeps the file small.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/option.h"
#include "learn/file/blob.h"
#include "learn/learner.h"
#include "learn/learners/gaussian/gaussian.h"

extern const struct learner_ops learner_gaussian;

enum { POINTS_MAX = 10000 };

static const struct learner_setting settings_rows[] = {
	{ "kernel", "kernel: how the covariance decreases with distance", COVARIANCE_FAMILIES, 2, 0,
	  2, 0, 2, true, false },
	{ "linear", "add a linear trend", "no|yes", 0, 0, 1, 0, 1, true, false },
	{ "categories", "categorical inputs; auto: those with two distinct values", "auto|none", 0,
	  0, 1, 0, 1, true, false },
	{ "limit", "maximum number of distinct rows; a random sample is drawn from more", NULL,
	  1000, 1, POINTS_MAX, 1000, 1000, true, false },
	{ "restarts", "random starts in addition to the default one", NULL, 1, 0, 100, 1, 1, true,
	  false },
	{ 0 },
};

struct model {
	struct gaussian gaussian;
	size_t limit;
};

static double setting_value(const double *settings, const char *name)
{
	return learner_value(&learner_gaussian, settings, name);
}

static void process_free(void *arg)
{
	struct model *model = arg;

	if (model)
		gaussian_release(&model->gaussian);
	free(model);
}

static int process_fit(void **out, const struct samples *samples, const double *settings,
		       const struct effort *effort, struct err *err)
{
	AUTO_FREE bool *none = xcalloc(samples->width, sizeof(*none));
	struct gaussian_plan plan = {
		.family = (enum covariance_family)setting_value(settings, "kernel"),
		.linear = setting_value(settings, "linear") != 0,
		.category = setting_value(settings, "categories") != 0 ? none : NULL,
		.limit = (size_t)setting_value(settings, "limit"),
		.restarts = (size_t)setting_value(settings, "restarts"),
		.seed = effort->seed,
	};
	struct model *model = xcalloc(1, sizeof(*model));
	int r = gaussian_init(&model->gaussian, &plan, samples->x, samples->y, samples->rows,
			      samples->width, err);

	model->limit = plan.limit;
	if (r < 0)
		process_free(model);
	else
		*out = model;
	return r;
}

static void process_predict(const void *arg, const double *row, double *out)
{
	const struct model *model = arg;

	gaussian_predict(&model->gaussian, row, out, NULL, false);
}

static double process_spread(const void *arg, const double *row)
{
	const struct model *model = arg;
	double mean, deviation;

	gaussian_predict(&model->gaussian, row, &mean, &deviation, true);
	return deviation;
}

/* An input with a short scale is important. */
static void process_importance(const void *arg, double *share)
{
	const struct model *model = arg;
	size_t width = model->gaussian.width;
	double sum = 0;

	for (size_t i = 0; i < width; i++)
		sum += share[i] = 1 / model->gaussian.hyper.scales[i];
	for (size_t i = 0; i < width; i++)
		share[i] /= sum;
}

static int process_refresh(void *arg, const struct samples *more, const struct effort *effort,
			   struct err *err)
{
	struct model *model = arg;

	(void)effort;
	return gaussian_extend(&model->gaussian, more->x, more->y, more->rows, model->limit, err);
}

static void process_describe(const void *arg, const char *const *names, struct buf *out)
{
	const struct model *model = arg;
	const struct gaussian *gaussian = &model->gaussian;
	char kernel[16];

	option_choice_name(COVARIANCE_FAMILIES, gaussian->family, kernel, sizeof(kernel));
	buf_printf(out, "%zu points of %zu rows, kernel %s, log-likelihood %.6g\n",
		   gaussian->points, gaussian->rows, kernel, gaussian->likelihood);
	buf_printf(out, "deviation of signal %.4g, of noise %.4g",
		   gaussian->scale * sqrt(gaussian->hyper.signal),
		   gaussian->scale * sqrt(gaussian->hyper.noise));
	if (gaussian->linear)
		buf_printf(out, ", of slopes %.4g", gaussian->scale * sqrt(gaussian->hyper.slope));
	buf_putc(out, '\n');
	for (size_t i = 0; i < gaussian->width; i++)
		buf_printf(out, "scale of %s%s: %.4g\n", names ? names[i] : "an input",
			   gaussian->category[i] ? " (category)" : "", gaussian->hyper.scales[i]);
}

static void process_save(const void *arg, struct buf *buf)
{
	const struct model *model = arg;
	const struct gaussian *gaussian = &model->gaussian;

	blob_put_u32(buf, gaussian->family);
	blob_put_u32(buf, gaussian->linear);
	blob_put_u64(buf, model->limit);
	blob_put_u64(buf, gaussian->rows);
	blob_put_real(buf, gaussian->center);
	blob_put_real(buf, gaussian->scale);
	blob_put_real(buf, gaussian->jitter);
	blob_put_real(buf, gaussian->hyper.signal);
	blob_put_real(buf, gaussian->hyper.noise);
	blob_put_real(buf, gaussian->hyper.slope);
	blob_put_u64(buf, gaussian->points);
	for (size_t i = 0; i < gaussian->width; i++) {
		blob_put_u32(buf, gaussian->category[i]);
		blob_put_real(buf, gaussian->hyper.scales[i]);
		blob_put_reals(buf, gaussian->x + i * gaussian->cap, gaussian->points);
	}
	blob_put_reals(buf, gaussian->repeats, gaussian->points);
	blob_put_reals(buf, gaussian->target, gaussian->points);
	blob_put_reals(buf, gaussian->within, gaussian->points);
}

static double take_real_within(struct blob *blob, double least, double most)
{
	double value = blob_take_real(blob);

	blob_expect(blob, value >= least && value <= most);
	return value;
}

static void take_reals_within(struct blob *blob, double *values, size_t count, double least,
			      double most)
{
	for (size_t i = 0; i < count; i++)
		values[i] = take_real_within(blob, least, most);
}

static void load_header(struct model *model, struct blob *blob)
{
	struct gaussian *gaussian = &model->gaussian;
	uint32_t family = blob_take_u32(blob);

	blob_expect(blob, family <= COVARIANCE_MATERN52);
	gaussian->family =
		family <= COVARIANCE_MATERN52 ? (enum covariance_family)family : COVARIANCE_RBF;
	gaussian->linear = blob_take_u32(blob) != 0;
	model->limit = blob_take_u64(blob);
	gaussian->rows = blob_take_u64(blob);
	gaussian->center = take_real_within(blob, -1e300, 1e300);
	gaussian->scale = take_real_within(blob, 1e-300, 1e300);
	gaussian->jitter = take_real_within(blob, 0, 1);
	gaussian->hyper.signal = take_real_within(blob, 1e-12, 1e12);
	gaussian->hyper.noise = take_real_within(blob, 1e-12, 1e12);
	gaussian->hyper.slope = take_real_within(blob, 1e-12, 1e12);
	blob_expect(blob, model->limit >= 1 && model->limit <= POINTS_MAX);
}

static void load_points(struct gaussian *gaussian, struct blob *blob)
{
	for (size_t i = 0; i < gaussian->width; i++) {
		gaussian->category[i] = blob_take_u32(blob) != 0;
		gaussian->hyper.scales[i] = take_real_within(blob, 1e-12, 1e12);
		take_reals_within(blob, gaussian->x + i * gaussian->cap, gaussian->points, -1e150,
				  1e150);
	}
	take_reals_within(blob, gaussian->repeats, gaussian->points, 1, 1e18);
	take_reals_within(blob, gaussian->target, gaussian->points, -1e150, 1e150);
	take_reals_within(blob, gaussian->within, gaussian->points, 0, 1e300);
}

static int process_load(void **out, struct blob *blob, size_t width, size_t classes,
			struct err *err)
{
	struct model *model = xcalloc(1, sizeof(*model));
	size_t points;
	int r;

	load_header(model, blob);
	points = blob_take_count(blob, (width + 3) * sizeof(double));
	blob_expect(blob, points >= 1 && points <= POINTS_MAX && !classes);
	if (!blob_ok(blob)) {
		process_free(model);
		return err_set(err, EBADMSG, "its Gaussian process is damaged");
	}
	gaussian_room(&model->gaussian, width, points);
	model->gaussian.points = points;
	load_points(&model->gaussian, blob);
	if (blob_ok(blob))
		r = gaussian_root(&model->gaussian, err);
	else
		r = err_set(err, EBADMSG, "its Gaussian process is damaged");
	if (r < 0)
		process_free(model);
	else
		*out = model;
	return r;
}

const struct learner_ops learner_gaussian = {
	.name = "gaussian",
	.help = "Gaussian process: mean and deviation; repeated rows become one point; training "
		"and "
		"model need 8 bytes times the square of `limit`; updates keep the scales "
		"and drop the oldest points beyond `limit`",
	.tasks = LEARNER_REGRESSES,
	.recipe = "center,scale",
	.settings = settings_rows,
	.fit = process_fit,
	.predict = process_predict,
	.spread = process_spread,
	.importance = process_importance,
	.refresh = process_refresh,
	.describe = process_describe,
	.save = process_save,
	.load = process_load,
	.free = process_free,
};
