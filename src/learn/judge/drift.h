/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is the model still as good as it was? The share of right answers in a window of the newest rows
 * is held against the confidence band (Wilson) around the share at training time. It is drift when
 * the window as a whole is below the band, and it is not reported again before a recovery (the
 * window is as good as expected) or drift_reset(). For regression an answer is right if it was
 * inside its interval.
 *
 * The band widens with the doubt about `expected` itself. It is looked at after every answer, so
 * false alarms are more frequent than 1 - confidence per window: with 0.99 up to one in 17 windows'
 * worth of answers, with 0.999 one in 90, with 0.9999 one in 500 (measured; fewer where expected is
 * far above one half).
 */
#ifndef SLUICE_LEARN_JUDGE_DRIFT_H
#define SLUICE_LEARN_JUDGE_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

struct drift {
	double expected; /* share of right answers when trained */
	double low;	 /* the lower edge of the band for a full window */
	bool *right;	 /* a ring */
	size_t window, count, next, sum;
	bool drifted;
};

/*
 * confidence: one-sided, e.g. 0.999. trained_on: rows that `expected` was measured on; 0: it is
 * known for sure. window at least 1.
 */
void drift_init(struct drift *drift, double expected, size_t trained_on, size_t window,
		double confidence);
void drift_release(struct drift *drift);

/* One more answer. True when this one shows that the model has drifted: retrain now. */
bool drift_learn(struct drift *drift, bool right);

/* Share of right answers in the window; NAN while it is empty. */
double drift_share(const struct drift *drift);

/* The model is new: its answers so far are forgotten. */
void drift_reset(struct drift *drift, double expected, size_t trained_on, double confidence);

#endif
