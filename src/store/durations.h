/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long calls take: a histogram of durations per host, layer, call and size class. Eight bins
 * per power of two, so that a duration is known to 12 %; 336 bins reach from 1 ns to beyond an
 * hour.
 *
 * What is kept is bounded, and forgets: a run adds at most DURATIONS_RUN_MAX calls to a histogram,
 * which is halved when it holds more than DURATIONS_KEPT_MAX. So a machine that has changed is
 * learnt anew within a few runs.
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
/* Where a bin begins; that of DURATIONS_BINS is where the last one ends. */
int64_t durations_bin_ns(unsigned bin);

void durations_add(struct durations *durations, int64_t ns);
void durations_join(struct durations *sum, const struct durations *more);
/* The duration that this share (0 to 1) of the calls does not exceed, interpolated; 0 of none. */
int64_t durations_quantile(const struct durations *durations, double share);

/* Powers of four: 0 for no bytes, 1 for 1 to 3 bytes, 2 for 4 to 15, ... */
unsigned durations_size_class(uint64_t bytes);
/* The smallest size of a class. */
uint64_t durations_class_bytes(unsigned size_class);

/* Adds what a run has seen. */
int durations_merge(struct store *store, const char *host, const char *layer, const char *call,
		    unsigned size_class, const struct durations *seen, struct err *err);

int durations_forget(struct store *store, struct err *err);

/* All that is known of a host (NULL: of all), by host, layer, call and class. Non-zero stops. */
typedef int (*durations_seen)(void *arg, const char *host, const char *layer, const char *call,
			      unsigned size_class, const struct durations *durations);
int durations_list(struct store *store, const char *host, durations_seen seen, void *arg,
		   struct err *err);

#endif
