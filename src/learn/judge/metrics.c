/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank-based measures sort pairs once and then count, so that nothing takes quadratic time.
 * Papers: WAN-28.
 */
#include "learn/judge/metrics.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"
#include "learn/math/vector.h"

struct pair {
	double first, second;
};

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;
	int order = compare_numbers(one->first, other->first);

	return order ? order : compare_numbers(one->second, other->second);
}

/* Returns NULL if a number is missing, because there is no order then. */
static struct pair *sort_pairs(const double *first, const double *second, size_t count)
{
	struct pair *pairs = xmalloc(count * sizeof(*pairs));

	for (size_t i = 0; i < count; i++) {
		if (isnan(first[i]) || isnan(second[i])) {
			free(pairs);
			return NULL;
		}
		pairs[i] = (struct pair){ first[i], second[i] };
	}
	qsort(pairs, count, sizeof(*pairs), compare_pairs);
	return pairs;
}

static double sum_of_squares(const double *truth, const double *guess, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (truth[i] - guess[i]) * (truth[i] - guess[i]);
	return sum;
}

static double mean_value(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

double metrics_rmse(const double *truth, const double *guess, size_t count)
{
	return count ? sqrt(sum_of_squares(truth, guess, count) / (double)count) : NAN;
}

double metrics_mae(const double *truth, const double *guess, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += fabs(truth[i] - guess[i]);
	return count ? sum / (double)count : NAN;
}

double metrics_r2(const double *truth, const double *guess, size_t count)
{
	double mean = mean_value(truth, count), total = 0;

	for (size_t i = 0; i < count; i++)
		total += (truth[i] - mean) * (truth[i] - mean);
	return total > 0 ? 1 - sum_of_squares(truth, guess, count) / total : NAN;
}

double metrics_median_error(const double *truth, const double *guess, size_t count)
{
	AUTO_FREE double *errors = xmalloc(count * sizeof(*errors));

	for (size_t i = 0; i < count; i++)
		errors[i] = guess[i] == truth[i] ? 0 : fabs(guess[i] / truth[i] - 1);
	return metrics_quantile(errors, count, 0.5);
}

double metrics_quantile(const double *values, size_t count, double q)
{
	AUTO_FREE double *sorted = NULL;
	double place, part, low, high;

	if (!count || !(q >= 0 && q <= 1))
		return NAN;
	for (size_t i = 0; i < count; i++) {
		if (isnan(values[i]))
			return NAN;
	}
	sorted = xmalloc(count * sizeof(*sorted));
	memcpy(sorted, values, count * sizeof(*sorted));
	vector_sort(sorted, count);
	place = q * (double)(count - 1);
	part = place - floor(place);
	low = sorted[(size_t)place];
	high = sorted[(size_t)ceil(place)];
	if (low == high)
		return low;
	/* Interpolate from the nearer end like numpy, so that q and 1 - q are symmetric. */
	return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

/* Counts pairs of equal values in a sorted array: n (n - 1) / 2 for each run of equal values. */
static double count_ties(const struct pair *pairs, size_t count, bool both)
{
	double ties = 0;

	for (size_t i = 0, run; i < count; i += run) {
		for (run = 1; i + run < count; run++) {
			if (pairs[i + run].first != pairs[i].first ||
			    (both && pairs[i + run].second != pairs[i].second))
				break;
		}
		ties += (double)run * (double)(run - 1) / 2;
	}
	return ties;
}

/* Sorts by bottom-up merging; returns the number of pairs that were out of order. */
static uint64_t count_inversions(double *values, double *spare, size_t count)
{
	uint64_t inversions = 0;

	for (size_t width = 1; width < count; width *= 2) {
		for (size_t start = 0; start < count; start += 2 * width) {
			size_t middle = start + width < count ? start + width : count;
			size_t end = middle + width < count ? middle + width : count;
			size_t left = start, right = middle;

			for (size_t out = start; out < end; out++) {
				bool from_right = left == middle ||
						  (right < end && values[right] < values[left]);

				inversions += from_right ? middle - left : 0;
				spare[out] = from_right ? values[right++] : values[left++];
			}
		}
		memcpy(values, spare, count * sizeof(*values));
	}
	return inversions;
}

/*
 * Knight (1966): pairs are sorted by a, then b; the discordant pairs are the inversions left in b.
 */
double metrics_kendall(const double *a, const double *b, size_t count)
{
	AUTO_FREE struct pair *pairs = sort_pairs(a, b, count);
	AUTO_FREE double *seconds = xmalloc(count * sizeof(*seconds)),
			 *spare = xmalloc(count * sizeof(*spare));
	double all = (double)count * (double)(count - !!count) / 2, tied_a, tied_b, tied_both,
	       wrong;

	if (!pairs)
		return NAN;
	tied_a = count_ties(pairs, count, false);
	tied_both = count_ties(pairs, count, true);
	for (size_t i = 0; i < count; i++)
		seconds[i] = pairs[i].second;
	wrong = (double)count_inversions(seconds, spare, count);
	for (size_t i = 0; i < count; i++)
		pairs[i].first = seconds[i];
	tied_b = count_ties(pairs, count, false);
	if (tied_a >= all || tied_b >= all)
		return NAN;
	return (all - tied_a - tied_b + tied_both - 2 * wrong) / sqrt(all - tied_a) /
	       sqrt(all - tied_b);
}

double metrics_accuracy(const double *truth, const double *chance, size_t count, size_t classes)
{
	size_t right = 0;

	for (size_t i = 0; i < count; i++)
		right += (double)learner_best(chance + i * classes, classes) == truth[i];
	return count ? (double)right / (double)count : NAN;
}

static double clip_chance(double chance)
{
	return fmin(fmax(chance, DBL_EPSILON), 1 - DBL_EPSILON);
}

double metrics_log_loss(const double *truth, const double *chance, size_t count, size_t classes)
{
	double loss = 0;

	for (size_t i = 0; i < count; i++) {
		const double *row = chance + i * classes;
		double sum = 0;

		for (size_t k = 0; k < classes; k++)
			sum += clip_chance(row[k]);
		loss -= log(clip_chance(row[(size_t)truth[i]]) / sum);
	}
	return count ? loss / (double)count : NAN;
}

double metrics_brier(const double *truth, const double *chance, size_t count, size_t classes)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < classes; k++) {
			double off = chance[i * classes + k] - (truth[i] == (double)k);

			sum += off * off;
		}
	}
	return count ? sum / 2 / (double)count : NAN;
}

/* Counts the rows of class 1 and 0 with one score; moves *at, which counts down, below them. */
static double take_ties(const struct pair *pairs, size_t *at, size_t *positive, size_t *negative)
{
	double score = pairs[*at - 1].first;

	*positive = *negative = 0;
	for (; *at && pairs[*at - 1].first == score; --*at) {
		if (pairs[*at - 1].second == 1)
			++*positive;
		else
			++*negative;
	}
	return score;
}

double metrics_auc(const double *truth, const double *score, size_t count)
{
	AUTO_FREE struct pair *pairs = sort_pairs(score, truth, count);
	size_t positives = 0, negatives = 0, positive, negative;
	double area = 0;

	if (!pairs)
		return NAN;
	for (size_t at = count; at;) {
		take_ties(pairs, &at, &positive, &negative);
		area += (double)negative * ((double)positives + (double)positive / 2);
		positives += positive;
		negatives += negative;
	}
	return positives && negatives ? area / (double)positives / (double)negatives : NAN;
}

double metrics_auc_classes(const double *truth, const double *chance, size_t count, size_t classes)
{
	AUTO_FREE double *score = xmalloc(count * sizeof(*score)),
			 *one = xmalloc(count * sizeof(*one));
	size_t first = classes == 2;
	double sum = 0;

	for (size_t k = first; k < classes; k++) {
		for (size_t i = 0; i < count; i++) {
			score[i] = chance[i * classes + k];
			one[i] = truth[i] == (double)k;
		}
		sum += metrics_auc(one, score, count);
	}
	return sum / (double)(classes - first);
}

/* Counts of rows that are positive at a threshold. */
struct corner {
	double negatives, positives, threshold;
};

static bool is_on_line(const struct corner *a, const struct corner *b, const struct corner *c)
{
	return (b->negatives - a->negatives) * (c->positives - b->positives) ==
	       (c->negatives - b->negatives) * (b->positives - a->positives);
}

/* corners has room for one more than the number of rows. */
static size_t find_corners(struct corner *corners, const struct pair *pairs, size_t count)
{
	struct corner now = { 0, 0, INFINITY };
	size_t used = 0, positive, negative;

	corners[used++] = now;
	for (size_t at = count; at;) {
		now.threshold = take_ties(pairs, &at, &positive, &negative);
		now.positives += (double)positive;
		now.negatives += (double)negative;
		if (used > 1 && is_on_line(&corners[used - 2], &corners[used - 1], &now))
			used--;
		corners[used++] = now;
	}
	return used;
}

size_t metrics_roc_points(const double *truth, const double *score, size_t count,
			  struct metrics_roc **points)
{
	AUTO_FREE struct pair *pairs = sort_pairs(score, truth, count);
	AUTO_FREE struct corner *corners = xmalloc((count + 1) * sizeof(*corners));
	size_t used = pairs ? find_corners(corners, pairs, count) : 0;
	const struct corner *last = &corners[used - !!used];

	*points = NULL;
	if (!used || !(last->negatives > 0) || !(last->positives > 0))
		return 0;
	*points = xmalloc(used * sizeof(**points));
	for (size_t i = 0; i < used; i++)
		(*points)[i] = (struct metrics_roc){ corners[i].negatives / last->negatives,
						     corners[i].positives / last->positives,
						     corners[i].threshold };
	return used;
}

double metrics_reliability(const double *truth, const double *score, size_t count,
			   struct metrics_bin *bins, size_t bin_count)
{
	double error = 0;

	memset(bins, 0, bin_count * sizeof(*bins));
	for (size_t i = 0; i < count; i++) {
		double place = fmin(fmax(score[i], 0), 1) * (double)bin_count;
		struct metrics_bin *bin =
			&bins[place < (double)bin_count ? (size_t)place : bin_count - 1];

		bin->predicted += score[i];
		bin->observed += truth[i] == 1;
		bin->count++;
	}
	for (struct metrics_bin *bin = bins; bin < bins + bin_count; bin++) {
		error += fabs(bin->predicted - bin->observed) / (double)count;
		bin->predicted /= (double)bin->count; /* NAN if the bin is empty */
		bin->observed /= (double)bin->count;
	}
	return count ? error : NAN;
}
