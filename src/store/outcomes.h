/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Transfer rates of files by their hints: for each operation, user, program, file-name extension,
 * file system, size class and set of hints, the number of runs and files and the mean rate. Several
 * runs may add outcomes at the same time, each within store_begin() and store_end().
 *
 * The outcomes of each run are kept apart, so that runs are counted exactly. After OUTCOMES_RUNS
 * runs with the same key and hints, the outcomes of all further runs are kept together.
 *
 * Outcomes of a store of an earlier version have the program "", and all of them count as one run.
 *
 * A set of hints is KEY=VALUE;KEY=VALUE sorted by key; "" means the defaults.
 */
#ifndef SLUICE_STORE_OUTCOMES_H
#define SLUICE_STORE_OUTCOMES_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/* Size classes of accesses are powers of 4: class 0 is up to 3 bytes, 1 up to 15 bytes, etc. */
#define OUTCOMES_SIZE_CLASSES 32
#define OUTCOMES_RUNS 64

struct outcome_key {
	const char *operation; /* "read", "write", "read_all", "write_all" */
	const char *user, *program, *extension;
	const char *filesystem; /* mount point; "": unknown */
	unsigned size_class;
};

struct outcome {
	uint64_t runs;	/* number of different runs, at most OUTCOMES_RUNS + 1 */
	uint64_t count; /* number of file opens */
	double bytes, seconds;
	double rate;   /* mean of the bytes per second of each open */
	double spread; /* sum of the squared differences from the mean */
};

unsigned outcomes_size_class(double bytes);

/* Adds one file open of a run, given by its UUID. bytes and seconds must be positive. */
int outcomes_add(struct store *store, const struct outcome_key *key, const char *run,
		 const char *hints, double bytes, double seconds, struct err *err);

/* Adds the opens of `more` to those of `sum`, which does not change the number of runs. */
void outcome_join(struct outcome *sum, const struct outcome *more);
double outcome_deviation(
	const struct outcome *outcome); /* standard deviation of the rates; 0 for a single open */

struct outcomes_filter {
	const char *user;		    /* NULL: all users */
	bool joins_users, joins_extensions; /* does not tell them apart; the key has "*" instead */
};

/* Calls `seen` for each outcome, by key and hints. Non-zero stops. */
typedef int (*outcomes_seen)(void *arg, const struct outcome_key *key, const char *hints,
			     const struct outcome *outcome);
int outcomes_list(struct store *store, const struct outcomes_filter *filter, outcomes_seen seen,
		  void *arg, struct err *err);

/* Deletes all outcomes and the counters below. */
int outcomes_forget(struct store *store, struct err *err);

/* Adds to the counters of file opens and of those opens that tried out other hints. */
int outcomes_add_opens(struct store *store, const char *user, const char *extension, uint64_t opens,
		       uint64_t explored, struct err *err);

/* Reads the sums of these counters over all extensions of a user. */
int outcomes_count_opens(struct store *store, const char *user, uint64_t *opens, uint64_t *explored,
			 struct err *err);

#endif
