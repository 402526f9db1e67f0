/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hedged rule. When all wait for the slowest target, who is slowest matters and not what is
 * expected of it: a busy target that was taken for idle and got more than its equal share makes the
 * step longer than equal shares would have. So shares are made from how late a target may be: with
 * shares in proportion to 1 / Q_j, Q_j the time that target j exceeds with a chance of 1 in n, each
 * is as likely as the others to be the one that all wait for.
 *
 * That goes by the tails of the fitted distributions, which are the least certain thing about them.
 * So a family is tried: bases (expected times, times exceeded with a chance of 10 % and of 1 in n)
 * to powers from 0, equal shares, to 1. Each member is judged by drawing the times of all targets
 * some dozens of times, under several guesses about how wrong the forecasts are, and the member is
 * taken whose least favourable guess is best. Everything happens in logarithms, where shares and
 * times are added.
 */
#include "predict/forecast/place/placement.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/maths/random.h"

enum { SCENARIOS = 64, STEPS = 1024, POWERS = 4, BASES = 3, MEMBERS = 1 + BASES * POWERS };
#define SEED 20190805u

/*
 * A guess: chances of busy lie between what was forecast and the mean of all (doubt), states are
 * narrower than they were fitted, their means kept (narrow), and some writes are held up whatever
 * the state (held), by up to ten times. The first takes the forecasts at their word.
 */
struct guess {
	double doubt, narrow, held;
};
static const struct guess guesses[] = {
	{ 0, 1, 0 },
	{ 0, 0.6, 0.01 },
	{ 0.3, 1, 0.01 },
};
enum { GUESSES = sizeof(guesses) / sizeof(guesses[0]) };

/* A state of a target: of the logarithm of its time. */
struct state {
	double mu, s;
};

struct view {
	double busy;
	struct state idle, late;
};

static struct state state_of(double mean, double sd)
{
	double variance = log1p(sd / mean * (sd / mean));

	return (struct state){ log(mean) - variance / 2, sqrt(variance) };
}

/* ---- the normal distribution from a table ---- */

#define REACH 8.0
struct normal {
	double tail[STEPS + 1]; /* chance to be above -REACH + i * 2 REACH / STEPS */
	double at[STEPS];	/* the middle of each of as many equally likely parts */
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

/* ---- the family ---- */

static double late_chance(const struct normal *normal, const struct view *view, double x)
{
	return view->busy * normal_tail(normal, (x - view->late.mu) / view->late.s) +
	       (1 - view->busy) * normal_tail(normal, (x - view->idle.mu) / view->idle.s);
}

/* The logarithm of the time that is exceeded with this chance. */
static double late_log(const struct normal *normal, const struct view *view, double chance)
{
	double low = fmin(view->idle.mu - 6 * view->idle.s, view->late.mu - 6 * view->late.s);
	double high = fmax(view->idle.mu + 6 * view->idle.s, view->late.mu + 6 * view->late.s);

	for (int i = 0; i < 16; i++) {
		double middle = (low + high) / 2;

		*(late_chance(normal, view, middle) > chance ? &low : &high) = middle;
	}
	return (low + high) / 2;
}

static void find_bases(const struct placement_target *targets, const struct view *views, size_t n,
		       const struct normal *normal, double *bases)
{
	for (size_t i = 0; i < n; i++) {
		bases[i] = log(placement_expects(&targets[i]));
		bases[n + i] = late_log(normal, &views[i], 0.1);
		bases[2 * n + i] = late_log(normal, &views[i], fmin(1 / (double)n, 0.5));
	}
}

/* Logarithms of all members' shares, member by member; the first is that of equal shares. */
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

/* ---- the contest ---- */

/* A target as a guess sees it. */
struct luck {
	double busy, mu[2], s[2];
};

struct contest {
	const struct normal *normal;
	const double *family; /* MEMBERS x n */
	double *low, *high;   /* least and greatest share of a target in the family */
	size_t n;
	struct luck *lucks;
	double *late; /* of a scenario */
	size_t *may;  /* who may be the slowest in it */
};

static void suppose(const struct guess *guess, const struct view *views, size_t n, double mean,
		    struct luck *lucks)
{
	double narrow = guess->narrow, kept = (1 - narrow * narrow) / 2;

	for (size_t i = 0; i < n; i++) {
		const struct state *idle = &views[i].idle, *late = &views[i].late;

		lucks[i] = (struct luck){
			views[i].busy + guess->doubt * (mean - views[i].busy),
			{ idle->mu + kept * idle->s * idle->s,
			  late->mu + kept * late->s * late->s },
			{ narrow * idle->s, narrow * late->s },
		};
	}
}

/* How long the targets take in a scenario; the same words give the same luck to all guesses. */
static void draw(const struct contest *contest, double held, const uint64_t *words)
{
	for (size_t i = 0; i < contest->n; i++) {
		const struct luck *luck = &contest->lucks[i];
		bool is_busy = (double)(words[i] >> 40) * 0x1p-24 < luck->busy;
		double hold = (double)(words[i] >> 10 & 0xffffff) * 0x1p-24;

		contest->late[i] = luck->mu[is_busy] +
				   luck->s[is_busy] * contest->normal->at[words[i] % STEPS];
		if (hold < held)
			contest->late[i] -= log(0.1 + 0.9 * hold / held);
	}
}

/* Few targets can be the slowest under any member: only these are looked at. */
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

/* Adds what each member needs in the scenario beside equal shares. */
static void play(const struct contest *contest, double *sums)
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

/* The member whose least favourable guess is best, and what it gains under that. */
static size_t settle(const double sums[GUESSES][MEMBERS], double *gain)
{
	size_t best = 0;
	double least = 0;

	for (size_t m = 1; m < MEMBERS; m++) {
		double worst = -INFINITY;

		for (size_t g = 0; g < GUESSES; g++)
			worst = fmax(worst, sums[g][m] / SCENARIOS);
		if (worst < least) {
			least = worst;
			best = m;
		}
	}
	*gain = expm1(-least);
	return best;
}

static size_t compete(struct contest *contest, const struct view *views, double busy, double *gain)
{
	size_t n = contest->n;
	AUTO_FREE uint64_t *words = xcalloc(SCENARIOS * n, sizeof(*words));
	double sums[GUESSES][MEMBERS] = { 0 };
	struct random random;

	find_bounds(contest);
	random_init(&random, SEED);
	for (size_t i = 0; i < SCENARIOS * n; i++)
		words[i] = random_u64(&random);
	for (size_t g = 0; g < GUESSES; g++) {
		suppose(&guesses[g], views, n, busy, contest->lucks);
		for (size_t s = 0; s < SCENARIOS; s++) {
			draw(contest, guesses[g].held, words + s * n);
			play(contest, sums[g]);
		}
	}
	return settle(sums, gain);
}

static double look(const struct placement_target *targets, size_t n, struct view *views)
{
	double busy = 0;

	for (size_t i = 0; i < n; i++) {
		views[i].busy = targets[i].busy;
		views[i].idle = state_of(targets[i].idle_s, targets[i].idle_sd);
		views[i].late = state_of(targets[i].busy_s, targets[i].busy_sd);
		/* A state without width would make chances jump. */
		views[i].idle.s = fmax(views[i].idle.s, 1e-3);
		views[i].late.s = fmax(views[i].late.s, 1e-3);
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
	double gain, busy = look(targets, count, views);
	size_t best;

	normal_init(&normal);
	find_bases(targets, views, count, &normal, bases);
	find_family(bases, count, limits, family);
	best = compete(&contest, views, busy, &gain);
	/* Equal shares to the last digit, so that they compare as such. */
	for (size_t i = 0; i < count; i++)
		shares[i] = best ? exp(family[best * count + i]) : 1 / (double)count;
	return gain;
}
