/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hedged rule. A synchronous program waits for the slowest target, so the tail of a target's
 * time matters more than its mean: a busy target that was predicted idle, and got more than its
 * equal share, makes the step longer than equal shares would. If the shares are in proportion to 1
 * / Q_j, where target j exceeds the time Q_j with probability 1/n, all targets are equally likely
 * to be the slowest.
 *
 * The tails are the least certain part of the fitted distributions. So the rule compares a family
 * of candidates: three bases (expected times, times exceeded with probability 10 %, and with
 * probability 1/n), raised to powers from 0 (equal shares) to 1. It draws the times of all targets
 * some dozens of times, under several assumptions about forecast errors, and selects the candidate
 * whose least favorable assumption gives the best result. All computations use logarithms, so that
 * shares and times are added.
 */
#include "predict/forecast/place/placement.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/math/random.h"

enum {
	SCENARIOS = 64, /* draws of the times of all targets */
	STEPS = 1024,	/* resolution of the table of the normal distribution */
	POWERS = 4,
	BASES = 3,
	MEMBERS = 1 + BASES * POWERS, /* candidates */
	BISECTIONS = 16,
};
#define SEED 20190805u
#define LATE_CHANCE 0.1	    /* of the second base */
#define MAX_TAIL_CHANCE 0.5 /* of the third base, for few targets */
#define TAIL_REACH 6	    /* deviations that bound the search for a quantile */
#define MIN_DEVIATION 1e-3  /* a state of zero width would make probabilities jump */
#define MAX_HOLD 10.0	    /* a held-up write takes up to this many times as long */

/*
 * An assumption about forecast errors. The first one trusts the forecasts.
 */
struct assumption {
	double doubt;  /* moves the probability of busy toward the mean of all targets */
	double narrow; /* scales the deviations of the states; their means are kept */
	double held;   /* share of writes that are held up in any state */
};
static const struct assumption assumptions[] = {
	{ 0, 1, 0 },
	{ 0, 0.6, 0.01 },
	{ 0.3, 1, 0.01 },
};
enum { ASSUMPTIONS = sizeof(assumptions) / sizeof(assumptions[0]) };

/* The distribution of the logarithm of a target's time in one state: mean and deviation. */
struct state {
	double mu, s;
};

/* The forecast of a target. */
struct view {
	double busy;
	struct state idle, late;
};

static struct state make_state(double mean, double sd)
{
	double variance = log1p(sd / mean * (sd / mean));

	return (struct state){ log(mean) - variance / 2, sqrt(variance) };
}

/* A table of the standard normal distribution between -REACH and REACH. */
#define REACH 8.0
struct normal {
	double tail[STEPS + 1]; /* probability of a value above -REACH + i * 2 * REACH / STEPS */
	double at[STEPS];	/* the centers of STEPS equally likely intervals */
};

static void normal_init(struct normal *normal)
{
	size_t i = 0;

	for (size_t k = 0; k <= STEPS; k++)
		normal->tail[k] = 0.5 * erfc((2 * REACH * (double)k / STEPS - REACH) * M_SQRT1_2);
	for (size_t k = 0; k < STEPS; k++) {
		double want = 1 - ((double)k + 0.5) / STEPS, high, low;

		while (normal->tail[i + 1] > want)
			i++;
		high = normal->tail[i];
		low = normal->tail[i + 1];
		normal->at[k] =
			((double)i + (high - want) / (high - low)) * 2 * REACH / STEPS - REACH;
	}
}

static double normal_tail(const struct normal *normal, double z)
{
	double where = (z + REACH) * STEPS / (2 * REACH);
	size_t i;

	if (!(where > 0))
		return 1;
	if (where >= STEPS)
		return 0;
	i = (size_t)where;
	return normal->tail[i] + (where - (double)i) * (normal->tail[i + 1] - normal->tail[i]);
}

static double chance_of_exceeding(const struct normal *normal, const struct view *view, double x)
{
	return view->busy * normal_tail(normal, (x - view->late.mu) / view->late.s) +
	       (1 - view->busy) * normal_tail(normal, (x - view->idle.mu) / view->idle.s);
}

/* The logarithm of the time that is exceeded with this probability. */
static double find_quantile_log(const struct normal *normal, const struct view *view, double chance)
{
	double low = fmin(view->idle.mu - TAIL_REACH * view->idle.s,
			  view->late.mu - TAIL_REACH * view->late.s);
	double high = fmax(view->idle.mu + TAIL_REACH * view->idle.s,
			   view->late.mu + TAIL_REACH * view->late.s);

	for (int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		*(chance_of_exceeding(normal, view, middle) > chance ? &low : &high) = middle;
	}
	return (low + high) / 2;
}

static void find_bases(const struct placement_target *targets, const struct view *views, size_t n,
		       const struct normal *normal, double *bases)
{
	for (size_t i = 0; i < n; i++) {
		bases[i] = log(placement_expected_s(&targets[i]));
		bases[n + i] = find_quantile_log(normal, &views[i], LATE_CHANCE);
		bases[2 * n + i] =
			find_quantile_log(normal, &views[i], fmin(1 / (double)n, MAX_TAIL_CHANCE));
	}
}

/* Computes the logarithms of the shares of all candidates; the first one has equal shares. */
static void find_family(const double *bases, size_t n, const struct placement_limits *limits,
			double *family)
{
	AUTO_FREE double *weights = xcalloc(n, sizeof(*weights));

	for (size_t m = 0; m < MEMBERS; m++) {
		const double *base = bases + (m ? (m - 1) / POWERS * n : 0);
		double power = m ? (double)((m - 1) % POWERS + 1) / POWERS : 0;
		double *shares = family + m * n;

		for (size_t i = 0; i < n; i++)
			weights[i] = exp(-power * (base[i] - base[0]));
		placement_fill(weights, n, limits, shares);
		for (size_t i = 0; i < n; i++)
			shares[i] = log(shares[i]);
	}
}

/* The distribution of a target under an assumption; [0] is idle, [1] is busy. */
struct luck {
	double busy, mu[2], s[2];
};

/* Parts of a 64-bit random word: 24 bits for the state, 24 for the delay, 10 for the time. */
#define STATE_SHIFT 40
#define HOLD_SHIFT 10
#define WORD_MASK 0xffffff
#define WORD_SCALE 0x1p-24

struct contest {
	const struct normal *normal;
	const double *family; /* MEMBERS x n */
	double *low, *high;   /* minimum and maximum share of each target in the family */
	size_t n;
	struct luck *lucks;
	double *late; /* logarithms of the times in a scenario */
	size_t *may;  /* targets that can be the slowest in it */
};

static void apply_assumption(const struct assumption *assumption, const struct view *views,
			     size_t n, double mean, struct luck *lucks)
{
	double narrow = assumption->narrow, kept = (1 - narrow * narrow) / 2;

	for (size_t i = 0; i < n; i++) {
		const struct state *idle = &views[i].idle, *late = &views[i].late;

		lucks[i] = (struct luck){
			views[i].busy + assumption->doubt * (mean - views[i].busy),
			{ idle->mu + kept * idle->s * idle->s,
			  late->mu + kept * late->s * late->s },
			{ narrow * idle->s, narrow * late->s },
		};
	}
}

/*
 * Draws the times of a scenario. Each random word gives the state, the delay and the time of a
 * target, so that all assumptions use the same random numbers.
 */
static void draw_scenario(const struct contest *contest, double held, const uint64_t *words)
{
	for (size_t i = 0; i < contest->n; i++) {
		const struct luck *luck = &contest->lucks[i];
		bool is_busy = (double)(words[i] >> STATE_SHIFT) * WORD_SCALE < luck->busy;
		double hold = (double)(words[i] >> HOLD_SHIFT & WORD_MASK) * WORD_SCALE;

		contest->late[i] = luck->mu[is_busy] +
				   luck->s[is_busy] * contest->normal->at[words[i] % STEPS];
		if (hold < held)
			contest->late[i] -= log(1 / MAX_HOLD + (1 - 1 / MAX_HOLD) * hold / held);
	}
}

/* Finds the few targets that can be the slowest with any candidate. */
static size_t find_slow(const struct contest *contest)
{
	double surely = -INFINITY;
	size_t count = 0;

	for (size_t i = 0; i < contest->n; i++) {
		double least = contest->late[i] + contest->low[i];

		surely = least > surely ? least : surely;
	}
	for (size_t i = 0; i < contest->n; i++)
		if (contest->late[i] + contest->high[i] >= surely)
			contest->may[count++] = i;
	return count;
}

/* Adds the time of each candidate in the scenario, relative to equal shares. */
static void add_scenario(const struct contest *contest, double *sums)
{
	size_t count = find_slow(contest);
	double equal = 0;

	for (size_t m = 0; m < MEMBERS; m++) {
		const double *shares = contest->family + m * contest->n;
		double slowest = -INFINITY;

		for (size_t k = 0; k < count; k++) {
			double at = contest->late[contest->may[k]] + shares[contest->may[k]];

			slowest = at > slowest ? at : slowest;
		}
		if (!m)
			equal = slowest;
		sums[m] += slowest - equal;
	}
}

static void find_bounds(struct contest *contest)
{
	for (size_t i = 0; i < contest->n; i++) {
		contest->low[i] = contest->high[i] = contest->family[i];
		for (size_t m = 1; m < MEMBERS; m++) {
			double share = contest->family[m * contest->n + i];

			contest->low[i] = fmin(contest->low[i], share);
			contest->high[i] = fmax(contest->high[i], share);
		}
	}
}

/* Selects the candidate with the best worst case over the assumptions; *gain is its gain there. */
static size_t select_candidate(const double sums[ASSUMPTIONS][MEMBERS], double *gain)
{
	size_t best = 0;
	double least = 0;

	for (size_t m = 1; m < MEMBERS; m++) {
		double worst = -INFINITY;

		for (size_t g = 0; g < ASSUMPTIONS; g++)
			worst = fmax(worst, sums[g][m] / SCENARIOS);
		if (worst < least) {
			least = worst;
			best = m;
		}
	}
	*gain = expm1(-least);
	return best;
}

static size_t run_contest(struct contest *contest, const struct view *views, double busy,
			  double *gain)
{
	size_t n = contest->n;
	AUTO_FREE uint64_t *words = xcalloc(SCENARIOS * n, sizeof(*words));
	double sums[ASSUMPTIONS][MEMBERS] = { 0 };
	struct random random;

	find_bounds(contest);
	random_init(&random, SEED);
	for (size_t i = 0; i < SCENARIOS * n; i++)
		words[i] = random_u64(&random);
	for (size_t g = 0; g < ASSUMPTIONS; g++) {
		apply_assumption(&assumptions[g], views, n, busy, contest->lucks);
		for (size_t s = 0; s < SCENARIOS; s++) {
			draw_scenario(contest, assumptions[g].held, words + s * n);
			add_scenario(contest, sums[g]);
		}
	}
	return select_candidate(sums, gain);
}

/* Converts the forecasts. Returns the mean probability of busy. */
static double init_views(const struct placement_target *targets, size_t n, struct view *views)
{
	double busy = 0;

	for (size_t i = 0; i < n; i++) {
		views[i].busy = targets[i].busy;
		views[i].idle = make_state(targets[i].idle_s, targets[i].idle_sd);
		views[i].late = make_state(targets[i].busy_s, targets[i].busy_sd);
		views[i].idle.s = fmax(views[i].idle.s, MIN_DEVIATION);
		views[i].late.s = fmax(views[i].late.s, MIN_DEVIATION);
		busy += targets[i].busy;
	}
	return busy / (double)n;
}

double placement_hedge(const struct placement_target *targets, size_t count,
		       const struct placement_limits *limits, double *shares)
{
	AUTO_FREE struct view *views = xcalloc(count, sizeof(*views));
	AUTO_FREE struct luck *lucks = xcalloc(count, sizeof(*lucks));
	AUTO_FREE double *bases = xcalloc(count * BASES, sizeof(*bases));
	AUTO_FREE double *family = xcalloc(count * MEMBERS, sizeof(*family));
	AUTO_FREE double *late = xcalloc(count * 3, sizeof(*late));
	AUTO_FREE size_t *may = xcalloc(count, sizeof(*may));
	struct normal normal;
	struct contest contest = { &normal, family, late + count, late + 2 * count,
				   count,   lucks,  late,	  may };
	double gain, busy = init_views(targets, count, views);
	size_t best;

	normal_init(&normal);
	find_bases(targets, views, count, &normal, bases);
	find_family(bases, count, limits, family);
	best = run_contest(&contest, views, busy, &gain);
	/* Equal shares are exact, so that they compare as equal. */
	for (size_t i = 0; i < count; i++)
		shares[i] = best ? exp(family[best * count + i]) : 1 / (double)count;
	return gain;
}
