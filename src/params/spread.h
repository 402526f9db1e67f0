/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values of the kind TUNABLE_SPREAD: destinations of new files with weights, "/mnt/a*3,/mnt/b".
 * The guest gives every new file one of them, in proportion to the weights (capture/apply/spread.h); the
 * grammar is that of parameters_destination() in contract/parameters.h.
 */
#ifndef SLUICE_PARAMS_SPREAD_H
#define SLUICE_PARAMS_SPREAD_H

#include <stddef.h>

struct buf;
struct err;
struct tunable;

/* Of a whole list: what the page of a run has room for, beside some others. */
#define SPREAD_BYTES 14336

/* As tunable_parse(). A list names each destination once. */
char *spread_parse(const struct tunable *tunable, const char *text, struct err *err);

/*
 * The list for shares, which need not sum up to 1: weights are as fine as PARAMETERS_WEIGHTS
 * allows, a share that is too small for one is left out. -EINVAL where a name cannot be written or
 * nothing is left; out is untouched then.
 */
int spread_write(const char *const *names, const double *shares, size_t count, struct buf *out,
		 struct err *err);

#endif
