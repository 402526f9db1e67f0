/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-17, WAN-20.
 */
#include "learn/states/mixture.h"

#include <errno.h>
#include <math.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "learn/file/blob.h"
#include "learn/math/random.h"
#include "papers.h"

static struct err err;

#define NEAR(actual, expected, off) CHECK(fabs((actual) - (expected)) <= (off))

/*
 * From a reference EM for two lognormal components (20,000 iterations, tolerance 1e-15) on these
 * values.
 */
static const double small[] = {
	1.70, 1.72, 1.75, 1.78, 1.79, 1.80, 1.81, 1.82, 1.83, 1.84, 1.85, 1.86,
	1.87, 1.88, 1.90, 1.91, 1.93, 1.95, 1.98, 2.02, 2.20, 2.31, 2.38, 2.45,
	2.52, 2.60, 2.66, 2.75, 2.83, 2.95, 3.10, 3.25, 3.40, 3.80,
};
enum { SMALL = sizeof(small) / sizeof(small[0]) };

struct state {
	double weight, mu, s;
};

static void draw(double *out, size_t count, const struct state *states, size_t n, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < count; i++) {
		double u = random_real(&random);
		size_t k = 0;

		while (k + 1 < n && u >= states[k].weight)
			u -= states[k++].weight;
		out[i] = exp(states[k].mu + states[k].s * random_normal(&random));
	}
}

static void small_series_gives_the_reference_numbers(void)
{
	struct mixture_plan plan = { .count = 2 };
	struct mixture mixture;
	double posterior[2];
	static const struct {
		double value, busy;
	} known[] = { { 1.70, 0.024013588294404847 }, { 1.85, 0.014227415451874115 },
		      { 2.02, 0.28280106099004143 },  { 2.20, 0.9976443506491077 },
		      { 2.31, 0.999991747750951 },    { 3.80, 1 } };

	REQUIRE(mixture_fit(&mixture, &plan, small, SMALL, &err) == 0);
	CHECK_INT(mixture.count, 2);
	NEAR(mixture.components[0].weight, 0.5658971241807654, 2e-5);
	NEAR(mixture.components[0].first, 0.6121476665209221, 2e-5);
	NEAR(mixture.components[0].second, 0.04284337553421925, 2e-5);
	NEAR(mixture.components[1].first, 0.9993822288856605, 2e-5);
	NEAR(mixture.components[1].second, 0.16822672806736774, 2e-5);
	NEAR(mixture.log_likelihood, -8.433337278480675, 1e-6);
	NEAR(mixture.bic, 2 * 8.433337278480675 + 5 * log(SMALL), 2e-6);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		mixture_posterior(&mixture, known[i].value, posterior);
		NEAR(posterior[1], known[i].busy, 1e-4);
		NEAR(posterior[0] + posterior[1], 1, 1e-15);
	}
}

/* Three seeds of either generator. */
static void generated_states_are_recovered(void)
{
	enum { N = 20000 };
	const struct state systems[2][2] = { { { 0.7, log(1.85), 0.06 }, { 0.3, log(2.7), 0.20 } },
					     { { 0.65, log(3.2), 0.04 },
					       { 0.35, log(4.0), 0.10 } } };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));
	double means = 0, weights = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		const struct state *states = systems[seed % 2];
		struct mixture_plan plan = { .count = 2, .seed = seed };
		struct mixture mixture;

		draw(values, N, states, 2, seed);
		REQUIRE(mixture_fit(&mixture, &plan, values, N, &err) == 0);
		for (size_t k = 0; k < 2; k++) {
			double mean = exp(states[k].mu + states[k].s * states[k].s / 2);

			means = fmax(means, fabs(mixture_mean(&mixture, k) / mean - 1));
			weights = fmax(weights,
				       fabs(mixture.components[k].weight - states[k].weight));
		}
	}
	PAPER_HOLDS("WAN-AC-5", means <= 0.02 && weights <= 0.03,
		    "6 seeds: means within %.2f %%, weights within %.4f", 100 * means, weights);
}

/* By how much the log-likelihood of a log-normal mixture exceeds the best of the other families. */
static double lognormal_lead(const double *values, size_t count)
{
	struct mixture lognormal, other;
	double best = -INFINITY;

	REQUIRE(mixture_fit(&lognormal, &(struct mixture_plan){ .count = 2 }, values, count,
			    &err) == 0);
	for (int family = MIXTURE_NORMAL; family <= MIXTURE_WEIBULL; family++) {
		struct mixture_plan plan = { .family = (enum mixture_family)family, .count = 2 };

		REQUIRE(mixture_fit(&other, &plan, values, count, &err) == 0);
		CHECK(isfinite(other.log_likelihood));
		best = fmax(best, other.log_likelihood);
	}
	return lognormal.log_likelihood - best;
}

/* Two states whose times are log-logistic: a tail longer than that of every family. */
static void draw_log_logistic(double *out, size_t count, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < count; i++) {
		bool busy = random_real(&random) < 0.3;
		double u = fmin(fmax(random_real(&random), 1e-12), 1 - 1e-12);

		out[i] = (busy ? 4 : 1.85) * pow(u / (1 - u), busy ? 1 / 4.0 : 1 / 12.0);
	}
}

/* Two states with gamma-distributed times (shape 4 and 9), which have no long tail. */
static void draw_gamma(double *out, size_t count, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	for (size_t i = 0; i < count; i++) {
		bool busy = random_real(&random) < 0.3;

		out[i] = 0;
		for (int k = 0; k < (busy ? 9 : 4); k++)
			out[i] -= (busy ? 1.0 : 0.3) * log(1 - random_real(&random));
	}
}

/* Also where the data are not log-normal, and not where the tail is short. */
static void lognormal_fits_long_tails_best(void)
{
	enum { N = 1500 };
	const struct state states[] = { { 0.7, log(1.85), 0.15 }, { 0.3, log(4), 0.45 } };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));
	double same, longer, shorter;

	draw(values, N, states, 2, 5);
	same = lognormal_lead(values, N);
	draw_log_logistic(values, N, 5);
	longer = lognormal_lead(values, N);
	draw_gamma(values, N, 5);
	shorter = lognormal_lead(values, N);
	PAPER_HOLDS("WAN-AC-6", same > 10 && longer > 10,
		    "ahead by %.0f on log-normal, %.0f on log-logistic data (log-likelihood)", same,
		    longer);
	CHECK(shorter < 0);
}

/*
 * One component is a maximum-likelihood fit: scipy.stats.{norm,gamma,weibull_min,lognorm}.fit
 * (floc=0) of the small series and the sum of their logpdf.
 */
static void single_components_agree_with_scipy(void)
{
	static const struct {
		enum mixture_family family;
		double first, second, log_likelihood;
	} known[] = {
		{ MIXTURE_LOGNORMAL, 0.7802473037, 0.2239652844, -23.89933499 },
		{ MIXTURE_NORMAL, 2.240882353, 0.5500982139, -27.92352297 },
		{ MIXTURE_GAMMA, 18.94635001, 0.1182751481, -25.063961 },
		{ MIXTURE_WEIBULL, 4.063673418, 2.460330669, -29.44392092 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct mixture_plan plan = { .family = known[i].family, .count = 1 };
		struct mixture mixture;

		REQUIRE(mixture_fit(&mixture, &plan, small, SMALL, &err) == 0);
		NEAR(mixture.components[0].first, known[i].first, 1e-4 * known[i].first);
		NEAR(mixture.components[0].second, known[i].second, 1e-4 * known[i].second);
		NEAR(mixture.log_likelihood, known[i].log_likelihood, 1e-5);
	}
}

static void likelihood_is_that_of_the_density(void)
{
	for (int family = 0; family <= MIXTURE_WEIBULL; family++) {
		struct mixture_plan plan = { .family = (enum mixture_family)family, .count = 2 };
		struct mixture mixture;
		double sum = 0;

		REQUIRE(mixture_fit(&mixture, &plan, small, SMALL, &err) == 0);
		for (size_t i = 0; i < SMALL; i++)
			sum += log(mixture_density(&mixture, small[i]));
		NEAR(sum, mixture.log_likelihood, 1e-8);
	}
}

static void bic_finds_the_number_of_components(void)
{
	enum { N = 2000 };
	const struct state states[] = { { 0.4, 0, 0.1 }, { 0.3, 1, 0.1 }, { 0.3, 2, 0.2 } };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));
	struct mixture mixture;

	for (size_t n = 1; n <= 3; n++) {
		draw(values, N, states, n, n);
		REQUIRE(mixture_fit(&mixture, &(struct mixture_plan){ 0 }, values, N, &err) == 0);
		CHECK_INT(mixture.count, n);
	}
}

static void labels_are_as_frequent_as_their_posterior(void)
{
	enum { N = 20000 };
	const struct state states[] = { { 0.7, log(1.85), 0.06 }, { 0.3, log(2.1), 0.20 } };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));
	AUTO_FREE double *labels = xmalloc(N * sizeof(*labels));
	AUTO_FREE double *posterior = xmalloc(2 * N * sizeof(*posterior));
	double busy = 0, expected = 0, variance = 0, top = 0, ceiling;
	struct mixture mixture;

	draw(values, N, states, 2, 9);
	REQUIRE(mixture_fit(&mixture, &(struct mixture_plan){ .count = 2 }, values, N, &err) == 0);
	ceiling = mixture_draw(&mixture, values, N, 3, labels, posterior);
	for (size_t i = 0; i < N; i++) {
		double p = posterior[2 * i + 1];

		busy += labels[i];
		expected += p;
		variance += p * (1 - p);
		top += fmax(p, 1 - p);
	}
	NEAR(busy, expected, 4 * sqrt(variance));
	NEAR(ceiling, top / N, 1e-12);
	CHECK(ceiling > 0.6);
	CHECK(ceiling < 0.99);
}

static void posterior_is_a_distribution_everywhere(void)
{
	static const double values[] = { -1e300, -5, 0, 5e-324, 1e-300, 1, 1e10, 1e300 };

	for (int family = 0; family <= MIXTURE_WEIBULL; family++) {
		struct mixture_plan plan = { .family = (enum mixture_family)family, .count = 2 };
		struct mixture mixture;
		double p[2];

		REQUIRE(mixture_fit(&mixture, &plan, small, SMALL, &err) == 0);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			mixture_posterior(&mixture, values[i], p);
			CHECK(p[0] >= 0);
			CHECK(p[1] >= 0);
			NEAR(p[0] + p[1], 1, 1e-12);
		}
	}
}

static void floor_keeps_a_spike_from_winning(void)
{
	double values[200];
	struct random random;
	struct mixture mixture;

	random_init(&random, 4);
	for (size_t i = 0; i < 200; i++)
		values[i] = i < 3 ? 2.5 : exp((i % 2 ? 0.2 : 1.2) + 0.15 * random_normal(&random));
	REQUIRE(mixture_fit(&mixture, &(struct mixture_plan){ .count = 2 }, values, 200, &err) ==
		0);
	NEAR(mixture.components[0].first, 0.2, 0.06);
	NEAR(mixture.components[1].first, 1.2, 0.06);
	NEAR(mixture.components[0].weight, 0.5, 0.06);
}

static void same_seed_gives_the_same_fit(void)
{
	struct mixture a, b;
	struct mixture_plan plan = { .seed = 7, .starts = 5 };
	enum { N = 3000 };
	const struct state states[] = { { 0.5, 0, 0.3 }, { 0.5, 0.8, 0.3 } };
	AUTO_FREE double *values = xmalloc(N * sizeof(*values));

	draw(values, N, states, 2, 1);
	REQUIRE(mixture_fit(&a, &plan, values, N, &err) == 0);
	REQUIRE(mixture_fit(&b, &plan, values, N, &err) == 0);
	CHECK(memcmp(&a, &b, sizeof(a)) == 0);
}

static void invalid_values_are_rejected(void)
{
	double values[40];
	struct mixture mixture = { .count = 77 };
	struct mixture_plan two = { .count = 2 };

	for (size_t i = 0; i < 40; i++)
		values[i] = 3;
	CHECK_INT(mixture_fit(&mixture, &two, values, 40, &err), -EDOM);
	CHECK(strstr(err.text, "nearly equal"));
	values[3] = 0;
	CHECK_INT(mixture_fit(&mixture, &two, values, 40, &err), -EDOM);
	CHECK(strstr(err.text, "value 4"));
	values[3] = NAN;
	CHECK_INT(mixture_fit(&mixture, &two, values, 40, &err), -EDOM);
	CHECK_INT(mixture_fit(&mixture, &two, small, 19, &err), -ENODATA);
	two.count = MIXTURE_MAX + 1;
	CHECK_INT(mixture_fit(&mixture, &two, small, SMALL, &err), -EINVAL);
	CHECK_INT(mixture.count, 77);
}

static void saved_mixture_is_the_same(void)
{
	AUTO_BUF struct buf buf = { 0 };
	struct mixture mixture = { 0 }, read = { 0 };
	struct blob blob;

	REQUIRE(mixture_fit(&mixture, &(struct mixture_plan){ 0 }, small, SMALL, &err) == 0);
	mixture_save(&mixture, &buf);
	blob_init(&blob, buf.data, buf.len);
	REQUIRE(mixture_load(&read, &blob, &err) == 0);
	CHECK(memcmp(&read, &mixture, sizeof(read)) == 0);
}

static void damaged_mixture_is_rejected_or_harmless(void)
{
	AUTO_BUF struct buf buf = { 0 };
	struct mixture mixture, read;
	struct random random;
	struct blob blob;
	double posterior[MIXTURE_MAX];

	REQUIRE(mixture_fit(&mixture, &(struct mixture_plan){ .count = 2 }, small, SMALL, &err) ==
		0);
	mixture_save(&mixture, &buf);
	for (size_t n = 0; n < buf.len; n++) {
		blob_init(&blob, buf.data, n);
		CHECK(mixture_load(&read, &blob, &err) == -EBADMSG);
	}
	random_init(&random, 1);
	for (int i = 0; i < 2000; i++) {
		size_t at = random_below(&random, buf.len);
		char kept = buf.data[at];

		buf.data[at] = (char)random_u64(&random);
		blob_init(&blob, buf.data, buf.len);
		if (mixture_load(&read, &blob, &err) == 0) {
			mixture_posterior(&read, 2, posterior);
			CHECK(posterior[0] >= 0);
			CHECK(posterior[0] <= 1);
		}
		buf.data[at] = kept;
	}
}

TESTS(TEST(small_series_gives_the_reference_numbers), TEST(generated_states_are_recovered),
      TEST(lognormal_fits_long_tails_best), TEST(single_components_agree_with_scipy),
      TEST(likelihood_is_that_of_the_density), TEST(bic_finds_the_number_of_components),
      TEST(labels_are_as_frequent_as_their_posterior), TEST(posterior_is_a_distribution_everywhere),
      TEST(floor_keeps_a_spike_from_winning), TEST(same_seed_gives_the_same_fit),
      TEST(invalid_values_are_rejected), TEST(saved_mixture_is_the_same),
      TEST(damaged_mixture_is_rejected_or_harmless), )
