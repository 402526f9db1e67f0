/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/loop/proof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/random.h"
#include "learn/math/vector.h"

/* Scores are whole numbers from -SCORE_MOST to SCORE_MOST, so that sums can be counted exactly. */
#define SCORE_MOST 12
/* The deviation, in units of the noise, that has the highest score. */
#define SCORE_LIMIT 2.0
/* Pairs of later blocks. If the noise is at least NOISY, they are as large as the first one. */
#define BLOCK_LATER 2
#define NOISY 0.15
/* Exponents of alpha spending; 1: all looks are equally likely to err; higher: later ones are more
 * likely. Under noise, an early look rarely succeeds. */
#define SPENDING 2.0
#define SPENDING_NOISY 4.0
/* An attempt is given up if its chance to hold falls below this. */
#define CHANCE_LEAST 0.05
/* Quantile of the normal distribution for PROOF_LEVEL, to estimate that chance. */
#define CRITICAL 1.96
#define BISECTIONS 25

/* Runs of a block: twice its pairs, the baseline first. */
struct block {
	size_t pairs;
	int scores[2 * PROOF_BLOCK];
	int sum; /* scores of the baseline minus those of the winner */
};

/* Logarithms of the costs. */
struct costs {
	const double *before, *after;
	size_t pairs;
};

/* The distribution of the statistic without a difference, of courses that have not stopped yet. */
struct looks {
	const struct proof_plan *plan;
	double *mass, *next; /* at middle + sum */
	size_t middle, reach;
	double spent;
	int sum;	 /* of the blocks so far */
	double variance; /* of the sum */
	bool rejects;
};

static bool is_noisy(const struct proof_plan *plan)
{
	return plan->sigma >= NOISY;
}

/* The pairs of the block that begins after so many pairs. */
static size_t block_pairs(const struct proof_plan *plan, size_t first)
{
	size_t pairs = !first || is_noisy(plan) ? PROOF_BLOCK : BLOCK_LATER;
	size_t left = plan->pairs - first;

	return pairs < left ? pairs : left;
}

/* The first pair of the block of this pair, and the number of the block. */
static size_t find_block(const struct proof_plan *plan, size_t pair, size_t *first)
{
	size_t block = 0;

	*first = 0;
	while (*first < plan->pairs && pair >= *first + block_pairs(plan, *first)) {
		*first += block_pairs(plan, *first);
		block++;
	}
	return block;
}

bool proof_is_look(const struct proof_plan *plan, size_t pairs)
{
	size_t first;

	if (plan->exact || !pairs)
		return pairs > 0;
	find_block(plan, pairs - 1, &first);
	return pairs == first + block_pairs(plan, first);
}

bool proof_order(const struct proof_plan *plan, uint64_t seed, size_t i)
{
	size_t first, block, n, places[2 * PROOF_BLOCK];
	struct random random;

	if (plan->exact)
		return i % 2;
	block = find_block(plan, i / 2, &first);
	n = block_pairs(plan, first);
	for (size_t k = 0; k < 2 * n; k++)
		places[k] = k;
	random_stream(&random, seed, block);
	random_shuffle(&random, places, 2 * n);
	return places[i - 2 * first] < n;
}

/* Scores the costs of a block, with those of the baseline divided by the assumed gain. */
static void block_score(struct block *block, const struct proof_plan *plan,
			const struct costs *costs, size_t first, double gain)
{
	double values[2 * PROOF_BLOCK] = { 0 }, sorted[2 * PROOF_BLOCK], center;
	size_t left = costs->pairs - first, n = block_pairs(plan, first);

	block->pairs = n = n < left ? n : left;
	for (size_t i = 0; i < n; i++) {
		values[i] = costs->before[first + i] - gain;
		values[n + i] = costs->after[first + i];
	}
	memcpy(sorted, values, 2 * n * sizeof(*sorted));
	center = vector_median(sorted, 2 * n);
	block->sum = 0;
	for (size_t i = 0; i < 2 * n; i++) {
		double score = (values[i] - center) / (SCORE_LIMIT * plan->sigma);

		score = fmin(fmax(score, -1), 1);
		block->scores[i] = (int)lround(SCORE_MOST * score);
		block->sum += i < n ? block->scores[i] : -block->scores[i];
	}
}

#define SUMS (2 * SCORE_MOST * PROOF_BLOCK + 1)

/* The number of ways in which `pairs` of the scores of a block have each sum, offset by SUMS / 2.
 * Returns the number of all ways. */
static double count_ways(const struct block *block, double ways[SUMS])
{
	double table[PROOF_BLOCK + 1][SUMS] = { 0 }, all = 0;

	table[0][SUMS / 2] = 1;
	for (size_t i = 0; i < 2 * block->pairs; i++) {
		for (size_t k = block->pairs; k-- > 0;) {
			for (int s = 0; s < SUMS; s++) {
				int to = s + block->scores[i];

				if (table[k][s] > 0 && to >= 0 && to < SUMS)
					table[k + 1][to] += table[k][s];
			}
		}
	}
	for (int s = 0; s < SUMS; s++)
		all += ways[s] = table[block->pairs][s];
	return all;
}

/* Adds the block to the statistic: each choice of its runs for one side is equally likely. */
static void add_block(struct looks *looks, const struct block *block)
{
	double ways[SUMS], all = count_ways(block, ways), *swap;
	size_t reach = looks->reach + 2 * SCORE_MOST * block->pairs;
	int total = 0;

	for (size_t i = 0; i < 2 * block->pairs; i++)
		total += block->scores[i];
	memset(looks->next, 0, (2 * looks->middle + 1) * sizeof(*looks->next));
	for (int s = 0; s < SUMS; s++) {
		/* One side has this sum, the other one the rest. */
		int shift = 2 * (s - SUMS / 2) - total;
		double share = ways[s] / all;

		if (!(share > 0))
			continue;
		looks->variance += share * shift * shift;
		for (size_t m = looks->middle - looks->reach; m <= looks->middle + looks->reach;
		     m++)
			looks->next[(size_t)((long)m + shift)] += share * looks->mass[m];
	}
	looks->reach = reach;
	looks->sum += block->sum;
	swap = looks->mass;
	looks->mass = looks->next;
	looks->next = swap;
}

/* Stops the courses with the highest sums, as many as the level allows after these pairs. */
static void look(struct looks *looks, size_t pairs)
{
	const struct proof_plan *plan = looks->plan;
	double part = pow((double)pairs / (double)plan->pairs,
			  is_noisy(plan) ? SPENDING_NOISY : SPENDING);
	double allowed = plan->level * fmin(part, 1);
	size_t at = looks->middle + looks->reach;

	/* Rounding errors of the sums must not exclude a course that just fits. */
	while (looks->spent + looks->mass[at] <= allowed * (1 + 1e-9)) {
		looks->spent += looks->mass[at];
		looks->mass[at] = 0;
		if ((long)at - (long)looks->middle <= looks->sum)
			looks->rejects = true;
		if (at-- == looks->middle - looks->reach)
			break;
	}
}

/* Goes through all looks. The test rejects if the baseline costs more than `gain` times as much. */
static void run_looks(struct looks *looks, const struct proof_plan *plan, const struct costs *costs,
		      double gain)
{
	struct block block;

	*looks = (struct looks){ .plan = plan };
	looks->middle = 2 * SCORE_MOST * (costs->pairs + 1);
	looks->mass = xcalloc(2 * looks->middle + 1, sizeof(*looks->mass));
	looks->next = xcalloc(2 * looks->middle + 1, sizeof(*looks->next));
	looks->mass[looks->middle] = 1;
	for (size_t i = 0; i < costs->pairs; i += block.pairs) {
		block_score(&block, plan, costs, i, gain);
		add_block(looks, &block);
		look(looks, i + block.pairs);
	}
	free(looks->mass);
	free(looks->next);
	looks->mass = looks->next = NULL;
}

static bool rejects_gain(const struct proof_plan *plan, const struct costs *costs, double gain)
{
	struct looks looks;

	run_looks(&looks, plan, costs, gain);
	return looks.rejects;
}

static bool has_higher_sum(const struct proof_plan *plan, const struct costs *costs, double gain)
{
	struct block block;
	int sum = 0;

	for (size_t i = 0; i < costs->pairs; i += block.pairs) {
		block_score(&block, plan, costs, i, gain);
		sum += block.sum;
	}
	return sum > 0;
}

/* The gain up to which the condition is true, between the lowest and the highest of all ratios. */
static double find_limit(const struct proof_plan *plan, const struct costs *costs,
			 bool (*is_true)(const struct proof_plan *, const struct costs *, double))
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < costs->pairs; i++) {
		for (size_t k = 0; k < costs->pairs; k++) {
			low = fmin(low, costs->before[i] - costs->after[k]);
			high = fmax(high, costs->before[i] - costs->after[k]);
		}
	}
	low -= plan->sigma;
	high += plan->sigma;
	if (!is_true(plan, costs, low - 4 * SCORE_LIMIT * plan->sigma))
		return -INFINITY;
	low -= 4 * SCORE_LIMIT * plan->sigma;
	for (int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		if (is_true(plan, costs, middle))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Is it unlikely that the remaining pairs make a proof? They are assumed to be better than the ones
 * so far by one standard deviation, as few pairs say little. */
static bool is_futile(const struct proof_plan *plan, const struct looks *looks, size_t pairs)
{
	double n = (double)pairs, left = (double)plan->pairs - n;
	double expected = looks->sum + (looks->sum + sqrt(looks->variance)) * left / n;
	double needed = CRITICAL * sqrt(looks->variance * (1 + left / n));
	double deviation = sqrt(looks->variance * left / n);

	if (looks->rejects || !(deviation > 0))
		return !looks->rejects;
	return erfc((needed - expected) / deviation / M_SQRT2) / 2 < CHANCE_LEAST;
}

/* The median, with the geometric mean of the middle two. */
static double geometric_median(const double *logs, size_t count)
{
	AUTO_FREE double *sorted = xcalloc(count, sizeof(*sorted));

	memcpy(sorted, logs, count * sizeof(*sorted));
	return exp(vector_median(sorted, count));
}

static void judge_looks(struct proof *proof, const struct proof_plan *plan,
			const struct costs *costs)
{
	struct costs reversed = { costs->after, costs->before, costs->pairs };
	struct looks looks;

	run_looks(&looks, plan, costs, 0);
	proof->spent = looks.spent;
	proof->holds = looks.rejects;
	proof->is_futile = is_futile(plan, &looks, costs->pairs);
	proof->gain = proof->before / proof->after;
	/* Until the test is over, nobody needs the interval, which takes longer. */
	if (!proof->holds && !proof->is_futile && costs->pairs < plan->pairs)
		return;
	proof->gain = exp(find_limit(plan, costs, has_higher_sum));
	proof->low = exp(find_limit(plan, costs, rejects_gain));
	proof->high = exp(-find_limit(plan, &reversed, rejects_gain));
	/* The limit was found by bisection; the test itself decides. */
	if (proof->holds)
		proof->low = fmax(proof->low, nextafter(1, 2));
	else
		proof->low = fmin(proof->low, 1);
	proof->low = fmin(proof->low, proof->gain);
	proof->high = fmax(proof->high, proof->gain);
}

static double *logarithms(const double *values, size_t count)
{
	double *logs = xcalloc(count, sizeof(*logs));

	for (size_t i = 0; i < count; i++)
		logs[i] = log(values[i]);
	return logs;
}

void proof_judge(struct proof *proof, const struct proof_plan *plan, const double *before,
		 const double *after, size_t pairs)
{
	AUTO_FREE double *b = logarithms(before, pairs), *a = logarithms(after, pairs);
	struct costs costs = { b, a, pairs };

	*proof = (struct proof){ .pairs = pairs, .high = INFINITY };
	if (!pairs)
		return;
	proof->before = geometric_median(b, pairs);
	proof->after = geometric_median(a, pairs);
	if (plan->exact) {
		proof->gain = proof->low = proof->high = before[0] / after[0];
		proof->holds = proof->gain > 1;
		proof->is_futile = !proof->holds;
	} else {
		judge_looks(proof, plan, &costs);
	}
}
