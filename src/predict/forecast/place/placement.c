/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/place/placement.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/maths/random.h"
#include "learn/judge/metrics.h"

const char *const placement_names[PLACEMENT_RULES] = { "equal", "classes", "expected", "hedged" };
const char *const placement_metrics[PLACEMENT_METRICS] = { "slower group", "95th percentile target",
							   "slowest target" };

double placement_alpha(size_t idle, size_t busy, double idle_s, double busy_s)
{
	if (!busy || !idle)
		return busy ? 0 : 1;
	return (double)idle * busy_s / ((double)idle * busy_s + (double)busy * idle_s);
}

bool placement_is_busy(const struct placement_target *target, const struct placement_limits *limits)
{
	return target->busy >= (limits && limits->busy_from > 0 ? limits->busy_from : 0.5);
}

double placement_expects(const struct placement_target *target)
{
	return target->busy * target->busy_s + (1 - target->busy) * target->idle_s;
}

/* ---- limits ---- */

static int check(const struct placement_limits *limits, struct err *err)
{
	if (!limits)
		return 0;
	if (!(limits->most >= 0) || !(limits->least >= 0) || !(limits->busy_from >= 0))
		return err_set(err, EINVAL, "limits of placement must not be negative");
	if (limits->most > 0 && limits->most < 1)
		return err_set(err, EINVAL,
			       "every target may get at most %g times its equal share, so not all "
			       "can be placed: most_extra must be 1 or more",
			       limits->most);
	if (limits->least > 1)
		return err_set(err, EINVAL,
			       "every target must get at least %g times its equal share, which is "
			       "more than there is: least must be 1 or less",
			       limits->least);
	return 0;
}

static double clamped(double share, double low, double high)
{
	return share < low ? low : share > high ? high : share;
}

/* The sum of shares if each is scale times its weight, within the limits; and how it grows. */
static double filled(const double *weights, size_t count, double scale, double low, double high,
		     double *slope)
{
	double sum = 0;

	*slope = 0;
	for (size_t i = 0; i < count; i++) {
		double share = scale * weights[i];

		if (weights[i] <= 0)
			continue;
		*slope += share > low && share < high ? weights[i] : 0;
		sum += clamped(share, low, high);
	}
	return sum;
}

/*
 * The scale at which the sum is 1. It grows with the scale along straight pieces, so Newton's steps
 * end in the right piece soon; one that leaves what is still possible is replaced by halving.
 */
static double level(const double *weights, size_t count, double low, double high)
{
	double from = 0, to = INFINITY, scale = 1, slope;

	for (int i = 0; i < 200 && to - from > 1e-16 * from; i++) {
		double sum = filled(weights, count, scale, low, high, &slope), next;

		if (fabs(sum - 1) < 1e-15)
			break;
		*(sum < 1 ? &from : &to) = scale;
		next = slope > 0 ? scale + (1 - sum) / slope : from;
		if (!(next > from && next < to))
			next = isinf(to) ? 2 * scale : (from + to) / 2;
		scale = next;
	}
	return scale;
}

void placement_fill(const double *weights, size_t count, const struct placement_limits *limits,
		    double *shares)
{
	double sum = 0, low = 0, high = INFINITY, scale;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		sum += weights[i];
		n += weights[i] > 0;
	}
	if (limits && n) {
		low = limits->least / (double)n;
		high = limits->most > 0 ? limits->most / (double)n : INFINITY;
	}
	for (size_t i = 0; i < count; i++)
		shares[i] = weights[i] / sum;
	if (low <= 0 && isinf(high))
		return;
	/* Weights as shares, so that the scale is near 1. */
	scale = level(shares, count, low, high);
	for (size_t i = 0; i < count; i++)
		shares[i] = shares[i] > 0 ? clamped(scale * shares[i], low, high) : 0;
}

/* ---- rules ---- */

static bool is_known(const struct placement_target *target)
{
	return target->idle_s > 0 && target->busy_s > 0 && isfinite(target->idle_s) &&
	       isfinite(target->busy_s) && target->busy >= 0 && target->busy <= 1;
}

static double deviation(double sd)
{
	return sd >= 0 && isfinite(sd) ? sd : 0;
}

/* Allowed targets alone, or all; unknown ones as the mean of the others. Returns how many. */
static size_t gather(const struct placement_target *targets, size_t count, bool all,
		     struct placement_target *out)
{
	struct placement_target mean = { 0 };
	size_t known = 0, n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct placement_target *t = &targets[i];

		if (!t->is_allowed || !is_known(t))
			continue;
		known++;
		mean.busy += t->busy;
		mean.idle_s += t->idle_s;
		mean.busy_s += t->busy_s;
		mean.idle_sd += deviation(t->idle_sd);
		mean.busy_sd += deviation(t->busy_sd);
	}
	for (size_t i = 0; i < count; i++) {
		if (!targets[i].is_allowed && !all)
			continue;
		if (is_known(&targets[i])) {
			out[n] = targets[i];
			out[n].idle_sd = deviation(out[n].idle_sd);
			out[n].busy_sd = deviation(out[n].busy_sd);
		} else if (known) {
			double k = 1 / (double)known;

			out[n] = (struct placement_target){ mean.busy * k,    mean.idle_s * k,
							    mean.busy_s * k,  mean.idle_sd * k,
							    mean.busy_sd * k, true };
		} else {
			out[n] = (struct placement_target){ 0, 1, 1, 0, 0, true };
		}
		n++;
	}
	return n;
}

/* WAN-35: one share per class. Where each target has times of its own, those of a class count by
 * their mean. */
static void weigh_classes(const struct placement_target *targets, size_t n,
			  const struct placement_limits *limits, double *weights)
{
	double idle_s = 0, busy_s = 0, alpha;
	size_t idle = 0, busy = 0;

	for (size_t i = 0; i < n; i++) {
		if (placement_is_busy(&targets[i], limits)) {
			busy++;
			busy_s += targets[i].busy_s;
		} else {
			idle++;
			idle_s += targets[i].idle_s;
		}
	}
	alpha = placement_alpha(idle, busy, idle ? idle_s / (double)idle : 1,
				busy ? busy_s / (double)busy : 1);
	for (size_t i = 0; i < n; i++)
		weights[i] = placement_is_busy(&targets[i], limits) ? (1 - alpha) / (double)busy
								    : alpha / (double)idle;
}

static void choose(enum placement_rule rule, const struct placement_target *targets, size_t n,
		   const struct placement_limits *limits, double *shares)
{
	AUTO_FREE double *weights = xcalloc(n, sizeof(*weights));

	if (rule == PLACEMENT_HEDGED) {
		placement_hedge(targets, n, limits, shares);
		return;
	}
	for (size_t i = 0; i < n; i++)
		weights[i] = rule == PLACEMENT_EXPECTED ? 1 / placement_expects(&targets[i]) : 1;
	if (rule == PLACEMENT_CLASSES)
		weigh_classes(targets, n, limits, weights);
	placement_fill(weights, n, limits, shares);
}

int placement_shares(enum placement_rule rule, const struct placement_target *targets, size_t count,
		     const struct placement_limits *limits, double *shares, struct err *err)
{
	AUTO_FREE struct placement_target *allowed = xcalloc(count + 1, sizeof(*allowed));
	AUTO_FREE double *found = xcalloc(count + 1, sizeof(*found));
	size_t n;
	int r = check(limits, err);

	if (r < 0)
		return r;
	n = gather(targets, count, false, allowed);
	if (!n)
		return err_set(err, EINVAL, "there is no target that files may be put on");
	choose(rule, allowed, n, limits, found);
	for (size_t i = 0, k = 0; i < count; i++)
		shares[i] = targets[i].is_allowed ? found[k++] : 0;
	return 0;
}

/* ---- units ---- */

struct rest {
	double lost;
	size_t target;
};

/* Who lost most comes first; of equals the first target. */
static int rest_order(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost < y->lost ? 1 : -1;
	return x->target < y->target ? -1 : x->target > y->target;
}

void placement_units(const double *shares, size_t count, uint64_t total, uint64_t *units)
{
	AUTO_FREE struct rest *rest = xcalloc(count + 1, sizeof(*rest));
	uint64_t given = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		double exact = shares[i] * (double)total;

		/* Sums of shares that are a little above 1 must not give more than there is. */
		units[i] = (uint64_t)floor(exact);
		if (units[i] > total - given)
			units[i] = total - given;
		given += units[i];
		if (shares[i] > 0)
			rest[n++] = (struct rest){ exact - (double)units[i], i };
	}
	if (!n)
		return;
	qsort(rest, n, sizeof(*rest), rest_order);
	/* More than one round only where the total is beyond what a double can count. */
	for (size_t i = 0; given < total; i = (i + 1) % n) {
		uint64_t each = (total - given + n - 1) / n;

		units[rest[i].target] += each;
		given += each;
	}
}

void placement_bytes(const double *shares, size_t count, uint64_t total, uint64_t unit,
		     uint64_t *bytes)
{
	uint64_t whole = total / unit + (total % unit != 0), missing = whole * unit - total;

	placement_units(shares, count, whole, bytes);
	for (size_t i = 0; i < count; i++)
		bytes[i] *= unit;
	for (size_t i = count; missing && i-- > 0;) {
		if (bytes[i] < unit)
			continue;
		bytes[i] -= missing;
		missing = 0;
	}
}

/* ---- judgement ---- */

void placement_judge(const double *shares, const bool *busy, const double *seconds, size_t count,
		     double feedback, struct placement_result *result)
{
	AUTO_FREE double *finish = xcalloc(count + 1, sizeof(*finish));
	double sum[2] = { 0 }, slowest = 0, slower = 0;
	size_t n[2] = { 0 };

	for (size_t i = 0; i < count; i++) {
		double volume = shares[i] * (double)count;

		finish[i] = volume * seconds[i];
		if (feedback > 0 && volume > 1)
			finish[i] *= pow(volume, feedback);
		slowest = finish[i] > slowest ? finish[i] : slowest;
		sum[busy[i]] += finish[i];
		n[busy[i]]++;
	}
	for (int k = 0; k < 2; k++)
		if (n[k] && sum[k] / (double)n[k] > slower)
			slower = sum[k] / (double)n[k];
	*result =
		(struct placement_result){ slower, metrics_quantile(finish, count, 0.95), slowest };
}

/* ---- foresight ---- */

enum { FORESIGHTS = 200 };

static double draw_seconds(const struct placement_target *target, struct random *random)
{
	bool is_busy = random_real(random) < target->busy;
	double mean = is_busy ? target->busy_s : target->idle_s;
	double sd = is_busy ? target->busy_sd : target->idle_sd;
	double variance = log1p(sd / mean * (sd / mean));

	return mean * exp(sqrt(variance) * random_normal(random) - variance / 2);
}

void placement_foresee(const double *shares, const struct placement_target *targets, size_t count,
		       const struct placement_limits *limits, struct placement_result *result)
{
	AUTO_FREE struct placement_target *known = xcalloc(count + 1, sizeof(*known));
	AUTO_FREE double *seconds = xcalloc(count + 1, sizeof(*seconds));
	AUTO_FREE bool *groups = xcalloc(count + 1, sizeof(*groups));
	struct placement_result sum = { 0 };
	struct random random;

	random_init(&random, 1);
	gather(targets, count, true, known);
	for (size_t i = 0; i < count; i++)
		groups[i] = placement_is_busy(&known[i], limits);
	for (int k = 0; k < FORESIGHTS; k++) {
		struct placement_result step;

		for (size_t i = 0; i < count; i++)
			seconds[i] = draw_seconds(&known[i], &random);
		placement_judge(shares, groups, seconds, count, 0, &step);
		sum.slower_group += step.slower_group / FORESIGHTS;
		sum.late += step.late / FORESIGHTS;
		sum.slowest += step.slowest / FORESIGHTS;
	}
	*result = sum;
}
