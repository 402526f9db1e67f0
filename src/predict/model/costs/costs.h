/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of one elemental operation on a benchmarked platform. Each operation with rows has a
 * learned surrogate, which model selection chooses; its leaderboard is kept.
 *
 * Rows with equal arguments are repetitions of one cell. Surrogates learn from cells, not from
 * rows, and folds consist of cells: an access is a sum of many operations, so the mean matters, and
 * repetitions of one cell must not be in two folds. If writers were placed in both ways, the rows
 * of placement by topology are used, because ROMIO places aggregators that way.
 *
 * A Gaussian process over the logarithms of arguments separates noise from the shape of the costs,
 * even for cells that were measured once, and estimates the remaining uncertainty. All writes share
 * one process and all reads another, so the few full rounds benefit from the many partial ones.
 * Benchmarked arguments have the smoothed cost. Other arguments are priced by the surrogate, which
 * learns from smoothed cells if that improves its predictions. Its scores refer to cells as
 * measured.
 *
 * If smoothing is not possible (few cells, no LAPACK), there are two estimates of benchmarked
 * arguments: the mean of the repetitions, and the surrogate, which is as uncertain as its
 * out-of-fold errors. The price is the mean of both logarithms, weighted by precision. The noise of
 * cells that were measured once is unknown; it is assumed to equal the out-of-fold errors, which
 * include it.
 *
 * Arguments outside the benchmarked range are moved to its edge: smaller arguments cost the same,
 * larger ones cost in proportion to bytes (and writers). As long as twice as much costs between
 * once and twice the time, the error is at most the distance to the edge, which is added to the
 * margin.
 * Papers: HYB-11, HYB-12, HYB-24.
 */
#ifndef SLUICE_PREDICT_MODEL_COSTS_COSTS_H
#define SLUICE_PREDICT_MODEL_COSTS_COSTS_H

#include <stdint.h>

#include "learn/judge/conformal.h"
#include "learn/pipeline.h"
#include "predict/model/operation.h"

struct blob;
struct buf;
struct elements;
struct err;

/* One line of a leaderboard. */
struct cost_entry {
	char *learner, *settings, *recipe;
	double rmse, r2; /* means over folds, of the learned target (logarithms) */
	char *failure;	 /* why the candidate failed, or NULL */
};

/* All measurements with the same arguments. */
struct cost_cell {
	struct elemental at;
	double seconds; /* mean */
	size_t repetitions;
	double squares; /* sum of squared deviations of seconds / mean from 1; used by fitting only
			 */
	double smooth;	/* seconds after noise was removed */
	double deviation; /* standard deviation of the logarithm of smooth; NAN: not smoothed */
};

/* Out-of-fold scores of a surrogate over all folds. NAN: not evaluated. */
struct cost_score {
	double rmse, r2;	 /* of seconds */
	double log_rmse, log_r2; /* of natural logarithms */
	double median_error;	 /* of |prediction / measurement - 1| */
};

struct cost {
	bool is_fitted;
	bool alone;	 /* price by the surrogate even for measured arguments, as the paper does */
	bool is_cached;	 /* storage: the benchmark wrote no more than the caches hold */
	size_t rows;	 /* number of rows it was learned from */
	size_t left_out; /* number of cells whose mean time is not positive */
	struct cost_cell *cells; /* ascending by arguments */
	size_t cell_count;
	struct elemental least, most;			/* the benchmarked range */
	size_t inputs[OPERATION_FEATURES], input_count; /* features that vary */
	struct pipeline pipeline;			/* without a learner: constant cost */
	double floor;		    /* least measured time; a lower bound of predictions */
	struct conformal conformal; /* out-of-fold errors of logarithms */
	double spread;		    /* root mean square of these errors */
	double noise; /* relative standard deviation of one repetition; NAN: unknown */
	struct cost_score score;
	struct cost_entry *entries; /* best first */
	size_t entry_count;
};

struct costs {
	struct cost of[OPERATIONS];
};

struct costs_plan {
	const struct learner_ops *const *learners; /* NULL: those of the paper */
	size_t budget, folds;			   /* 0: 30 and 10 */
	bool plain_target;			   /* learn seconds, not their logarithm */
	bool surrogates_alone;			   /* never use the measured cost of a cell */
	/* Use the methods that model selection chose for these costs, for other rows of the same
	 * benchmarks. NULL, or an operation without costs: run model selection. */
	const struct costs *like;
	uint64_t seed;
	unsigned threads; /* 0: one per core */
	/* Optional; called from one thread. Returns true to stop (-ECANCELED). */
	bool (*progress)(void *arg, enum operation operation, size_t done, size_t total);
	void *progress_arg;
};

/* -ENODATA: there are no rows. Leaves costs untouched on failure. */
int costs_fit(struct costs *costs, const struct elements *rows, const struct costs_plan *plan,
	      struct err *err);
void costs_release(struct costs *costs);

/* Returns seconds, or NAN if the operation was not benchmarked. Thread-safe. Has the type
 * counts_cost. */
double costs_price(void *costs, enum operation operation, const struct elemental *at);

/* Prices many arguments at once, which is faster. */
void costs_prices(const struct costs *costs, enum operation operation, const struct elemental *at,
		  size_t count, double *seconds);

/*
 * The margin of the logarithm of a price with the given coverage; INFINITY: unknown. If there are
 * too few cells for the quantile, the tail of errors is assumed to be exponential.
 */
double costs_margin(const struct costs *costs, enum operation operation, const struct elemental *at,
		    double coverage);

/* True if an argument is outside the benchmarked range. */
bool costs_is_outside(const struct costs *costs, enum operation operation,
		      const struct elemental *at);

void costs_save(const struct costs *costs, struct buf *buf);
int costs_load(struct costs *costs, struct blob *blob, struct err *err);

#endif
