/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recommendation of settings for an access as a whole: the candidates, the best of them with
 * their predicted times and intervals, and the verdict. The command line and the web application
 * show the same advice. It runs nothing.
 *
 *	struct advice advice = { .hybrid = &hybrid, .access = access, .top = 5, .coverage = 0.9 };
 *
 *	r = advice_find(&advice, &err);
 *	...
 *	advice_release(&advice);
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_ADVICE_H
#define SLUICE_PREDICT_MODEL_HYBRID_ADVICE_H

#include "predict/model/hybrid/choices.h"

struct json;

/* A setting that is shown. */
struct advice_row {
	size_t choice; /* index of the list of choices */
	double seconds, low, high;
};

struct advice {
	/* What is asked. */
	const struct hybrid *hybrid;
	struct access access;
	struct settings initial; /* what is in effect without a recommendation */
	const char *space;	 /* file of a search space; NULL: all settings the model knows */
	size_t top;		 /* number of settings to show */
	double coverage;
	/* The answer. */
	struct choices choices;
	struct recommendation recommendation;
	double initial_low, initial_high; /* interval of the time with the initial settings */
	struct advice_row *rows;	  /* best first */
	size_t row_count;
	double took; /* seconds that it took to find the best */
};

/* Fails if the access cannot be predicted. The caller releases the advice also after a failure. */
int advice_find(struct advice *advice, struct err *err);
void advice_release(struct advice *advice);

/* Appends the verdict, one sentence per line; the first one names the settings to use. */
void advice_verdict(const struct advice *advice, struct buf *out);

/* Writes the members of the schema sluice.model/1. */
void advice_json(const struct advice *advice, struct json *json);

#endif
