/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the hybrid model (predict/model/hybrid/hybrid.h) makes of a recorded run: the time of its
 * collective accesses under other parameters, as a prior for searches. Parameters that the model
 * does not know change nothing; hints that the program passes itself count where parameters leave
 * them alone.
 */
#ifndef SLUICE_TUNE_LOOP_ADVICE_H
#define SLUICE_TUNE_LOOP_ADVICE_H

#include "tune/search/search.h"
#include "tune/trial/access_profile.h"

#define ADVICE_DIGEST 33

struct advice;
struct param_set;
struct space;

/* From a file that `sluice model fit` has made. -ENOENT: there is none, with how to get one. */
int advice_open(struct advice **advice, const char *path, struct err *err);
void advice_close(struct advice *advice); /* NULL is fine */

/* The model itself, which is the advice's. */
struct hybrid;
const struct hybrid *advice_model(const struct advice *advice);

/* Of the file's bytes: another model has another one. */
const char *advice_digest(const struct advice *advice);

/*
 * The accesses in question, which are copied. Those that the model cannot predict are left out;
 * -ENODATA where that are all of them, and the sentence says why.
 */
int advice_about(struct advice *advice, const struct access_profile *profile, struct err *err);

/* Why accesses are left out, in a sentence; NULL: none are. */
const char *advice_note(const struct advice *advice);

/* Seconds of all accesses under these parameters; NAN: the model cannot tell. One thread. */
double advice_seconds(struct advice *advice, const struct param_set *set);

/* The same of the points of a space, which must outlive it. Valid until the next call. */
const struct search_prior *advice_prior(struct advice *advice, const struct space *space);

#endif
