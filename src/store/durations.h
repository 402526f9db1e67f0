/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of call durations per host, layer, call and size class. There are eight bins per power
 * of two, which gives a resolution of 12 %; 336 bins cover 1 ns to more than an hour.
 *
 * The histograms are bounded and forget old runs: a run adds at most DURATIONS_RUN_MAX calls to a
 * histogram, and all counts are halved when a histogram has more than DURATIONS_KEPT_MAX calls. So
 * the store adapts to a changed machine within a few runs.
 */
#ifndef SLUICE_STORE_DURATIONS_H
#define SLUICE_STORE_DURATIONS_H

#include <stdint.h>

#include "store/store.h"

#define DURATIONS_BINS 336
#define DURATIONS_KEPT_MAX 100000
#define DURATIONS_RUN_MAX 50000

struct durations {
	uint64_t calls; /* sum of the bins */
	uint32_t bins[DURATIONS_BINS];
};

unsigned durations_bin(int64_t ns);
/* The start of a bin; durations_bin_ns(DURATIONS_BINS) is the end of the last one. */
int64_t durations_bin_ns(unsigned bin);

void durations_add(struct durations *durations, int64_t ns);
void durations_join(struct durations *sum, const struct durations *more);
/* The interpolated quantile of the durations; share is 0 to 1. Returns 0 if there are no calls. */
int64_t durations_quantile(const struct durations *durations, double share);

/* Size classes are powers of four: 0 is no bytes, 1 is 1 to 3 bytes, 2 is 4 to 15 bytes, etc. */
unsigned durations_size_class(uint64_t bytes);
/* The smallest size of a class. */
uint64_t durations_class_bytes(unsigned size_class);

/* Adds the durations of a run to the store. */
int durations_merge(struct store *store, const char *host, const char *layer, const char *call,
		    unsigned size_class, const struct durations *seen, struct err *err);

/* Deletes all histograms. */
int durations_forget(struct store *store, struct err *err);

/*
 * Calls `seen` for each histogram of a host (NULL: all hosts), ordered by host, layer, call and
 * size class. A result other than 0 stops.
 */
typedef int (*durations_seen)(void *arg, const char *host, const char *layer, const char *call,
			      unsigned size_class, const struct durations *durations);
int durations_list(struct store *store, const char *host, durations_seen seen, void *arg,
		   struct err *err);

#endif
