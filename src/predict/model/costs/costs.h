/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one elemental operation costs on a benchmarked platform: a learned surrogate per operation
 * that has rows (HYB-39 to HYB-44), each chosen by model selection; its leaderboard is kept.
 *
 * Rows with equal arguments are repetitions of one cell. Cells, not rows, are learnt and are
 * divided into folds: a cost is that of the mean, since an access is a sum of many, and a
 * repetition must not tell about its twin. Where writers were placed in both ways, those placed by
 * topology count, because that is what ROMIO does (HYB-24).
 *
 * Noise is taken out of cells, also of those that were measured only once: a Gaussian process over
 * the logarithms of arguments tells it from the shape of the costs, and knows how sure that is. All
 * writes of storage are one such process, all reads another, so that few full rounds lean on many
 * partial ones. What was benchmarked is priced so. What was not is priced by the surrogate, which
 * learns from smooth cells where it then guesses others better; how good it is said to be is about
 * cells as they were measured.
 *
 * Where that cannot be done (few cells, no LAPACK), arguments that were benchmarked are known
 * twice: by what was measured, as uncertain as a mean of so many repetitions is, and by the
 * surrogate, as uncertain as it was out of fold. The price is the mean of both logarithms, weighted
 * by precision. Where cells were measured only once their noise is not known; it is then taken to
 * be as large as errors out of fold, which hold it.
 *
 * Arguments beyond those that were benchmarked are moved to the edge: what is smaller costs the
 * same, what is larger costs in proportion to its bytes (and writers). As long as twice as much of
 * something costs between once and twice the time, that errs by no more than the way to the edge,
 * and so much is added to the margin.
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
	double rmse, r2; /* means over folds, of what was learnt (logarithms) */
	char *failure;	 /* NULL: none */
};

/* What was measured with the same arguments. */
struct cost_cell {
	struct elemental at;
	double seconds; /* mean */
	size_t repetitions;
	double squares; /* of seconds of repetitions around their mean, which is 1; fitting only */
	double smooth;	/* what it costs, noise taken out */
	double deviation; /* of that, of its logarithm; NAN: not smoothed */
};

/* How good a surrogate is for cells that it had not seen, all folds together. NAN: not judged. */
struct cost_score {
	double rmse, r2;	 /* of seconds */
	double log_rmse, log_r2; /* of natural logarithms */
	double median_error;	 /* |guess / truth - 1| */
};

struct cost {
	bool is_fitted;
	bool alone;		 /* cells are not used but to learn from: the paper's way */
	bool is_cached;		 /* of storage: no more was written than caches hold */
	size_t rows;		 /* that it was learnt from */
	size_t left_out;	 /* cells: a time that is not positive has no logarithm */
	struct cost_cell *cells; /* ascending by arguments */
	size_t cell_count;
	struct elemental least, most;			/* what was benchmarked */
	size_t inputs[OPERATION_FEATURES], input_count; /* features that vary */
	struct pipeline pipeline;			/* no learner: all cells cost the same */
	double floor;		    /* the least that was measured; no guess is below */
	struct conformal conformal; /* of errors out of fold, of logarithms */
	double spread;		    /* root of their mean square */
	double noise;		    /* relative deviation of one repetition; NAN: not known */
	struct cost_score score;
	struct cost_entry *entries; /* best first */
	size_t entry_count;
};

struct costs {
	struct cost of[OPERATIONS];
};

struct costs_plan {
	const struct learner_ops *const *learners; /* NULL: those of HYB-40 */
	size_t budget, folds;			   /* 0: 30 and 10 */
	bool plain_target;			   /* learn seconds, not their logarithm */
	bool surrogates_alone;			   /* never look up what was measured */
	/* The methods that these were given by selection, instead of another one: for other rows
	 * of the same benchmarks. NULL, and operations that these lack: by selection. */
	const struct costs *like;
	uint64_t seed;
	unsigned threads; /* 0: as many as there are cores */
	/* Called now and then from one thread; true stops (-ECANCELED). Optional. */
	bool (*progress)(void *arg, enum operation operation, size_t done, size_t total);
	void *progress_arg;
};

/* -ENODATA where there is no row at all. costs is untouched on failure. */
int costs_fit(struct costs *costs, const struct elements *rows, const struct costs_plan *plan,
	      struct err *err);
void costs_release(struct costs *costs);

/* Seconds; NAN where the operation was not benchmarked. Any thread; a counts_cost() of costs. */
double costs_price(void *costs, enum operation operation, const struct elemental *at);

/* Of many arguments at once, which is faster. */
void costs_prices(const struct costs *costs, enum operation operation, const struct elemental *at,
		  size_t count, double *seconds);

/*
 * By how much the logarithm of a price may be wrong, with that coverage; INFINITY where nothing can
 * be said. Errors beyond what so few cells can tell are taken to fall off exponentially.
 */
double costs_margin(const struct costs *costs, enum operation operation, const struct elemental *at,
		    double coverage);

/* Is an argument beyond what was benchmarked? */
bool costs_is_outside(const struct costs *costs, enum operation operation,
		      const struct elemental *at);

void costs_save(const struct costs *costs, struct buf *buf);
int costs_load(struct costs *costs, struct blob *blob, struct err *err);

#endif
