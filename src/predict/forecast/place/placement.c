/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-36.
 */
#include "predict/forecast/place/placement.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "contract/shares.h"
#include "learn/judge/metrics.h"
#include "learn/math/random.h"

#define DEFAULT_BUSY_FROM 0.5
#define LATE_QUANTILE 0.95
#define PREDICTION_DRAWS 200

const char *const placement_names[PLACEMENT_RULES + 1] = { "equal", "classes", "expected", "hedged",
							   "adaptive" };
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
	return target->busy >=
	       (limits && limits->busy_from > 0 ? limits->busy_from : DEFAULT_BUSY_FROM);
}

double placement_expected_s(const struct placement_target *target)
{
	return target->busy * target->busy_s + (1 - target->busy) * target->idle_s;
}

static int check_limits(const struct placement_limits *limits, struct err *err)
{
	if (!limits)
		return 0;
	if (!(limits->most >= 0) || !(limits->least >= 0) || !(limits->busy_from >= 0))
		return err_set(err, EINVAL, "the limits of [placement] must not be negative");
	if (limits->most > 0 && limits->most < 1)
		return err_set(err, EINVAL, "[placement] most_extra must be at least 1 (got %g)",
			       limits->most);
	if (limits->least > 1)
		return err_set(err, EINVAL, "[placement] least must not exceed 1 (got %g)",
			       limits->least);
	return 0;
}

void placement_fill(const double *weights, size_t count, const struct placement_limits *limits,
		    double *shares)
{
	shares_fill(weights, count, limits ? limits->least : 0, limits ? limits->most : 0, shares);
}

static bool target_is_known(const struct placement_target *target)
{
	return target->idle_s > 0 && target->busy_s > 0 && isfinite(target->idle_s) &&
	       isfinite(target->busy_s) && target->busy >= 0 && target->busy <= 1;
}

static double valid_deviation(double sd)
{
	return sd >= 0 && isfinite(sd) ? sd : 0;
}

/* Copies the allowed targets, or all, with unknown ones replaced by the mean. Returns how many. */
static size_t copy_targets(const struct placement_target *targets, size_t count, bool all,
			   struct placement_target *out)
{
	struct placement_target mean = { 0 };
	size_t known = 0, n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct placement_target *t = &targets[i];

		if (!t->is_allowed || !target_is_known(t))
			continue;
		known++;
		mean.busy += t->busy;
		mean.idle_s += t->idle_s;
		mean.busy_s += t->busy_s;
		mean.idle_sd += valid_deviation(t->idle_sd);
		mean.busy_sd += valid_deviation(t->busy_sd);
	}
	for (size_t i = 0; i < count; i++) {
		if (!targets[i].is_allowed && !all)
			continue;
		if (target_is_known(&targets[i])) {
			out[n] = targets[i];
			out[n].idle_sd = valid_deviation(out[n].idle_sd);
			out[n].busy_sd = valid_deviation(out[n].busy_sd);
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

/* Computes one share per class (WAN-35), from the mean time of each class. */
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

static void apply_rule(enum placement_rule rule, const struct placement_target *targets, size_t n,
		       const struct placement_limits *limits, double *shares)
{
	AUTO_FREE double *weights = xcalloc(n, sizeof(*weights));

	if (rule == PLACEMENT_HEDGED) {
		placement_hedge(targets, n, limits, shares);
		return;
	}
	for (size_t i = 0; i < n; i++)
		weights[i] = rule == PLACEMENT_EXPECTED || rule == PLACEMENT_ADAPTIVE
				     ? 1 / placement_expected_s(&targets[i])
				     : 1;
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
	int r = check_limits(limits, err);

	if (r < 0)
		return r;
	n = copy_targets(targets, count, false, allowed);
	if (!n)
		return err_set(
			err, EINVAL,
			"no target is allowed for placement; check [placement] allow of the site");
	apply_rule(rule, allowed, n, limits, found);
	for (size_t i = 0, k = 0; i < count; i++)
		shares[i] = targets[i].is_allowed ? found[k++] : 0;
	return 0;
}

struct remainder {
	double lost;
	size_t target;
};

/* Sorts by descending remainder, then by target. */
static int compare_remainders(const void *a, const void *b)
{
	const struct remainder *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost < y->lost ? 1 : -1;
	return x->target < y->target ? -1 : x->target > y->target;
}

void placement_units(const double *shares, size_t count, uint64_t total, uint64_t *units)
{
	AUTO_FREE struct remainder *remainders = xcalloc(count + 1, sizeof(*remainders));
	uint64_t given = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		double exact = shares[i] * (double)total;

		/* Shares may sum to slightly more than 1 because of rounding. */
		units[i] = (uint64_t)floor(exact);
		if (units[i] > total - given)
			units[i] = total - given;
		given += units[i];
		if (shares[i] > 0)
			remainders[n++] = (struct remainder){ exact - (double)units[i], i };
	}
	if (!n)
		return;
	qsort(remainders, n, sizeof(*remainders), compare_remainders);
	/* More than one unit each is left only if a double cannot represent the total. */
	for (size_t i = 0; given < total; i = (i + 1) % n) {
		uint64_t each = (total - given + n - 1) / n;

		units[remainders[i].target] += each;
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

void placement_summarize(const double *finish, const bool *busy, size_t count,
			 struct placement_result *result)
{
	double sum[2] = { 0 }, slowest = 0, slower = 0;
	size_t n[2] = { 0 };

	for (size_t i = 0; i < count; i++) {
		slowest = finish[i] > slowest ? finish[i] : slowest;
		sum[busy[i]] += finish[i];
		n[busy[i]]++;
	}
	for (int k = 0; k < 2; k++)
		if (n[k] && sum[k] / (double)n[k] > slower)
			slower = sum[k] / (double)n[k];
	*result = (struct placement_result){ slower, metrics_quantile(finish, count, LATE_QUANTILE),
					     slowest };
}

void placement_evaluate(const double *shares, const bool *busy, const double *seconds, size_t count,
			double feedback, struct placement_result *result)
{
	AUTO_FREE double *finish = xcalloc(count + 1, sizeof(*finish));

	for (size_t i = 0; i < count; i++) {
		double volume = shares[i] * (double)count;

		finish[i] = volume * seconds[i];
		if (feedback > 0 && volume > 1)
			finish[i] *= pow(volume, feedback);
	}
	placement_summarize(finish, busy, count, result);
}

static double draw_seconds(const struct placement_target *target, struct random *random)
{
	bool is_busy = random_real(random) < target->busy;
	double mean = is_busy ? target->busy_s : target->idle_s;
	double sd = is_busy ? target->busy_sd : target->idle_sd;
	double variance = log1p(sd / mean * (sd / mean));

	return mean * exp(sqrt(variance) * random_normal(random) - variance / 2);
}

void placement_predict(const double *shares, const struct placement_target *targets, size_t count,
		       const struct placement_limits *limits, struct placement_result *result)
{
	AUTO_FREE struct placement_target *known = xcalloc(count + 1, sizeof(*known));
	AUTO_FREE double *seconds = xcalloc(count + 1, sizeof(*seconds));
	AUTO_FREE bool *groups = xcalloc(count + 1, sizeof(*groups));
	struct placement_result sum = { 0 };
	struct random random;

	random_init(&random, 1);
	copy_targets(targets, count, true, known);
	for (size_t i = 0; i < count; i++)
		groups[i] = placement_is_busy(&known[i], limits);
	for (int k = 0; k < PREDICTION_DRAWS; k++) {
		struct placement_result step;

		for (size_t i = 0; i < count; i++)
			seconds[i] = draw_seconds(&known[i], &random);
		placement_evaluate(shares, groups, seconds, count, 0, &step);
		sum.slower_group += step.slower_group / PREDICTION_DRAWS;
		sum.late += step.late / PREDICTION_DRAWS;
		sum.slowest += step.slowest / PREDICTION_DRAWS;
	}
	*result = sum;
}
