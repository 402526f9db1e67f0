/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predicted against measured times of a model: the accesses that it was calibrated with
 * (validation.h) or, without calibration, the benchmarks it was learned from, which are no test of
 * it.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_PAIRS_H
#define SLUICE_PREDICT_MODEL_HYBRID_PAIRS_H

#include <stddef.h>

struct hybrid;

enum pair_group { PAIR_WRITE, PAIR_READ, PAIR_HELD, PAIR_COMMUNICATION, PAIR_GROUPS };
/* "writing", "reading", "held out", "communication" */
extern const char *const pair_group_names[PAIR_GROUPS];

/* One measurement. */
struct pair {
	double predicted,
		measured; /* positive seconds; predicted is corrected by the calibration */
	enum pair_group group;
	const char *what; /* constant: "read", "write", or the name of an operation */
};

struct pairs {
	struct pair *list;
	size_t count, cap;
};

/* Pairs of times that are not positive are left out. The caller releases them. */
void pairs_init(struct pairs *pairs, struct hybrid *hybrid);
void pairs_release(struct pairs *pairs);

/* Scores of the pairs of a group; PAIR_GROUPS: of all. NAN without any. */
struct pairs_score {
	size_t count;
	double median_error; /* of |predicted / measured - 1| */
	double bias;	     /* median of predicted / measured */
};
void pairs_score(const struct pairs *pairs, enum pair_group group, struct pairs_score *score);

#endif
