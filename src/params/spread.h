/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values of the kind TUNABLE_SPREAD: destinations of new files with weights, "/mnt/a*3,/mnt/b".
 * The guest assigns every new file to one of them, in proportion to the weights
 * (capture/apply/spread.h). parameters_destination() in contract/parameters.h defines the grammar.
 */
#ifndef SLUICE_PARAMS_SPREAD_H
#define SLUICE_PARAMS_SPREAD_H

#include <stddef.h>

struct buf;
struct err;
struct tunable;

/* Limit of a list; it leaves room for other parameters in the page of a run. */
#define SPREAD_BYTES 14336

/* Like tunable_parse(). A list must not name a destination twice. */
char *spread_parse(const struct tunable *tunable, const char *text, struct err *err);

/*
 * Writes the list for the shares, which need not sum up to 1. Weights are as fine as
 * PARAMETERS_WEIGHTS allows; destinations whose share rounds to weight 0 are omitted. -EINVAL if a
 * name cannot be written or no destination remains; out is untouched then.
 */
int spread_write(const char *const *names, const double *shares, size_t count, struct buf *out,
		 struct err *err);

#endif
