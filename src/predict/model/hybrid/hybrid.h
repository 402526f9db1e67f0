/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hybrid model (Isaila et al. 2015): counts of operations times learned costs. It predicts the
 * time of accesses of programs that were never run, with one term per operation and a prediction
 * interval. It recommends the settings with the least predicted time, or the default if a loss
 * cannot be excluded. It runs nothing.
 *
 * Prediction intervals. Each term may be wrong by the margin of its operation (costs_margin(), of
 * the logarithm). An error of one surrogate at one argument is the same in all `count` uses, and
 * errors at neighboring arguments have the same sign, so errors of one surrogate add up. Different
 * surrogates were learned from different rows, so their errors are independent and their squares
 * add up:
 *
 *	high = t * (1 + sqrt(sum over operations of (sum over its terms of share * (e^m - 1))^2))
 *
 * and low with 1 - e^-m in the same way. An interval is about the mean of runs, not about a single
 * run. It does not cover what the counts leave out, with two exceptions that make a round cheaper
 * than its price. They are added to the lower margin as the slack of the term:
 *
 *	- Benchmarks write more than the caches hold, so the cost of a round is an average. Caches
 *	  hold a larger share of a short access, and a round that they hold may cost as little as a
 *	  first round without its locks. The cost of the bytes is the difference between first
 *	  rounds of twice the bytes and of the bytes; the remainder is the cost of locks.
 *	- The form of ROMIO may know that it charges too much (term_slack of struct counts_form).
 *
 * A round that caches hold (s_cached; only some forms count such rounds) was not benchmarked. It
 * costs as much as a first round without its locks, but no more than a first round or a round
 * beyond the caches. Errors of the two first rounds whose difference this is count as independent,
 * because what they have in common cancels; errors of other terms are independent of them.
 *
 * The gain of one setting over another is known better than either time, because a common error
 * cancels. Therefore each distinct pair of operation and arguments of either setting is shifted by
 * its margin, alone, and the change of the logarithm of the gain is noted: it is 0 if the term has
 * the same share of both times. Within one operation, changes by shifts in the same direction add
 * up; changes by shifts in opposite directions, and changes of different operations, add up as
 * squares. This may overstate the uncertainty but never understates it. Slack is common to all
 * settings of an access: the gain is computed with and without it, and the interval spans both.
 *
 * The intervals above come from the benchmarks alone. They ignore what the counts leave out and how
 * the state of the machine changes, so they have no known coverage on a real machine. A calibrated
 * model (validation.h) corrects predictions by measured accesses of the real library and replaces
 * the intervals of times and gains by conformal ones.
 *
 * A model file is one line of JSON for people, the numbers, and a checksum
 * (learn/file/checked_file.h).
 * Papers: HYB-2, HYB-11, HYB-12.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_HYBRID_H
#define SLUICE_PREDICT_MODEL_HYBRID_HYBRID_H

#include "predict/model/costs/costs.h"
#include "predict/model/counts/counts.h"
#include "predict/model/hybrid/validation.h"

struct json;

struct hybrid {
	struct machine machine;
	struct costs costs;
	uint64_t seed;
	int64_t made;	  /* seconds since 1970 */
	int64_t measured; /* time of the newest row; 0: unknown */
	struct validation validation;
};

#define HYBRID_SCHEMA "sluice.hybrid" /* begins a model file */
#define HYBRID_COVERAGE 0.9	      /* default coverage of prediction intervals */

/* -ENOTSUP if the product has no form for the machine's ROMIO. */
int hybrid_fit(struct hybrid *hybrid, const struct machine *machine, const struct elements *rows,
	       const struct costs_plan *plan, struct err *err);
void hybrid_release(struct hybrid *hybrid);

/* hybrid_parse() reads the bytes of a file; name is used in messages. */
int hybrid_save(const struct hybrid *hybrid, const char *path, struct err *err);
int hybrid_load(struct hybrid *hybrid, const char *path, struct err *err);
int hybrid_parse(struct hybrid *hybrid, const char *name, const void *bytes, size_t n,
		 struct err *err);

/*
 * Adds machine, made, seed and the list of fitted operations to the open JSON object. Brief: rows,
 * cells, learner and R2 of each operation; then all scores; then its candidates as well.
 */
enum hybrid_detail { HYBRID_BRIEF, HYBRID_SCORES, HYBRID_CANDIDATES };
void hybrid_json(const struct hybrid *hybrid, struct json *json, enum hybrid_detail detail);

struct prediction {
	struct counts counts;
	double each[COUNTS_TERMS];    /* seconds of one operation of the term */
	double terms[COUNTS_TERMS];   /* seconds of the term: count times each */
	double margins[COUNTS_TERMS]; /* of the logarithm of each */
	double slacks[COUNTS_TERMS];  /* added to the margin downwards only */
	double correction;	      /* by the calibration; 1: none */
	double seconds, low, high;    /* seconds: the sum of terms times the correction */
	/* The interval is that of the calibration; otherwise its coverage is unknown. */
	bool is_calibrated;
	double gain_margin; /* of the logarithm of a gain, if calibrated */
	bool is_outside;    /* some argument lies outside the benchmarked range */
};

/*
 * The number of nodes for this many ranks: that on which they were measured, else the fewest that
 * hold them, but no more than were measured if those suffice. hybrid may be NULL.
 */
uint64_t hybrid_choose_nodes(const struct hybrid *hybrid, const struct machine *machine,
			     uint64_t ranks);

/* -ENODATA if the operation of a term was not benchmarked; err names it. */
int hybrid_predict(const struct hybrid *hybrid, const struct access *access,
		   const struct settings *settings, double coverage, struct prediction *prediction,
		   struct err *err);

/*
 * Predicts the times of many settings, without intervals; NAN for settings that make no sense. Each
 * distinct operation is priced once, and the work is spread over all cores.
 */
int hybrid_times(const struct hybrid *hybrid, const struct access *access,
		 const struct settings *settings, size_t count, double *seconds, struct err *err);

/*
 * Finds the n fastest settings exactly, fastest first: their indexes and times. Prices are
 * positive, so the price of the first and the full rounds is a lower bound of the time; settings
 * whose bound exceeds the n-th best time are not priced further. Returns the number found, which is
 * less than n if fewer settings make sense.
 */
int hybrid_best(const struct hybrid *hybrid, const struct access *access,
		const struct settings *settings, size_t count, size_t n, size_t *best,
		double *seconds, struct err *err);

/* The speedup: time of `from` over time of `to`. Both were predicted with the same coverage. */
struct gain {
	double gain, low, high;
	bool is_calibrated;
};
void hybrid_gain(const struct prediction *from, const struct prediction *to, struct gain *gain);

#define HYBRID_GAIN_LEAST 1.01 /* a smaller gain is not worth a change */

struct recommendation {
	size_t best;			  /* index of the settings with the least predicted time */
	double gain, gain_low, gain_high; /* predicted time of the default over that of the best */
	/* Keep the default: the interval of the gain includes a loss, or the gain is too small. */
	bool keep;
	bool is_outside; /* an argument of either lies outside the benchmarked range */
	bool is_calibrated;
	double seconds, initial_seconds;
};

/* Chooses among count settings; initial is what is in effect without a recommendation. */
int hybrid_recommend(const struct hybrid *hybrid, const struct access *access,
		     const struct settings *settings, size_t count, const struct settings *initial,
		     double coverage, struct recommendation *recommendation, struct err *err);

#endif
