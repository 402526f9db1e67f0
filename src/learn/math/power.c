/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Both families are expm1(lambda * u) / lambda of a logarithm u: log x for Box-Cox, log(1 + |x|)
 * for each side of Yeo-Johnson. If there is only one side, the likelihood is computed from u minus
 * its mean, so that the scale of the values causes neither overflow nor cancellation.
 */
#include "learn/math/power.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "learn/file/blob.h"

enum {
	EXPONENT_MAX = 300, /* limit of values in a fit: their squares can still be summed */
	/* Limit of a typical value: below, half of the digits are lost beside 1. */
	EXPONENT_MIN = -16,
};

static inline double raise_power(double lambda, double u)
{
	double exponent = lambda * u;

	if (lambda == 0)
		return u;
	/* Values far outside of the fitted range stay finite. */
	return expm1(exponent < 709 ? exponent : 709) / lambda;
}

static double yeojohnson(double lambda, double middle, double x)
{
	if (x >= 0)
		return raise_power(lambda, log1p(x) - middle);
	if (!middle)
		return -raise_power(2 - lambda, log1p(-x));
	/* Continues at 0 with the slope of the positive side. */
	return raise_power(lambda, -middle) -
	       fmin(exp(-lambda * middle) * raise_power(2 - lambda, log1p(-x)), 1e300);
}

double power_apply(const struct power *power, double value)
{
	switch (power->kind) {
	case POWER_NONE:
		return value;
	case POWER_BOXCOX:
		return raise_power(power->lambda,
				   log(value > 0 ? value : power->least) - power->middle);
	case POWER_YEOJOHNSON:
		return power->mirrored ? -yeojohnson(2 - power->lambda, power->middle, -value)
				       : yeojohnson(power->lambda, power->middle, value);
	}
	return value;
}

/* A column to fit: its logarithms, and workspace for the transformed values. */
struct column_logs {
	double *u, *raised;
	size_t count;
	double sum;	/* sum of u before its mean was subtracted */
	double mean;	/* the mean that was subtracted; 0 with two sides */
	bool two_sides; /* u is signed: log1p|x| with the sign of x */
};

/* The logarithm of the variance of numbers whose squares may overflow. */
static double log_variance(const double *values, size_t count)
{
	double largest = 0, mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs(values[i]));
	if (largest == 0)
		return -INFINITY;
	for (size_t i = 0; i < count; i++)
		mean += values[i] / largest;
	mean /= (double)count;
	for (size_t i = 0; i < count; i++) {
		double deviation = values[i] / largest - mean;

		squares += deviation * deviation;
	}
	return log(squares / (double)count) + 2 * log(largest);
}

/* The negative log-likelihood per value, up to a constant. */
static double negative_likelihood(const struct column_logs *logs, double lambda)
{
	double jacobian = (lambda - 1) * logs->sum / (double)logs->count;

	for (size_t i = 0; i < logs->count; i++) {
		double u = logs->u[i];

		logs->raised[i] = logs->two_sides && u < 0 ? -raise_power(2 - lambda, -u)
							   : raise_power(lambda, u);
	}
	/* If the mean of u was subtracted, the Jacobian is that of the mean, which cancels. */
	if (!logs->two_sides)
		jacobian = 0;
	return log_variance(logs->raised, logs->count) / 2 - jacobian;
}

/* Brent's search for a minimum between low and high (Algorithms for Minimization, 1973, ch. 5). */
static double brent_minimum(const struct column_logs *logs, double low, double high)
{
	const double golden = (3 - sqrt(5)) / 2, tolerance = 1e-9;
	double x = low + golden * (high - low), w = x, v = x, step = 0, before = 0;
	double fx = negative_likelihood(logs, x), fw = fx, fv = fx;

	for (int round = 0; round < 100; round++) {
		double middle = (low + high) / 2, least = 1e-8 * fabs(x) + tolerance, u, fu;
		bool parabola = false;

		if (fabs(x - middle) <= 2 * least - (high - low) / 2)
			break;
		if (fabs(before) > least) {
			double r = (x - w) * (fx - fv), q = (x - v) * (fx - fw);
			double p = (x - v) * q - (x - w) * r;

			q = 2 * (q - r);
			p = q > 0 ? -p : p;
			q = fabs(q);
			if (fabs(p) < fabs(q * before / 2) && p > q * (low - x) &&
			    p < q * (high - x)) {
				before = step;
				step = p / q;
				parabola = true;
				u = x + step;
				if (u - low < 2 * least || high - u < 2 * least)
					step = x < middle ? least : -least;
			}
		}
		if (!parabola) {
			before = (x < middle ? high : low) - x;
			step = golden * before;
		}
		u = x + (fabs(step) >= least ? step : step > 0 ? least : -least);
		fu = negative_likelihood(logs, u);
		if (fu <= fx) {
			*(u < x ? &high : &low) = x;
			v = w, fv = fw;
			w = x, fw = fx;
			x = u, fx = fu;
			continue;
		}
		*(u < x ? &low : &high) = u;
		if (fu <= fw || w == x) {
			v = w, fv = fw;
			w = u, fw = fu;
		} else if (fu <= fv || v == x || v == w) {
			v = u, fv = fu;
		}
	}
	return x;
}

/* A coarse grid comes first, because the likelihood may have several maxima. */
static double find_best_lambda(const struct column_logs *logs, double low, double high)
{
	const int pieces = 12;
	double step = (high - low) / pieces, best = low, least = INFINITY;

	if (!(step > 0))
		return low;
	for (int i = 0; i <= pieces; i++) {
		double lambda = low + i * step, here = negative_likelihood(logs, lambda);

		if (here < least) {
			least = here;
			best = lambda;
		}
	}
	low = fmax(low, best - step);
	high = fmin(high, best + step);
	step = brent_minimum(logs, low, high);
	return negative_likelihood(logs, step) < least ? step : best;
}

/*
 * The grid is R's seq(-2, 2, 0.1) to the last bit, because caret compares with < and >: it uses the
 * logarithm at -0.2 but not at 0.2, and the identity at 0.8 but not at 1.2.
 */
static void choose_caret_power(struct power *power, const struct column_logs *logs)
{
	double best = 0, least = INFINITY;

	for (int i = 0; i <= 40; i++) {
		double lambda = -2 + i * 0.1, here = negative_likelihood(logs, lambda);

		if (here < least) {
			least = here;
			best = lambda;
		}
	}
	power->lambda = best < 0.2 && best > -0.2 ? 0 : best;
	if (best < 1 + 0.2 && best > 1 - 0.2)
		power->kind = POWER_NONE;
}

static bool has_three_values(const double *values, size_t count, size_t stride)
{
	double second = NAN;

	for (size_t i = 1; i < count; i++) {
		double value = values[i * stride];

		if (value == values[0] || value == second)
			continue;
		if (!isnan(second))
			return true;
		second = value;
	}
	return false;
}

static double minimum_of(const double *values, size_t count, size_t stride)
{
	double least = values[0];

	for (size_t i = 1; i < count; i++)
		least = fmin(least, values[i * stride]);
	return least;
}

static double maximum_of(const double *values, size_t count, size_t stride)
{
	double largest = values[0];

	for (size_t i = 1; i < count; i++)
		largest = fmax(largest, values[i * stride]);
	return largest;
}

/* Subtracts the mean if there is only one side. */
static void center_logs(struct column_logs *logs)
{
	double rest = 0;

	logs->sum = logs->mean = 0;
	for (size_t i = 0; i < logs->count; i++)
		logs->sum += logs->u[i];
	if (logs->two_sides)
		return;
	logs->mean = logs->sum / (double)logs->count;
	for (size_t i = 0; i < logs->count; i++)
		rest += logs->u[i] - logs->mean;
	logs->mean += rest / (double)logs->count;
	for (size_t i = 0; i < logs->count; i++)
		logs->u[i] -= logs->mean;
}

/* Box-Cox of u, whose mean is 0: allows any power for which numbers can still be squared. */
static void fit_one_side(struct power *power, const struct column_logs *logs, double low,
			 double high)
{
	double spread =
		fmax(-minimum_of(logs->u, logs->count, 1), maximum_of(logs->u, logs->count, 1));

	low = fmax(low, -EXPONENT_MAX / spread);
	high = fmin(high, EXPONENT_MAX / spread);
	power->lambda = find_best_lambda(logs, low, high);
}

static void choose_middle(struct power *power, const struct column_logs *logs)
{
	double exponent = power->lambda * logs->mean;

	if (exponent < EXPONENT_MIN || exponent > EXPONENT_MAX)
		power->middle = logs->mean;
}

static void fit_boxcox(struct power *power, struct column_logs *logs, bool caret)
{
	for (size_t i = 0; i < logs->count; i++)
		logs->u[i] = log(logs->u[i]);
	center_logs(logs);
	if (caret)
		choose_caret_power(power, logs);
	else
		fit_one_side(power, logs, POWER_BOXCOX_MIN, POWER_BOXCOX_MAX);
	choose_middle(power, logs);
}

static void fit_yeojohnson(struct power *power, struct column_logs *logs)
{
	double least = minimum_of(logs->u, logs->count, 1);
	double largest = maximum_of(logs->u, logs->count, 1);
	double low = POWER_YEOJOHNSON_MIN, high = POWER_YEOJOHNSON_MAX;

	power->mirrored = largest <= 0;
	logs->two_sides = least < 0 && largest > 0;
	for (size_t i = 0; i < logs->count; i++) {
		double u = log1p(fabs(logs->u[i]));

		logs->u[i] = logs->two_sides && logs->u[i] < 0 ? -u : u;
	}
	center_logs(logs);
	if (!logs->two_sides) {
		fit_one_side(power, logs, low, high);
		choose_middle(power, logs);
		power->lambda = power->mirrored ? 2 - power->lambda : power->lambda;
		return;
	}
	/* A power of 1 is the identity and is always possible. */
	low = fmax(low, fmin(1, 2 - 709 / log1p(-least)));
	high = fmin(high, fmax(1, 709 / log1p(largest)));
	power->lambda = find_best_lambda(logs, low, high);
}

void power_fit(struct power *power, enum power_kind kind, bool caret, const double *values,
	       size_t count, size_t stride)
{
	struct column_logs logs = { .count = count };
	AUTO_FREE double *room = NULL;

	*power = (struct power){ .kind = POWER_NONE };
	if (kind == POWER_NONE || !has_three_values(values, count, stride))
		return;
	power->least = minimum_of(values, count, stride);
	if (kind == POWER_BOXCOX && power->least <= 0)
		return;
	power->kind = kind;
	room = xrealloc(NULL, count, 2 * sizeof(double));
	logs.u = room;
	logs.raised = room + count;
	for (size_t i = 0; i < count; i++)
		logs.u[i] = values[i * stride];
	if (kind == POWER_BOXCOX)
		fit_boxcox(power, &logs, caret);
	else
		fit_yeojohnson(power, &logs);
}

void power_save(const struct power *power, struct buf *buf)
{
	blob_put_u32(buf, (uint32_t)power->kind | (uint32_t)power->mirrored << 8);
	blob_put_real(buf, power->lambda);
	blob_put_real(buf, power->middle);
	blob_put_real(buf, power->least);
}

void power_load(struct power *power, enum power_kind kind, struct blob *blob)
{
	uint32_t word = blob_take_u32(blob);

	*power = (struct power){ .kind = word & 0xff, .mirrored = word >> 8 & 1 };
	power->lambda = blob_take_real(blob);
	power->middle = blob_take_real(blob);
	power->least = blob_take_real(blob);
	blob_expect(blob, power->kind == POWER_NONE || power->kind == kind);
	blob_expect(blob, fabs(power->lambda) <= POWER_YEOJOHNSON_MAX &&
				  fabs(power->middle) <= 1000 && isfinite(power->least));
	if (power->kind == POWER_BOXCOX)
		blob_expect(blob, power->least > 0);
}
