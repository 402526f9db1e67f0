/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Except for Weibull, the logarithm of a density is linear in two numbers per value, which do not
 * change: the expectation step is multiplications, one exponential per component, and three sums.
 * It works on blocks that fit into the first-level cache, and each step is a loop that the compiler
 * can vectorize. Weibull's shape has no such sums; its shares are stored, and Newton's method finds
 * its shape.
 */
#include "learn/states/em.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "learn/math/exponential.h"

/*
 * Densities relative to the largest sum to at most MIXTURE_MAX, so that the product over a block
 * stays below 2^768 and one logarithm per block suffices.
 */
enum { BLOCK = 256 };

typedef double pair __attribute__((vector_size(16)));

/* Sums of one component: its weight, and its shares times either number of each value. */
struct sums {
	double weight, first, second;
};

static size_t padded_count(size_t rows)
{
	return (rows + BLOCK - 1) / BLOCK * BLOCK;
}

static bool uses_logarithms(enum mixture_family family)
{
	return family == MIXTURE_LOGNORMAL || family == MIXTURE_WEIBULL;
}

static void compute_moments(const double *values, size_t count, double *mean, double *deviation)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	*mean = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - *mean) * (values[i] - *mean);
	*deviation = sqrt(squares / (double)count);
}

/* Scales the values in `first` and fills in `second`. */
static void scale_series(struct em *em)
{
	double rows = (double)em->rows;

	for (size_t i = 0; i < em->rows; i++)
		em->first[i] = (em->first[i] - em->shift) / em->unit;
	if (em->family == MIXTURE_WEIBULL) {
		/*
		 * ln v - shift has the density of ln v, so that only the sum of logarithms remains.
		 */
		em->constant = -em->shift * rows;
		return;
	}
	em->second = xcalloc(padded_count(em->rows), sizeof(*em->second));
	for (size_t i = 0; i < em->rows; i++)
		em->second[i] = em->family == MIXTURE_GAMMA ? log(em->first[i])
							    : em->first[i] * em->first[i];
	em->constant = -log(em->unit) * rows;
	if (em->family == MIXTURE_LOGNORMAL)
		em->constant -= em->shift * rows;
}

int em_init(struct em *em, enum mixture_family family, double least, const double *values,
	    size_t count, struct err *err)
{
	double mean, deviation;

	compute_moments(values, count, &mean, &deviation);
	if (!(deviation > 1e-12 * fabs(mean)) || !isfinite(deviation))
		return err_set(
			err, EDOM,
			"all %zu values are nearly equal (%g), so they cannot have several states",
			count, mean);
	*em = (struct em){ .family = family, .rows = count, .least = least, .unit = 1 };
	em->spread = deviation / fabs(mean);
	em->first = xcalloc(padded_count(count), sizeof(*em->first));
	for (size_t i = 0; i < count; i++)
		em->first[i] = uses_logarithms(family) ? log(values[i]) : values[i];
	if (uses_logarithms(family))
		compute_moments(em->first, count, &mean, &deviation);
	if (family == MIXTURE_GAMMA) {
		em->unit = mean;
	} else {
		em->shift = mean;
		em->unit = family == MIXTURE_WEIBULL ? 1 : deviation;
	}
	scale_series(em);
	return 0;
}

void em_release(struct em *em)
{
	free(em->first);
	free(em->second);
	free(em->shares);
	*em = (struct em){ 0 };
}

/* For x > 0: recurrence up to the range in which the asymptotic series is accurate to 1e-15. */
static double digamma(double x)
{
	double sum = 0, inverse;

	while (x < 10) {
		sum -= 1 / x;
		x += 1;
	}
	inverse = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       inverse * (1.0 / 12 - inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse / 240)));
}

static double trigamma(double x)
{
	double sum = 0, inverse;

	while (x < 10) {
		sum += 1 / (x * x);
		x += 1;
	}
	inverse = 1 / (x * x);
	return sum + 1 / x + inverse / 2 +
	       inverse / x * (1.0 / 6 - inverse * (1.0 / 30 - inverse * (1.0 / 42 - inverse / 30)));
}

/*
 * Solves ln k - digamma(k) = gap. Minka's approximation is within 1.5 %; Newton's method refines
 * it.
 */
static double gamma_shape(double gap)
{
	double shape = (3 - gap + sqrt((gap - 3) * (gap - 3) + 24 * gap)) / (12 * gap);

	for (int i = 0; i < 20; i++) {
		double error = log(shape) - digamma(shape) - gap;
		double step = error / (1 / shape - trigamma(shape));
		double next = shape - step > shape / 4 ? shape - step : shape / 4;

		if (fabs(next - shape) <= 1e-12 * shape)
			return next;
		shape = next;
	}
	return shape;
}

static void maximize_normal(struct em *em, struct mixture_component *component,
			    const struct sums *sums)
{
	double mean = sums->first / sums->weight;
	double variance = sums->second / sums->weight - mean * mean;

	em->degenerate |= !(variance > em->least * em->least);
	component->first = mean;
	component->second = variance > em->least * em->least ? sqrt(variance) : em->least;
}

static void maximize_gamma(struct em *em, struct mixture_component *component,
			   const struct sums *sums)
{
	double mean = sums->first / sums->weight;
	double gap = log(mean) - sums->second / sums->weight;
	/* The deviation is the mean divided by the square root of the shape. */
	double most = pow(mean / (em->least * em->spread), 2);
	double shape = gap > 0 ? gamma_shape(gap) : most;

	em->degenerate |= !(shape < most);
	component->first = shape < most ? shape : most;
	component->second = mean / component->first;
}

/* Computes the sums of share x e^(shape (v - at)) x v^0, v^1, v^2 over all values. */
static void weibull_sums(const struct em *em, const double *share, double shape, double at,
			 double out[3])
{
	out[0] = out[1] = out[2] = 0;
	for (size_t i = 0; i < em->rows; i++) {
		double v = em->first[i], part = share[i] * exponential(shape * (v - at));

		out[0] += part;
		out[1] += part * v;
		out[2] += part * v * v;
	}
}

static void maximize_weibull(struct em *em, struct mixture_component *component,
			     const struct sums *sums, const double *share)
{
	double mean = sums->first / sums->weight, at = component->second, s[3];
	double shape = component->first, most;

	/*
	 * The equation of the shape is monotonic, so that Newton's method from the left converges.
	 */
	for (int i = 0; i < 20; i++) {
		double value, slope, next;

		weibull_sums(em, share, shape, at, s);
		value = s[1] / s[0] - 1 / shape - mean;
		slope = s[2] / s[0] - s[1] / s[0] * (s[1] / s[0]) + 1 / (shape * shape);
		next = shape - value / slope;
		next = next > shape / 2 ? next : shape / 2;
		next = next < shape * 2 ? next : shape * 2;
		if (fabs(next - shape) <= 1e-9 * shape)
			break;
		shape = next;
	}
	/* For large shapes, deviation / mean is close to pi / sqrt(6) / shape. */
	most = 1.2825 / (em->least * em->spread);
	em->degenerate |= !(shape < most);
	component->first = shape < most ? shape : most;
	weibull_sums(em, share, component->first, at, s);
	component->second = at + log(s[0] / sums->weight) / component->first;
}

static void maximize(struct em *em, const struct sums *sums)
{
	em->degenerate = false;
	for (size_t k = 0; k < em->count; k++) {
		struct mixture_component *component = &em->components[k];

		component->weight = sums[k].weight / (double)em->rows;
		em->degenerate |= sums[k].weight < 2;
		if (sums[k].weight < 1e-6)
			continue; /* no value belongs to it: it stays unchanged with weight 0 */
		if (em->family == MIXTURE_GAMMA)
			maximize_gamma(em, component, &sums[k]);
		else if (em->family == MIXTURE_WEIBULL)
			maximize_weibull(em, component, &sums[k],
					 em->shares + k * padded_count(em->rows));
		else
			maximize_normal(em, component, &sums[k]);
	}
}

/* Writes the density as c[0] + c[1] first + c[2] second; Weibull's has another form, see below. */
static void component_coefficients(const struct em *em, const struct mixture_component *component,
				   double c[3])
{
	double a = component->first, b = component->second, weight = component->weight;

	c[0] = weight > 0 ? log(weight) : -1e300;
	if (em->family == MIXTURE_GAMMA) {
		c[0] -= a * log(b) + lgamma(a);
		c[1] = -1 / b;
		c[2] = a - 1;
	} else if (em->family == MIXTURE_WEIBULL) {
		c[0] += log(a) - a * b;
		c[1] = a;
		c[2] = b;
	} else {
		c[0] -= a * a / (2 * b * b) + log(b) + 0.91893853320467274178;
		c[1] = a / (b * b);
		c[2] = -1 / (2 * b * b);
	}
}

/* Computes the logarithm of weight x density for a block of values. */
static void component_densities(const struct em *em, const double c[3], size_t at,
				double *restrict out)
{
	const double *restrict first = em->first + at;

	if (em->family == MIXTURE_WEIBULL) {
		for (size_t i = 0; i < BLOCK; i++)
			out[i] = c[0] + c[1] * first[i] - exponential(c[1] * (first[i] - c[2]));
	} else {
		const double *restrict second = em->second + at;

		for (size_t i = 0; i < BLOCK; i++)
			out[i] = c[0] + c[1] * first[i] + c[2] * second[i];
	}
}

static double block_dot(const double *x, const double *y)
{
	pair sum[4] = { 0 };

	for (size_t i = 0; i < BLOCK; i += 8) {
		for (size_t j = 0; j < 4; j++) {
			pair a, b;

			memcpy(&a, x + i + 2 * j, sizeof(a));
			memcpy(&b, y + i + 2 * j, sizeof(b));
			sum[j] += a * b;
		}
	}
	sum[0] += sum[1] + (sum[2] + sum[3]);
	return sum[0][0] + sum[0][1];
}

/* Turns logarithms of densities into shares; returns the log-likelihood of the block. */
static double share_block(double (*density)[BLOCK], size_t count, size_t rows)
{
	double top[BLOCK], total[BLOCK], product = 1, sum = 0;

	memcpy(top, density[0], sizeof(top));
	for (size_t k = 1; k < count; k++) {
		for (size_t i = 0; i < BLOCK; i++)
			top[i] = density[k][i] > top[i] ? density[k][i] : top[i];
	}
	memset(total, 0, sizeof(total));
	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < BLOCK; i++) {
			density[k][i] = exponential(density[k][i] - top[i]);
			total[i] += density[k][i];
		}
	}
	for (size_t i = 0; i < rows; i++) {
		product *= total[i];
		sum += top[i];
	}
	for (size_t i = 0; i < BLOCK; i++)
		total[i] = i < rows ? 1 / total[i] : 0;
	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < BLOCK; i++)
			density[k][i] *= total[i];
	}
	return sum + log(product);
}

/* Fills in sums (and shares, if they are stored); returns the log-likelihood on the scale. */
static double run_expectation(struct em *em, struct sums *sums)
{
	double density[MIXTURE_MAX][BLOCK], lines[MIXTURE_MAX][3], ones[BLOCK], result = 0;

	for (size_t i = 0; i < BLOCK; i++)
		ones[i] = 1;
	for (size_t k = 0; k < em->count; k++) {
		component_coefficients(em, &em->components[k], lines[k]);
		sums[k] = (struct sums){ 0 };
	}
	for (size_t at = 0; at < em->rows; at += BLOCK) {
		size_t rows = em->rows - at < BLOCK ? em->rows - at : BLOCK;

		for (size_t k = 0; k < em->count; k++)
			component_densities(em, lines[k], at, density[k]);
		result += share_block(density, em->count, rows);
		for (size_t k = 0; k < em->count; k++) {
			sums[k].weight += block_dot(density[k], ones);
			sums[k].first += block_dot(density[k], em->first + at);
			if (em->second)
				sums[k].second += block_dot(density[k], em->second + at);
			if (em->shares)
				memcpy(em->shares + k * padded_count(em->rows) + at, density[k],
				       sizeof(density[k]));
		}
	}
	return result;
}

static void reserve_shares(struct em *em)
{
	if (em->family == MIXTURE_WEIBULL && !em->shares)
		em->shares = xcalloc(MIXTURE_MAX * padded_count(em->rows), sizeof(*em->shares));
}

void em_split(struct em *em, size_t count, const double *cuts)
{
	const double *key = em_key(em);
	struct sums sums[MIXTURE_MAX] = { 0 };

	reserve_shares(em);
	em->count = count;
	em->rounds = 0;
	for (size_t i = 0; i < em->rows; i++) {
		size_t k = 0;

		while (k + 1 < count && key[i] >= cuts[k])
			k++;
		sums[k].weight++;
		sums[k].first += em->first[i];
		sums[k].second += em->second ? em->second[i] : 0;
		for (size_t j = 0; em->shares && j < count; j++)
			em->shares[j * padded_count(em->rows) + i] = j == k;
	}
	for (size_t k = 0; k < count; k++)
		em->components[k] = (struct mixture_component){ .first = 1, .second = 1 };
	/* The initial shape of Weibull is 1.28 / deviation of ln v. */
	for (size_t k = 0; k < count && em->family == MIXTURE_WEIBULL; k++) {
		double at = sums[k].weight > 0 ? sums[k].first / sums[k].weight : 0;

		em->components[k] =
			(struct mixture_component){ .first = 1.28 / em->spread, .second = at };
	}
	maximize(em, sums);
}

void em_resume(struct em *em, const struct mixture *mixture)
{
	reserve_shares(em);
	em->count = mixture->count;
	em->rounds = 0;
	em->degenerate = false;
	for (size_t k = 0; k < em->count; k++) {
		struct mixture_component component = mixture->components[k];

		if (em->family == MIXTURE_GAMMA) {
			component.second /= em->unit;
		} else if (em->family == MIXTURE_WEIBULL) {
			component.second = log(component.second) - em->shift;
		} else {
			component.first = (component.first - em->shift) / em->unit;
			component.second /= em->unit;
		}
		em->components[k] = component;
	}
}

/* Represents components by unbounded numbers: positive parameters by their logarithms. */
static void components_pack(const struct em *em, double *out)
{
	bool shape = em->family == MIXTURE_GAMMA || em->family == MIXTURE_WEIBULL;

	for (size_t k = 0; k < em->count; k++) {
		const struct mixture_component *component = &em->components[k];

		out[3 * k] = log(component->weight);
		out[3 * k + 1] = shape ? log(component->first) : component->first;
		out[3 * k + 2] =
			em->family == MIXTURE_WEIBULL ? component->second : log(component->second);
	}
}

static void components_unpack(struct em *em, const double *in)
{
	bool shape = em->family == MIXTURE_GAMMA || em->family == MIXTURE_WEIBULL;
	double weights = 0;

	for (size_t k = 0; k < em->count; k++) {
		struct mixture_component *component = &em->components[k];

		component->weight = exp(in[3 * k]);
		component->first = shape ? exp(in[3 * k + 1]) : in[3 * k + 1];
		component->second =
			em->family == MIXTURE_WEIBULL ? in[3 * k + 2] : exp(in[3 * k + 2]);
		weights += component->weight;
	}
	for (size_t k = 0; k < em->count; k++)
		em->components[k].weight /= weights;
}

/*
 * Extrapolates two steps as the beginning of a geometric series (SQUAREM, Varadhan and Roland
 * 2008). Returns false if nothing can be gained or a component is about to vanish.
 */
static bool extrapolate(const struct em *em, const double *from, const double *one,
			const double *two, double *out)
{
	double step = 0, bend = 0, length;

	for (size_t i = 0; i < 3 * em->count; i++) {
		double r = one[i] - from[i], v = two[i] - one[i] - r;

		step += r * r;
		bend += v * v;
	}
	length = sqrt(step / bend);
	if (!(length > 1) || !isfinite(length))
		return false;
	for (size_t i = 0; i < 3 * em->count; i++) {
		double r = one[i] - from[i], v = two[i] - one[i] - r;

		out[i] = from[i] + 2 * length * r + length * length * v;
	}
	return true;
}

void em_run(struct em *em, size_t rounds)
{
	double from[3 * MIXTURE_MAX], one[3 * MIXTURE_MAX], two[3 * MIXTURE_MAX] = { 0 };
	double far[3 * MIXTURE_MAX] = { 0 }, now, next;
	struct sums sums[MIXTURE_MAX];
	size_t last = em->rounds + rounds;

	now = run_expectation(em, sums);
	for (;;) {
		components_pack(em, from);
		maximize(em, sums);
		next = run_expectation(em, sums);
		em->log_likelihood = next + em->constant;
		/*
		 * The tolerance is per value, so that a likelihood near 1 does not make the loop
		 * endless.
		 */
		if (++em->rounds >= last ||
		    fabs(next - now) < 1e-8 * (fabs(em->log_likelihood) + (double)em->rows))
			return;
		components_pack(em, one);
		maximize(em, sums);
		components_pack(em, two);
		em->rounds++;
		now = -INFINITY;
		if (extrapolate(em, from, one, two, far)) {
			components_unpack(em, far);
			now = run_expectation(em, sums);
			em->rounds++;
		}
		/* Undo an extrapolation that went too far. */
		if (!(now >= next && isfinite(now))) {
			components_unpack(em, two);
			now = run_expectation(em, sums);
		}
	}
}

static void component_unscale(const struct em *em, struct mixture_component *component)
{
	if (em->family == MIXTURE_GAMMA) {
		component->second *= em->unit;
	} else if (em->family == MIXTURE_WEIBULL) {
		component->second = exp(component->second + em->shift);
	} else {
		component->first = component->first * em->unit + em->shift;
		component->second *= em->unit;
	}
}

void em_result(const struct em *em, struct mixture *mixture)
{
	*mixture = (struct mixture){ .family = em->family,
				     .count = em->count,
				     .log_likelihood = em->log_likelihood,
				     .rows = em->rows,
				     .rounds = em->rounds };
	memcpy(mixture->components, em->components, em->count * sizeof(*em->components));
	for (size_t k = 0; k < mixture->count; k++)
		component_unscale(em, &mixture->components[k]);
	mixture->bic = (double)(3 * em->count - 1) * log((double)em->rows) - 2 * em->log_likelihood;
}
