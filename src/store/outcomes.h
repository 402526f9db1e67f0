/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What files did under which hints: for each operation, user, file-name extension and size class,
 * per set of hints, how often it was seen and which rate it reached. Crediting adds to what is
 * there; many runs may do so at once, each within store_begin() and store_end().
 *
 * A set of hints is KEY=VALUE;KEY=VALUE sorted by key; "" are the defaults.
 */
#ifndef SLUICE_STORE_OUTCOMES_H
#define SLUICE_STORE_OUTCOMES_H

#include <stdint.h>

#include "store/store.h"

/* Sizes of accesses by powers of 4: 0 up to 3 bytes, 1 up to 15, ... */
#define OUTCOMES_SIZE_CLASSES 32

struct outcome_key {
	const char *operation; /* "read", "write", "read_all", "write_all" */
	const char *user, *extension;
	unsigned size_class;
};

struct outcome {
	uint64_t count; /* openings of files */
	double bytes, seconds;
	double rate;   /* mean of their bytes per second */
	double spread; /* sum of the squared differences from it */
};

unsigned outcomes_size_class(double bytes);

/* One more opening. Needs bytes and seconds above 0. */
int outcomes_credit(struct store *store, const struct outcome_key *key, const char *hints,
		    double bytes, double seconds, struct err *err);

/* Two that were seen apart, as if they had been seen together. */
void outcome_join(struct outcome *sum, const struct outcome *more);
double outcome_deviation(const struct outcome *outcome); /* of one from the mean; 0 for one */

/* In the order of their keys, then hints; user NULL: of all. Non-zero of seen() stops. */
typedef int (*outcomes_seen)(void *arg, const struct outcome_key *key, const char *hints,
			     const struct outcome *outcome);
int outcomes_list(struct store *store, const char *user, outcomes_seen seen, void *arg,
		  struct err *err);

/* All of it, trials as well. */
int outcomes_forget(struct store *store, struct err *err);

/* Files opened, and those of them that were trials of other hints: adds. */
int outcomes_opened(struct store *store, const char *user, const char *extension, uint64_t opens,
		    uint64_t explored, struct err *err);

/* All of a user's so far. */
int outcomes_opens(struct store *store, const char *user, uint64_t *opens, uint64_t *explored,
		   struct err *err);

#endif
