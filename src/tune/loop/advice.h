/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predicts the time of a run's collective accesses under other parameters with the hybrid model
 * (predict/model/hybrid/hybrid.h). Searches use the prediction as a prior. Parameters that the
 * model does not know change nothing. Hints that the program sets itself apply unless a parameter
 * overrides them.
 */
#ifndef SLUICE_TUNE_LOOP_ADVICE_H
#define SLUICE_TUNE_LOOP_ADVICE_H

#include "tune/search/search.h"
#include "tune/trial/access_profile.h"

#define ADVICE_DIGEST 33

struct advice;
struct param_set;
struct space;

/* Opens a model file of `sluice model fit`. -ENOENT: there is none; err says how to make one. */
int advice_open(struct advice **advice, const char *path, struct err *err);
void advice_close(struct advice *advice); /* accepts NULL */

/* The model, which the advice owns. */
struct hybrid;
const struct hybrid *advice_model(const struct advice *advice);

/* A digest of the model file. */
const char *advice_digest(const struct advice *advice);

/*
 * Sets the accesses to predict, which are copied. Those that the model cannot predict are left out;
 * -ENODATA if none is left, and err says why.
 */
int advice_set_profile(struct advice *advice, const struct access_profile *profile,
		       struct err *err);

/* Says why accesses are left out; NULL: none are. */
const char *advice_note(const struct advice *advice);

/* Predicted seconds of all accesses under these parameters; NAN: no prediction. Not thread-safe: it
 * fills a cache. */
double advice_seconds(struct advice *advice, const struct param_set *set);

/* The same as a prior for the points of a space, which must outlive it. Valid until the next call.
 */
const struct search_prior *advice_prior(struct advice *advice, const struct space *space);

#endif
