/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which fit to take: starts, numbers of components; and what a fit says about a value. The rounds
 * themselves are in em.c.
 */
#include "learn/states/mixture.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/maths/random.h"
#include "learn/maths/vector.h"
#include "learn/states/em.h"

enum {
	VALUES_PER_COMPONENT = 10,
	ROUNDS = 500,
	/* Starts are compared on so many values; the better ones go on with all of them. */
	TRIAL_ROWS = 2048,
	TRIAL_ROUNDS = 60,
};

#define FLOOR 1e-3

/* How good a fit is. */
struct rank {
	bool degenerate;
	double log_likelihood;
};

static struct rank rank_of(const struct em *em)
{
	return (struct rank){ em->degenerate, em->log_likelihood };
}

/* A fit with a component on the floor has a likelihood that means nothing. */
static bool rank_above(struct rank rank, struct rank other)
{
	if (rank.degenerate != other.degenerate)
		return other.degenerate;
	return rank.log_likelihood > other.log_likelihood;
}

/* At the median; at the quantiles, where there are more than two components. */
static void cuts_by_quantile(const struct em *em, size_t count, double *cuts)
{
	AUTO_FREE double *sorted = xmalloc(em->rows * sizeof(*sorted));

	memcpy(sorted, em_key(em), em->rows * sizeof(*sorted));
	vector_sort(sorted, em->rows);
	for (size_t k = 1; k < count; k++)
		cuts[k - 1] = sorted[em->rows * k / count];
}

/* A value drawn with a chance that grows with the square of its distance from all centres. */
static double centre_draw(const struct em *em, const double *centres, size_t known,
			  struct random *random)
{
	const double *key = em_key(em);
	double sum = 0, reached = 0, aim;

	for (int pass = 0; pass < 2; pass++) {
		aim = pass ? random_real(random) * sum : 0;
		for (size_t i = 0; i < em->rows; i++) {
			double near = INFINITY;

			for (size_t k = 0; k < known; k++)
				near = fmin(near, (key[i] - centres[k]) * (key[i] - centres[k]));
			sum += pass ? 0 : near;
			reached += pass ? near : 0;
			if (pass && reached > aim)
				return key[i];
		}
	}
	return key[em->rows - 1];
}

/* As k-means++ begins: halfway between centres that were drawn far from each other. */
static void cuts_by_draw(const struct em *em, size_t count, struct random *random, double *cuts)
{
	double centres[MIXTURE_MAX];

	centres[0] = em_key(em)[random_below(random, em->rows)];
	for (size_t k = 1; k < count; k++)
		centres[k] = centre_draw(em, centres, k, random);
	vector_sort(centres, count);
	for (size_t k = 1; k < count; k++)
		cuts[k - 1] = (centres[k - 1] + centres[k]) / 2;
}

/*
 * Tries all starts on a sample of the values. *median is what the first led to, *best the best of
 * them; true when they are not the same.
 */
static bool starts_try(const struct mixture_plan *plan, size_t count, struct em *em,
		       struct mixture *median, struct mixture *best)
{
	size_t starts = count < 2 ? 1 : plan->starts ? plan->starts : 8;
	struct rank leader = { true, -INFINITY };
	struct random random;
	double cuts[MIXTURE_MAX];

	random_stream(&random, plan->seed, count);
	for (size_t s = 0; s < starts; s++) {
		if (s)
			cuts_by_draw(em, count, &random, cuts);
		else
			cuts_by_quantile(em, count, cuts);
		em_split(em, count, cuts);
		em_run(em, TRIAL_ROUNDS);
		if (!s)
			em_result(em, median);
		if (s && !rank_above(rank_of(em), leader))
			continue;
		leader = rank_of(em);
		em_result(em, best);
	}
	return fabs(best->log_likelihood - median->log_likelihood) > 1e-4 * (double)em->rows;
}

/* The values that starts are compared on: all, or a seeded sample in which each may come once. */
static size_t trial_values(const double *values, size_t count, uint64_t seed, double *out)
{
	struct random random;
	size_t taken = 0;

	random_stream(&random, seed, UINT64_MAX);
	for (size_t i = 0; i < count && taken < TRIAL_ROWS; i++) {
		if (random_below(&random, count - i) < TRIAL_ROWS - taken)
			out[taken++] = values[i];
	}
	return taken;
}

struct fitter {
	const struct mixture_plan *plan;
	struct em trial, all;
};

/* Returns whether the fit is good: not degenerate. */
static bool fitter_fit(struct fitter *fitter, size_t count, struct mixture *mixture)
{
	struct mixture median = { 0 }, best = { 0 };
	bool two = starts_try(fitter->plan, count, &fitter->trial, &median, &best);
	struct em *em = &fitter->all;
	struct rank rank;

	em_resume(em, &best);
	em_run(em, ROUNDS);
	em_result(em, mixture);
	rank = rank_of(em);
	if (!two)
		return !rank.degenerate;
	em_resume(em, &median);
	em_run(em, ROUNDS);
	if (!rank_above(rank_of(em), rank))
		return !rank.degenerate;
	em_result(em, mixture);
	return !em->degenerate;
}

/* From one component to as many as allowed; those that fell apart do not count. */
static void fitter_choose(struct fitter *fitter, size_t most, struct mixture *mixture)
{
	struct mixture next;

	fitter_fit(fitter, 1, mixture);
	for (size_t k = 2; k <= most; k++) {
		if (fitter_fit(fitter, k, &next) && next.bic < mixture->bic)
			*mixture = next;
	}
}

static int values_check(enum mixture_family family, const double *values, size_t count,
			size_t components, struct err *err)
{
	if (count < components * VALUES_PER_COMPONENT)
		return err_set(err, ENODATA,
			       "%zu values are too few for a mixture of %zu: it takes %zu", count,
			       components, components * VALUES_PER_COMPONENT);
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			return err_set(err, EDOM, "value %zu of a mixture is %g", i + 1, values[i]);
		if (family != MIXTURE_NORMAL && !(values[i] > 0))
			return err_set(err, EDOM,
				       "value %zu of a mixture is %g: only normal ones allow it",
				       i + 1, values[i]);
	}
	return 0;
}

static int plan_check(const struct mixture_plan *plan, struct err *err)
{
	if ((unsigned)plan->family > MIXTURE_WEIBULL)
		return err_set(err, EINVAL, "there is no family of mixtures number %d",
			       (int)plan->family);
	if (plan->count > MIXTURE_MAX || plan->most > MIXTURE_MAX)
		return err_set(err, EINVAL, "a mixture has %d components at most", MIXTURE_MAX);
	if (!(plan->floor >= 0 && plan->floor < 1))
		return err_set(err, EINVAL, "the floor of a mixture is a share of 1, not %g",
			       plan->floor);
	return 0;
}

int mixture_fit(struct mixture *mixture, const struct mixture_plan *plan, const double *values,
		size_t count, struct err *err)
{
	double sample[TRIAL_ROWS], floor = plan->floor > 0 ? plan->floor : FLOOR;
	size_t most = plan->most ? plan->most : 4;
	struct fitter fitter = { .plan = plan };
	int r = plan_check(plan, err);

	if (r < 0)
		return r;
	r = values_check(plan->family, values, count, plan->count ? plan->count : 1, err);
	if (r < 0)
		return r;
	r = em_init(&fitter.all, plan->family, floor, values, count, err);
	if (r < 0)
		return r;
	r = em_init(&fitter.trial, plan->family, floor, sample,
		    trial_values(values, count, plan->seed, sample), err);
	if (r < 0) {
		em_release(&fitter.all);
		return r;
	}
	if (most > count / VALUES_PER_COMPONENT)
		most = count / VALUES_PER_COMPONENT;
	if (plan->count)
		fitter_fit(&fitter, plan->count, mixture);
	else
		fitter_choose(&fitter, most, mixture);
	em_release(&fitter.all);
	em_release(&fitter.trial);
	return 0;
}

/* The logarithm of weight x density; never infinite, so that differences are numbers. */
static double component_density(const struct mixture *mixture, size_t k, double value,
				double logarithm)
{
	double a = mixture->components[k].first, b = mixture->components[k].second, result, z;

	switch (mixture->family) {
	case MIXTURE_GAMMA:
		result = (a - 1) * logarithm - value / b - a * log(b) - lgamma(a);
		break;
	case MIXTURE_WEIBULL:
		z = a * (logarithm - log(b));
		result = log(a) - logarithm + z - exp(fmin(z, 700));
		break;
	default:
		z = ((mixture->family == MIXTURE_NORMAL ? value : logarithm) - a) / b;
		result = -z * z / 2 - log(b) - 0.91893853320467274178;
		if (mixture->family == MIXTURE_LOGNORMAL)
			result -= logarithm;
	}
	if (!(mixture->components[k].weight > 0))
		return -DBL_MAX / 4;
	result += log(mixture->components[k].weight);
	return fmax(fmin(result, DBL_MAX / 4), -DBL_MAX / 4);
}

/* Logarithms of densities of all components; returns the largest. */
static double densities(const struct mixture *mixture, double value, double *out)
{
	double top = -INFINITY, logarithm = 0;

	/* What cannot be seen lies at the edge of what can. */
	if (mixture->family != MIXTURE_NORMAL) {
		value = fmax(value, DBL_MIN);
		logarithm = log(value);
	}
	for (size_t k = 0; k < mixture->count; k++) {
		out[k] = component_density(mixture, k, value, logarithm);
		top = fmax(top, out[k]);
	}
	return top;
}

double mixture_density(const struct mixture *mixture, double value)
{
	double logs[MIXTURE_MAX], sum = 0;

	if (mixture->family != MIXTURE_NORMAL && !(value > 0))
		return 0;
	densities(mixture, value, logs);
	for (size_t k = 0; k < mixture->count; k++)
		sum += exp(logs[k]);
	return sum;
}

double mixture_mean(const struct mixture *mixture, size_t component)
{
	double a = mixture->components[component].first, b = mixture->components[component].second;

	switch (mixture->family) {
	case MIXTURE_NORMAL:
		return a;
	case MIXTURE_GAMMA:
		return a * b;
	case MIXTURE_WEIBULL:
		return b * tgamma(1 + 1 / a);
	default:
		return exp(a + b * b / 2);
	}
}

void mixture_posterior(const struct mixture *mixture, double value, double *posterior)
{
	double top = densities(mixture, value, posterior), sum = 0;

	for (size_t k = 0; k < mixture->count; k++) {
		posterior[k] = exp(posterior[k] - top);
		sum += posterior[k];
	}
	for (size_t k = 0; k < mixture->count; k++)
		posterior[k] /= sum;
}

double mixture_draw(const struct mixture *mixture, const double *values, size_t count,
		    uint64_t seed, double *labels, double *posterior)
{
	double one[MIXTURE_MAX] = { 0 }, ceiling = 0;
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < count; i++) {
		double *chances = posterior ? posterior + i * mixture->count : one, top = 0;
		double draw = random_real(&random), reached = 0;
		size_t label = 0;

		mixture_posterior(mixture, values[i], chances);
		for (size_t k = 0; k < mixture->count; k++) {
			top = fmax(top, chances[k]);
			/* The last that has a chance, should rounding leave the sum below 1. */
			if (reached <= draw && chances[k] > 0)
				label = k;
			reached += chances[k];
		}
		labels[i] = (double)label;
		ceiling += top;
	}
	return count ? ceiling / (double)count : 0;
}

void mixture_save(const struct mixture *mixture, struct buf *buf)
{
	blob_put_u32(buf, mixture->family);
	blob_put_u32(buf, (uint32_t)mixture->count);
	for (size_t k = 0; k < mixture->count; k++) {
		blob_put_real(buf, mixture->components[k].weight);
		blob_put_real(buf, mixture->components[k].first);
		blob_put_real(buf, mixture->components[k].second);
	}
	blob_put_real(buf, mixture->log_likelihood);
	blob_put_real(buf, mixture->bic);
	blob_put_u64(buf, mixture->rows);
	blob_put_u64(buf, mixture->rounds);
}

static void component_load(struct mixture *mixture, size_t k, struct blob *blob)
{
	struct mixture_component *component = &mixture->components[k];
	bool shape = mixture->family == MIXTURE_GAMMA || mixture->family == MIXTURE_WEIBULL;

	component->weight = blob_take_real(blob);
	component->first = blob_take_real(blob);
	component->second = blob_take_real(blob);
	blob_expect(blob, component->weight >= 0 && component->weight <= 1 + 1e-9);
	blob_expect(blob, isfinite(component->first) && (!shape || component->first > 0));
	blob_expect(blob, isfinite(component->second) && component->second > 0);
}

int mixture_load(struct mixture *mixture, struct blob *blob, struct err *err)
{
	struct mixture read = { .family = blob_take_u32(blob), .count = blob_take_u32(blob) };
	double weights = 0;

	if (!blob_expect(blob, (unsigned)read.family <= MIXTURE_WEIBULL && read.count >= 1 &&
				       read.count <= MIXTURE_MAX))
		return err_set(err, EBADMSG, "the mixture is damaged");
	for (size_t k = 0; k < read.count; k++) {
		component_load(&read, k, blob);
		weights += read.components[k].weight;
	}
	read.log_likelihood = blob_take_real(blob);
	read.bic = blob_take_real(blob);
	read.rows = blob_take_u64(blob);
	read.rounds = blob_take_u64(blob);
	blob_expect(blob, fabs(weights - 1) < 1e-6);
	if (!blob_ok(blob))
		return err_set(err, EBADMSG, "the mixture is damaged");
	*mixture = read;
	return 0;
}
