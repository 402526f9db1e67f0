/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What elemental operations of a platform took when it was benchmarked (HYB-38): one row per
 * repetition. Cells that are complete are in the store before the next begins, so that a benchmark
 * that was cut off goes on where it was.
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
	char placement[ELEMENT_WORD]; /* of writers: "uniform", "topology"; "": there are none */
	char cache[ELEMENT_WORD]; /* of storage: "bypassed", "exceeded", "within"; "": unknown */
	double nodes, cores;
	double senders, receivers, writers, bytes; /* writers per node */
	int64_t round;				   /* of storage: 0 is the first of a fresh file */
	int64_t repetition;			   /* from 0 */
	double seconds;
	int64_t time_ns; /* wall clock */
};

/* Rows by value, any number. Zero-initialised is empty. */
struct elements {
	struct element *rows;
	size_t count, cap;
};
void elements_add(struct elements *elements, const struct element *row);
void elements_release(struct elements *elements);

/* All of them or none. A row that is there already (all but seconds and time equal) is replaced. */
int elements_save(struct store *store, const struct element *rows, size_t count, struct err *err);

/* Of a platform, in the order in which they were saved; operation NULL: of all. Adds to out. */
int elements_load(struct store *store, const char *platform, const char *operation,
		  struct elements *out, struct err *err);

/* Platforms that have rows, with how many; seen() returns other than 0 to stop. */
typedef int (*elements_seen)(void *arg, const char *platform, uint64_t rows);
int elements_platforms(struct store *store, elements_seen seen, void *arg, struct err *err);

int elements_forget(struct store *store, const char *platform, struct err *err); /* -ENOENT */

#endif
