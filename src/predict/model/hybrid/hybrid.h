/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hybrid model (Isaila et al. 2015): operation counts times learned costs. It predicts accesses
 * of programs that were never run, with a term by term account and an interval, and recommends
 * settings: those of least predicted time, or the default where a loss cannot be excluded
 * (HYB-L-13). It runs nothing (HYB-AC-18).
 *
 * Intervals. Each term can be wrong by its operation's margin (costs_margin(), of logarithms). An
 * error of one surrogate at one argument is the same in all `count` uses, and errors at arguments
 * that are near each other go the same way, so those of one surrogate add up; different surrogates
 * were learnt from different rows, so their errors are independent and add as squares:
 *
 *	high = t * (1 + sqrt(sum over operations of (sum over its terms of share * (e^m - 1))^2))
 *
 * and low alike with 1 - e^-m. An interval is about the mean of runs, not about a single one, and
 * it knows nothing of what the counts themselves leave out (HYB-L-3, HYB-L-12), but for two things
 * that make a round cheaper than its price, and that the machine or the counts tell of; they are
 * added to the margin downwards as the term's slack, where the counts are as published (with rounds
 *of domains, both are in the price):
 *
 *	- Benchmarks write more than the caches hold, so that rounds cost what they cost on average
 *	  (HYB-24). Caches hold a larger share of a short access, and what they hold may cost as
 *	  little as in a first round without its locks. What a first round costs more for twice the
 *	  bytes is the bytes, the rest is locks.
 *	- As published, an access of a single round is charged for two, of which the first is a full
 *	  one (HYB-28). The second may be free, and the first as cheap as that of domains
 *(counts.h).
 *
 * A round that caches hold (s_cached, of domains alone) was not benchmarked. It costs what a first
 * round costs beside its locks, but no more than a first one or one beyond caches. Errors of the
 * two first rounds whose difference that is are taken to be independent of each other, because
 * what they have in common cancels; and they are not taken to go with those of other terms.
 *
 * The gain of one setting over another is known better than either time: what both have in common
 * is wrong in both. So each distinct (operation, arguments) of either is shifted by its margin,
 * alone, and what that does to the logarithm of the gain is noted: nothing where the term has the
 * same share of both times. Effects of one operation that come from shifts in the same direction
 * add up, those from opposite directions (it is dearer here, cheaper there) and those of different
 * operations add as squares. That overstates the uncertainty where near arguments err alike on both
 * sides, never the reverse. Slack is common to all settings of an access: the gain is computed with
 * and without, and the interval spans both.
 *
 * As a file: one line of JSON for people, then the numbers, then a checksum (learn/file/checked_file.h).
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_HYBRID_H
#define SLUICE_PREDICT_MODEL_HYBRID_HYBRID_H

#include "predict/model/costs/costs.h"
#include "predict/model/counts/counts.h"

struct hybrid {
	struct machine machine;
	struct costs costs;
	struct rules rules;
	uint64_t seed;
	int64_t made; /* seconds since 1970 */
};

#define HYBRID_COVERAGE 0.9 /* where nobody says otherwise */

/* The rules are as published; the caller may set others. */
int hybrid_fit(struct hybrid *hybrid, const struct machine *machine, const struct elements *rows,
	       const struct costs_plan *plan, struct err *err);
void hybrid_release(struct hybrid *hybrid);
int hybrid_save(const struct hybrid *hybrid, const char *path, struct err *err);
int hybrid_load(struct hybrid *hybrid, const char *path, struct err *err);
int hybrid_parse(struct hybrid *hybrid, const char *name, const void *bytes, size_t n,
		 struct err *err);

struct prediction {
	struct counts counts;
	double each[COUNTS_TERMS], terms[COUNTS_TERMS]; /* of one operation; times count */
	double margins[COUNTS_TERMS];			/* of the logarithm of each */
	double slacks[COUNTS_TERMS];			/* the same, more, downwards alone */
	double seconds, low, high;
	bool is_outside; /* some argument lies beyond what was benchmarked */
};

/* -ENODATA where a term's operation was not benchmarked, with its name in err. */
int hybrid_predict(const struct hybrid *hybrid, const struct access *access,
		   const struct settings *settings, double coverage, struct prediction *prediction,
		   struct err *err);

/*
 * The times alone, of many settings at once; NAN where one makes no sense. Each distinct operation
 * is priced once, on all cores. For who is in a hurry.
 */
int hybrid_times(const struct hybrid *hybrid, const struct access *access,
		 const struct settings *settings, size_t count, double *seconds, struct err *err);

/*
 * The n best of many, exactly, best first: their indexes and times. Prices are positive, so what a
 * setting pays for its first and full rounds alone is a bound; where that is above the n-th best
 * time, the rest is not asked for. Returns how many there are: fewer than n where fewer make sense.
 */
int hybrid_best(const struct hybrid *hybrid, const struct access *access,
		const struct settings *settings, size_t count, size_t n, size_t *best,
		double *seconds, struct err *err);

/* The time of `from` over that of `to`; both predicted with the same coverage. */
struct gain {
	double gain, low, high;
};
void hybrid_gain(const struct prediction *from, const struct prediction *to, struct gain *gain);

#define HYBRID_GAIN_LEAST 1.01 /* that is worth a change */

struct recommendation {
	size_t best;			  /* index of the settings of least predicted time */
	double gain, gain_low, gain_high; /* predicted time of the default over that of the best */
	/* The interval of the gain does not exclude a loss, or it is not worth a change: keep the
	 * default. */
	bool keep;
	bool is_outside; /* either reaches beyond what was benchmarked */
	double seconds, initial_seconds;
};

/* Among count settings; initial: what counts now. */
int hybrid_recommend(const struct hybrid *hybrid, const struct access *access,
		     const struct settings *settings, size_t count, const struct settings *initial,
		     double coverage, struct recommendation *recommendation, struct err *err);

#endif
