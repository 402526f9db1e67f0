/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calibrates predictions with measured accesses of the real library. The costs were not learned
 * from these accesses.
 *
 * A case is one access with one setting; cases of the same access form a group. The prediction of a
 * case is multiplied by a correction, the median of measured / predicted over all cases that move
 * their data in the same way (direction and enum transfer). What remains is the residual, the
 * logarithm of measured / corrected. It is computed out of fold: the correction of a case comes
 * from groups of other folds. Prediction intervals are conformal quantiles of the residuals
 * (learn/judge/conformal.h). Their coverage holds for accesses that are drawn like the measured
 * ones, on a machine in the same state.
 *
 * Cases that are held out are measured in a second session, after the others. They affect neither
 * corrections nor intervals. The share of them that is inside the intervals is the measured
 * coverage, which includes the change of the machine's state between sessions.
 *
 * The gain of a setting over the default has residuals of its own, because errors that both times
 * share cancel.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_VALIDATION_H
#define SLUICE_PREDICT_MODEL_HYBRID_VALIDATION_H

#include "learn/judge/conformal.h"
#include "predict/model/counts/counts.h"
#include "predict/model/environment.h"

struct validation_case {
	uint64_t group; /* number of the access */
	enum transfer transfer;
	bool is_read;
	bool is_default;     /* the settings are the library's defaults */
	bool is_held;	     /* held out: measured later, only to measure the coverage */
	double ranks, bytes; /* of the access; bytes per rank */
	double predicted;    /* seconds, not corrected */
	double measured;     /* seconds; median over runs */
};

/* What is predicted: the time of a case, or the gain of its settings over the default. */
enum validation_of { VALIDATION_TIMES, VALIDATION_GAINS, VALIDATION_KINDS };

struct validation {
	struct validation_case *cases;
	size_t count;	 /* 0: not calibrated */
	uint64_t repeat; /* runs per case */
	struct environment environment;
	/* Derived from the cases. */
	/* Cases that are not held out, by direction (write, read) and transfer. */
	size_t seen[2][TRANSFERS];
	double shifts[2][TRANSFERS]; /* logarithms of corrections */
	struct conformal residuals[VALIDATION_KINDS];
	size_t checked[VALIDATION_KINDS]; /* values that the measured coverage refers to */
	double least_ranks, most_ranks, least_bytes, most_bytes;
};

/* A claimed coverage is accepted if the measured one differs by no more than this. */
#define VALIDATION_TOLERANCE 0.05

/* Copies the cases. -EINVAL: a time is not positive. -ENODATA: fewer than two groups. */
int validation_make(struct validation *validation, const struct validation_case *cases,
		    size_t count, uint64_t repeat, const struct environment *environment,
		    struct err *err);
void validation_release(struct validation *validation);

/* True if cases of this direction and transfer were measured, with as many ranks and bytes. */
bool validation_covers(const struct validation *validation, const struct access *access,
		       enum transfer transfer);

/* The factor on a prediction; 1 if nothing of this kind was measured. */
double validation_correction(const struct validation *validation, bool is_read,
			     enum transfer transfer);

/* Half the width of the interval of the logarithm; INFINITY: too few cases for the coverage. */
double validation_margin(const struct validation *validation, enum validation_of of,
			 double coverage);

/*
 * What a claimed coverage is worth: the share of held-out cases that lie inside the intervals.
 * Without any, the share of cases inside intervals made from the groups of other folds. NAN: too
 * few cases for the coverage.
 */
double validation_measured_coverage(const struct validation *validation, enum validation_of of,
				    double coverage);

/* True if a claim of this coverage is supported by the measured coverage. */
bool validation_supports(const struct validation *validation, enum validation_of of,
			 double coverage);

void validation_save(const struct validation *validation, struct buf *buf);
int validation_load(struct validation *validation, struct blob *blob, struct err *err);

#endif
