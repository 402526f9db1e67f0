/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Detects that a model became worse. The share of correct answers in a window of the newest rows is
 * compared with the Wilson confidence band around the share at training time. Drift is reported
 * when the window as a whole falls below the band, and only once until the model recovers (the
 * window is as good as expected). For regression an answer is correct if the truth is inside its
 * prediction interval.
 *
 * The band includes the uncertainty of `expected` itself. It is checked after every answer, so
 * false alarms are more frequent than 1 - confidence per window: with 0.99 up to one per 17 windows
 * of answers, with 0.999 one per 90, with 0.9999 one per 500 (measured; fewer if expected is far
 * above 0.5).
 */
#ifndef SLUICE_LEARN_JUDGE_DRIFT_H
#define SLUICE_LEARN_JUDGE_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

struct drift {
	double expected; /* share of correct answers at training time */
	double low;	 /* lower edge of the band for a full window */
	bool *right;	 /* ring of the newest answers */
	size_t window, count, next, sum;
	bool drifted;
};

/* The lower edge of Wilson's interval around a share of `rows` rows; confidence is one-sided. */
double drift_share_low(double share, double rows, double confidence);

/*
 * confidence is one-sided, e.g. 0.999. trained_on: number of rows on which `expected` was measured;
 * 0: it is exact. window is at least 1.
 */
void drift_init(struct drift *drift, double expected, size_t trained_on, size_t window,
		double confidence);
void drift_release(struct drift *drift);

/*
 * Adds an answer. Returns true if this answer shows that the model has drifted and must be
 * retrained.
 */
bool drift_learn(struct drift *drift, bool right);

/* Share of correct answers in the window; NAN while it is empty. */
double drift_share(const struct drift *drift);

#endif
