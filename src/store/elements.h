/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Benchmarks of elementary I/O operations of a platform ('sluice model measure'): one row per
 * repetition. The rows of a complete cell are saved before the next cell starts, so that an
 * interrupted benchmark can be resumed.
 * Papers: HYB-38.
 */
#ifndef SLUICE_STORE_ELEMENTS_H
#define SLUICE_STORE_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

#define ELEMENT_PLATFORM 64
#define ELEMENT_WORD 16

struct element {
	char platform[ELEMENT_PLATFORM];
	char operation[ELEMENT_WORD]; /* "ar", "s_lock": predict/model/operation.h */
	char placement[ELEMENT_WORD]; /* of writers: "uniform", "topology"; "": no writers */
	char cache[ELEMENT_WORD]; /* page cache: "bypassed", "exceeded", "within"; "": unknown */
	double nodes, cores;
	double senders, receivers, writers, bytes; /* writers per node */
	int64_t round;	    /* storage operations: 0 is the first round of a new file */
	int64_t repetition; /* from 0 */
	double seconds;
	int64_t time_ns; /* wall clock */
};

/* A list of rows. A zero-initialized list is empty. */
struct elements {
	struct element *rows;
	size_t count, cap;
};
void elements_add(struct elements *elements, const struct element *row);
void elements_release(struct elements *elements);

/* Saves all rows or none. An existing row (all but seconds and time equal) is replaced. */
int elements_save(struct store *store, const struct element *rows, size_t count, struct err *err);

/* Appends the rows of a platform to `out` in the order of saving. operation NULL: all. */
int elements_load(struct store *store, const char *platform, const char *operation,
		  struct elements *out, struct err *err);

/* Calls `seen` for each platform, with its number of rows. A result other than 0 stops. */
typedef int (*elements_seen)(void *arg, const char *platform, uint64_t rows);
int elements_platforms(struct store *store, elements_seen seen, void *arg, struct err *err);

/* Deletes the rows of a platform. -ENOENT if there are none. */
int elements_forget(struct store *store, const char *platform, struct err *err);

#endif
