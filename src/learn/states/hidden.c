/* SPDX-License-Identifier: BSD-3-Clause
 *
 * With two states the filter is a single number, and an observation enters only by the ratio of its
 * two densities: one exponential, without underflow or scaling. The backward pass needs only the
 * filtered probabilities: what follows is a share of what was predicted (Kim's smoother).
 */
#include "learn/states/hidden.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/math/exponential.h"
#include "learn/math/vector.h"
#include "learn/states/mixture.h"

enum { ROUNDS = 500, SEEN_LEAST = 16 };

/* Probabilities are never exactly 0 or 1, so that an outlier cannot make the likelihood 0. */
#define CHANCE_LEAST 1e-9
#define TURN_LEAST 1e-6
#define FLOOR 1e-3
#define HALF_LN_TWO_PI 0.91893853320467274178

struct fit {
	struct hidden hidden; /* parameters of the scaled logarithms */
	size_t count, seen;
	const double *y; /* logarithms, mean 0 and deviation 1; NAN is a gap */
	double *ratio;	 /* density in state 0 over that in state 1 */
	double *chance;	 /* filtered probabilities */
};

/* Expected counts of one round. */
struct tally {
	double from[2], turned[2]; /* steps out of a state, and those into the other one */
	double weight[2], sum[2], squares[2]; /* sums over the observations in it */
};

static double clamp(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

static double predict_state(const struct hidden *hidden, double chance)
{
	return hidden->up + chance * (1 - hidden->up - hidden->down);
}

/* start is the long-run distribution: a series begins at no special moment. */
static void start_update(struct hidden *hidden)
{
	hidden->start = hidden->up / (hidden->up + hidden->down);
}

static double density_exponent(const struct hidden *hidden, int state, double y)
{
	double z = (y - hidden->mean[state]) / hidden->deviation[state];

	return -z * z / 2;
}

/*
 * Computes the ratio of the densities of all values, and the sum of the logarithms of that in state
 * 1.
 */
static double compute_ratios(struct fit *fit)
{
	const struct hidden *h = &fit->hidden;
	double apart = log(h->deviation[1] / h->deviation[0]), sum = 0;
	double constant = -log(h->deviation[1]) - HALF_LN_TWO_PI;

	for (size_t i = 0; i < fit->count; i++) {
		double y = fit->y[i];
		double ratio =
			exponential(density_exponent(h, 0, y) - density_exponent(h, 1, y) + apart);

		fit->ratio[i] = y == y ? ratio : 1;
	}
	for (size_t i = 0; i < fit->count; i++)
		sum += fit->y[i] == fit->y[i] ? density_exponent(h, 1, fit->y[i]) + constant : 0;
	return sum;
}

/* Returns a number far from 1 without its power of two, which is added to *twos. */
static double take_power(double number, long *twos)
{
	int power;

	if (number > 1e-100 && number < 1e100)
		return number;
	number = frexp(number, &power);
	*twos += power;
	return number;
}

/* Filters all values; returns the log-likelihood of the scaled values. */
static double run_forward(struct fit *fit)
{
	double sum = compute_ratios(fit), before = fit->hidden.start, product = 1;
	long twos = 0;

	for (size_t i = 0; i < fit->count; i++) {
		double ahead = predict_state(&fit->hidden, before);
		double total = ahead + (1 - ahead) * fit->ratio[i];

		before = clamp(ahead / total, CHANCE_LEAST, 1 - CHANCE_LEAST);
		fit->chance[i] = before;
		/* Both factors must be rescaled: a ratio may be as low as 1e-308 or high as 1e308.
		 */
		product = take_power(product * take_power(total, &twos), &twos);
	}
	return sum + log(product) + (double)twos * 0.69314718055994530942;
}

static void tally_add(struct tally *tally, double y, double chance)
{
	double weights[2] = { 1 - chance, chance };

	if (y != y)
		return;
	for (int s = 0; s < 2; s++) {
		tally->weight[s] += weights[s];
		tally->sum[s] += weights[s] * y;
		tally->squares[s] += weights[s] * y * y;
	}
}

/*
 * Goes from the last value to the first: computes the probabilities given all values and counts the
 * transitions.
 */
static void run_backward(const struct fit *fit, struct tally *tally)
{
	const struct hidden *h = &fit->hidden;
	double after = fit->chance[fit->count - 1];

	*tally = (struct tally){ 0 };
	tally_add(tally, fit->y[fit->count - 1], after);
	for (size_t i = fit->count - 1; i-- > 0;) {
		double here = fit->chance[i], ahead = predict_state(h, here);
		double to[2] = { (1 - after) / (1 - ahead), after / ahead };
		double up = (1 - here) * h->up * to[1], down = here * h->down * to[0];
		double now = here * (1 - h->down) * to[1] + down;

		tally->turned[0] += up;
		tally->turned[1] += down;
		tally->from[0] += 1 - now;
		tally->from[1] += now;
		after = clamp(now, CHANCE_LEAST, 1 - CHANCE_LEAST);
		tally_add(tally, fit->y[i], after);
	}
}

static void maximize(struct hidden *hidden, const struct tally *tally)
{
	double turns[2];

	for (int s = 0; s < 2; s++) {
		double mean, variance;

		turns[s] = tally->from[s] > 0 ? tally->turned[s] / tally->from[s] : 0.5;
		turns[s] = clamp(turns[s], TURN_LEAST, 1 - TURN_LEAST);
		if (tally->weight[s] < 1e-6)
			continue;
		mean = tally->sum[s] / tally->weight[s];
		variance = tally->squares[s] / tally->weight[s] - mean * mean;
		hidden->mean[s] = mean;
		hidden->deviation[s] = variance > FLOOR * FLOOR ? sqrt(variance) : FLOOR;
	}
	hidden->up = turns[0];
	hidden->down = turns[1];
	start_update(hidden);
}

static void run_rounds(struct fit *fit)
{
	double before = -INFINITY;

	for (fit->hidden.rounds = 0;; fit->hidden.rounds++) {
		struct tally tally;
		double now = run_forward(fit);

		fit->hidden.log_likelihood = now;
		if (fit->hidden.rounds >= ROUNDS ||
		    fabs(now - before) < 1e-8 * (fabs(now) + (double)fit->seen))
			return;
		before = now;
		run_backward(fit, &tally);
		maximize(&fit->hidden, &tally);
	}
}

/* Starts with the lower and the upper half of the values as states. */
static void start_from_halves(struct fit *fit, double *seen)
{
	size_t half = fit->seen / 2;

	vector_sort(seen, fit->seen);
	fit->hidden = (struct hidden){ .up = 0.1, .down = 0.1 };
	for (int s = 0; s < 2; s++) {
		size_t from = s ? half : 0, to = s ? fit->seen : half;
		double sum = 0, squares = 0, n = (double)(to - from);

		for (size_t i = from; i < to; i++) {
			sum += seen[i];
			squares += seen[i] * seen[i];
		}
		fit->hidden.mean[s] = sum / n;
		fit->hidden.deviation[s] =
			fmax(sqrt(fmax(squares / n - sum / n * (sum / n), 0)), 0.05);
	}
	start_update(&fit->hidden);
}

/* Starts with the mixture of two components, ignoring time. Returns false if there is none. */
static bool start_from_mixture(struct fit *fit, const double *seen)
{
	struct mixture_plan plan = { .family = MIXTURE_NORMAL, .count = 2 };
	struct mixture mixture;

	if (mixture_fit(&mixture, &plan, seen, fit->seen, NULL) < 0)
		return false;
	fit->hidden = (struct hidden){ .up = 0.05, .down = 0.1 };
	for (int s = 0; s < 2; s++) {
		fit->hidden.mean[s] = mixture.components[s].first;
		fit->hidden.deviation[s] = mixture.components[s].second;
	}
	start_update(&fit->hidden);
	return true;
}

/* Fits from both starts and keeps the better result. */
static void fit_from_both_starts(struct fit *fit, double *seen)
{
	struct hidden best = { .log_likelihood = -INFINITY };

	if (start_from_mixture(fit, seen)) {
		run_rounds(fit);
		best = fit->hidden;
	}
	start_from_halves(fit, seen);
	run_rounds(fit);
	if (fit->hidden.log_likelihood > best.log_likelihood)
		best = fit->hidden;
	fit->hidden = best;
}

/* State 1 is the one with the larger mean of the values themselves, as in mixture.h. */
static void sort_states(struct hidden *h)
{
	struct hidden old = *h;

	if (h->mean[0] + h->deviation[0] * h->deviation[0] / 2 <=
	    h->mean[1] + h->deviation[1] * h->deviation[1] / 2)
		return;
	for (int s = 0; s < 2; s++) {
		h->mean[s] = old.mean[1 - s];
		h->deviation[s] = old.deviation[1 - s];
	}
	h->up = old.down;
	h->down = old.up;
	start_update(h);
}

/* Writes the logarithms to y, and those of present values to seen as well. */
static int check_values(const double *values, size_t count, double *y, double *seen,
			size_t *seen_count, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (!isnan(values[i]) && !(values[i] > 0 && isfinite(values[i])))
			return err_set(
				err, EDOM,
				"value %zu is %g; a hidden Markov model needs positive values",
				i + 1, values[i]);
		y[i] = log(values[i]);
		if (!isnan(values[i]))
			seen[n++] = y[i];
	}
	if (n < SEEN_LEAST)
		return err_set(
			err, ENODATA,
			"%zu values are too few for a hidden Markov model; at least %d are needed",
			n, SEEN_LEAST);
	*seen_count = n;
	return 0;
}

int hidden_fit(struct hidden *hidden, const double *values, size_t count, struct err *err)
{
	AUTO_FREE double *y = xmalloc((count + 1) * sizeof(*y));
	AUTO_FREE double *seen = xmalloc((count + 1) * sizeof(*seen));
	AUTO_FREE double *chance = xmalloc((count + 1) * sizeof(*chance));
	AUTO_FREE double *ratio = xmalloc((count + 1) * sizeof(*ratio));
	struct fit fit = { .count = count, .y = y, .chance = chance, .ratio = ratio };
	double sum = 0, squares = 0, mean, deviation;
	int r = check_values(values, count, y, seen, &fit.seen, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < fit.seen; i++)
		sum += seen[i];
	mean = sum / (double)fit.seen;
	for (size_t i = 0; i < fit.seen; i++)
		squares += (seen[i] - mean) * (seen[i] - mean);
	deviation = sqrt(squares / (double)fit.seen);
	if (!(deviation > 1e-12))
		return err_set(err, EDOM,
			       "all values are equal, so they cannot have several states");
	for (size_t i = 0; i < count; i++)
		y[i] = (y[i] - mean) / deviation;
	for (size_t i = 0; i < fit.seen; i++)
		seen[i] = (seen[i] - mean) / deviation;
	fit_from_both_starts(&fit, seen);
	for (int s = 0; s < 2; s++) {
		fit.hidden.mean[s] = fit.hidden.mean[s] * deviation + mean;
		fit.hidden.deviation[s] *= deviation;
	}
	/*
	 * Convert to the likelihood of the values, because logarithm and scale change the density.
	 */
	fit.hidden.log_likelihood -= (log(deviation) + mean) * (double)fit.seen;
	sort_states(&fit.hidden);
	*hidden = fit.hidden;
	return 0;
}

double hidden_step(const struct hidden *hidden, double chance, double value)
{
	double ahead = predict_state(hidden, chance), y, apart, ratio;

	if (!(value > 0 && value <= 1.7976931348623157e308))
		return ahead;
	y = log(value);
	apart = density_exponent(hidden, 0, y) - density_exponent(hidden, 1, y);
	ratio = exponential(apart) * (hidden->deviation[1] / hidden->deviation[0]);
	return clamp(ahead / (ahead + (1 - ahead) * ratio), CHANCE_LEAST, 1 - CHANCE_LEAST);
}

double hidden_ahead(const struct hidden *hidden, double chance, size_t steps)
{
	double long_run = hidden->up / (hidden->up + hidden->down);

	return long_run + (chance - long_run) * pow(1 - hidden->up - hidden->down, (double)steps);
}
