/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses a fit among starts and numbers of components, and evaluates a fit at given values. em.c
 * runs the EM rounds.
 * Papers: WAN-20.
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
#include "learn/math/random.h"
#include "learn/math/vector.h"
#include "learn/states/em.h"

enum {
	VALUES_PER_COMPONENT = 10,
	ROUNDS = 500,
	/*
	 * Starts are compared on this number of values; the better ones continue with all values.
	 */
	TRIAL_ROWS = 2048,
	TRIAL_ROUNDS = 60,
};

#define FLOOR 1e-3

/* The quality of a fit. */
struct rank {
	bool degenerate;
	double log_likelihood;
};

static struct rank rank_fit(const struct em *em)
{
	return (struct rank){ em->degenerate, em->log_likelihood };
}

/* The likelihood of a fit with a component at the minimum deviation is meaningless. */
static bool is_better_rank(struct rank rank, struct rank other)
{
	if (rank.degenerate != other.degenerate)
		return other.degenerate;
	return rank.log_likelihood > other.log_likelihood;
}

/* Cuts at the median, or at quantiles for more than two components. */
static void cut_at_quantiles(const struct em *em, size_t count, double *cuts)
{
	AUTO_FREE double *sorted = xmalloc(em->rows * sizeof(*sorted));

	memcpy(sorted, em_key(em), em->rows * sizeof(*sorted));
	vector_sort(sorted, em->rows);
	for (size_t k = 1; k < count; k++)
		cuts[k - 1] = sorted[em->rows * k / count];
}

/* Draws a value with a probability that grows with the square of its distance from all centers. */
static double draw_center(const struct em *em, const double *centers, size_t known,
			  struct random *random)
{
	const double *key = em_key(em);
	double sum = 0, reached = 0, aim;

	for (int pass = 0; pass < 2; pass++) {
		aim = pass ? random_real(random) * sum : 0;
		for (size_t i = 0; i < em->rows; i++) {
			double near = INFINITY;

			for (size_t k = 0; k < known; k++)
				near = fmin(near, (key[i] - centers[k]) * (key[i] - centers[k]));
			sum += pass ? 0 : near;
			reached += pass ? near : 0;
			if (pass && reached > aim)
				return key[i];
		}
	}
	return key[em->rows - 1];
}

/* Starts like k-means++: cuts halfway between centers that were drawn far from each other. */
static void cut_at_random(const struct em *em, size_t count, struct random *random, double *cuts)
{
	double centers[MIXTURE_MAX];

	centers[0] = em_key(em)[random_below(random, em->rows)];
	for (size_t k = 1; k < count; k++)
		centers[k] = draw_center(em, centers, k, random);
	vector_sort(centers, count);
	for (size_t k = 1; k < count; k++)
		cuts[k - 1] = (centers[k - 1] + centers[k]) / 2;
}

static void sort_components(struct mixture *mixture)
{
	for (size_t i = 1; i < mixture->count; i++) {
		for (size_t j = i; j && mixture_mean(mixture, j) < mixture_mean(mixture, j - 1);
		     j--) {
			struct mixture_component kept = mixture->components[j];

			mixture->components[j] = mixture->components[j - 1];
			mixture->components[j - 1] = kept;
		}
	}
}

static void read_result(const struct em *em, struct mixture *mixture)
{
	em_result(em, mixture);
	sort_components(mixture);
}

/*
 * Tries all starts on a sample of the values. *median is the result of the first start and *best
 * the best of all; returns true if they differ.
 */
static bool try_starts(const struct mixture_plan *plan, size_t count, struct em *em,
		       struct mixture *median, struct mixture *best)
{
	size_t starts = count < 2 ? 1 : plan->starts ? plan->starts : 8;
	struct rank leader = { true, -INFINITY };
	struct random random;
	double cuts[MIXTURE_MAX];

	random_stream(&random, plan->seed, count);
	for (size_t s = 0; s < starts; s++) {
		if (s)
			cut_at_random(em, count, &random, cuts);
		else
			cut_at_quantiles(em, count, cuts);
		em_split(em, count, cuts);
		em_run(em, TRIAL_ROUNDS);
		if (!s)
			read_result(em, median);
		if (s && !is_better_rank(rank_fit(em), leader))
			continue;
		leader = rank_fit(em);
		read_result(em, best);
	}
	return fabs(best->log_likelihood - median->log_likelihood) > 1e-4 * (double)em->rows;
}

/* Copies the values on which starts are compared: all, or a seeded sample without replacement. */
static size_t copy_trial_values(const double *values, size_t count, uint64_t seed, double *out)
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

/* Returns whether the fit is not degenerate. */
static bool fitter_fit(struct fitter *fitter, size_t count, struct mixture *mixture)
{
	struct mixture median = { 0 }, best = { 0 };
	bool two = try_starts(fitter->plan, count, &fitter->trial, &median, &best);
	struct em *em = &fitter->all;
	struct rank rank;

	em_resume(em, &best);
	em_run(em, ROUNDS);
	read_result(em, mixture);
	rank = rank_fit(em);
	if (!two)
		return !rank.degenerate;
	em_resume(em, &median);
	em_run(em, ROUNDS);
	if (!is_better_rank(rank_fit(em), rank))
		return !rank.degenerate;
	read_result(em, mixture);
	return !em->degenerate;
}

/* Tries one to `most` components; degenerate fits do not count. */
static void fitter_choose(struct fitter *fitter, size_t most, struct mixture *mixture)
{
	struct mixture next;

	fitter_fit(fitter, 1, mixture);
	for (size_t k = 2; k <= most; k++) {
		if (fitter_fit(fitter, k, &next) && next.bic < mixture->bic)
			*mixture = next;
	}
}

static int check_values(enum mixture_family family, const double *values, size_t count,
			size_t components, struct err *err)
{
	if (count < components * VALUES_PER_COMPONENT)
		return err_set(err, ENODATA,
			       "%zu values are too few for a mixture of %zu components; at least "
			       "%zu are needed",
			       count, components, components * VALUES_PER_COMPONENT);
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			return err_set(err, EDOM,
				       "value %zu of a mixture is %g, which is not finite", i + 1,
				       values[i]);
		if (family != MIXTURE_NORMAL && !(values[i] > 0))
			return err_set(err, EDOM,
				       "value %zu of a mixture is %g; only normal mixtures allow "
				       "values <= 0",
				       i + 1, values[i]);
	}
	return 0;
}

static int check_plan(const struct mixture_plan *plan, struct err *err)
{
	if ((unsigned)plan->family > MIXTURE_WEIBULL)
		return err_set(err, EINVAL, "unknown mixture family %d", (int)plan->family);
	if (plan->count > MIXTURE_MAX || plan->most > MIXTURE_MAX)
		return err_set(err, EINVAL, "a mixture has at most %d components", MIXTURE_MAX);
	if (!(plan->floor >= 0 && plan->floor < 1))
		return err_set(err, EINVAL,
			       "the minimum deviation of a mixture must be between 0 and 1, not %g",
			       plan->floor);
	return 0;
}

int mixture_fit(struct mixture *mixture, const struct mixture_plan *plan, const double *values,
		size_t count, struct err *err)
{
	double sample[TRIAL_ROWS], floor = plan->floor > 0 ? plan->floor : FLOOR;
	size_t most = plan->most ? plan->most : 4;
	struct fitter fitter = { .plan = plan };
	int r = check_plan(plan, err);

	if (r < 0)
		return r;
	r = check_values(plan->family, values, count, plan->count ? plan->count : 1, err);
	if (r < 0)
		return r;
	r = em_init(&fitter.all, plan->family, floor, values, count, err);
	if (r < 0)
		return r;
	r = em_init(&fitter.trial, plan->family, floor, sample,
		    copy_trial_values(values, count, plan->seed, sample), err);
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

/* The logarithm of weight x density; always finite, so that differences are numbers. */
static double log_component_density(const struct mixture *mixture, size_t k, double value,
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

/* Computes the logarithms of the densities of all components; returns the largest. */
static double log_densities(const struct mixture *mixture, double value, double *out)
{
	double top = -INFINITY, logarithm = 0;

	/* Values outside of the domain are moved to its edge. */
	if (mixture->family != MIXTURE_NORMAL) {
		value = fmax(value, DBL_MIN);
		logarithm = log(value);
	}
	for (size_t k = 0; k < mixture->count; k++) {
		out[k] = log_component_density(mixture, k, value, logarithm);
		top = fmax(top, out[k]);
	}
	return top;
}

double mixture_density(const struct mixture *mixture, double value)
{
	double logs[MIXTURE_MAX], sum = 0;

	if (mixture->family != MIXTURE_NORMAL && !(value > 0))
		return 0;
	log_densities(mixture, value, logs);
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
	double top = log_densities(mixture, value, posterior), sum = 0;

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
			/*
			 * The last component with a positive probability, in case rounding leaves
			 * the sum below 1.
			 */
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
