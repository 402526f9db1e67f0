/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program that measures elemental operations (predict/model/operation.h): collectives and
 * exchanges (elemental_comm.c), storage rounds (elemental_storage.c), and the placement of ranks
 * (elemental_place.c). `sluice model measure` starts it and reads its output; docs/reference/measure.md
 * describes the formats of input and output.
 */
#ifndef SLUICE_ELEMENTAL_H
#define SLUICE_ELEMENTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kernel.h"
#include "predict/model/costs/selectors.h"

#define ELEMENTAL_PARTS 64

enum elemental_kind { ELEMENTAL_COMM, ELEMENTAL_STORAGE };
enum elemental_cache { ELEMENTAL_BYPASSED, ELEMENTAL_EXCEEDED, ELEMENTAL_WITHIN };
#define ELEMENTAL_CACHE_WORDS "bypassed|exceeded|within"

/* One line of input. Fields that its kind does not have are 0. */
struct elemental_cell {
	unsigned long id;
	enum elemental_kind kind;
	char operation[16]; /* COMM only */
	uint64_t senders, receivers;
	bool is_uniform; /* uniform placement of writers instead of by topology */
	enum elemental_cache cache;
	uint64_t writers;
	uint64_t bytes, rounds, repetitions;
	bool reads;
	uint64_t parts[ELEMENTAL_PARTS]; /* writers of the partial rounds */
	size_t part_count;
};

/* The placement of all ranks; identical on all ranks. */
struct elemental_place {
	uint32_t *nodes, *sockets; /* one entry per rank; sockets NULL: unknown */
	uint64_t node_count;
};

struct elemental {
	struct kernel *kernel;
	struct elemental_place place;
	const char *file; /* for storage */
	double limit_s;	  /* time limit for the repetitions of a communication cell */
	int *sizes;	  /* 2 * ranks entries, for elemental_apart() */
};

/* Collective. */
void elemental_place_find(struct elemental_place *place, int rank, int ranks);
void elemental_place_release(struct elemental_place *place);

/* Prints "@row ID OPERATION WRITERS ROUND REPETITION SECONDS" on rank 0. */
void elemental_row(const struct elemental *e, const struct elemental_cell *cell,
		   const char *operation, uint64_t writers, uint64_t round, uint64_t repetition,
		   double seconds);

/* Collective. Separates rounds by an Alltoall of sizes, as ROMIO does; ranks without work in a
 * round wait in it. */
void elemental_apart(const struct elemental *e);

/* Collective. Returns the time of one separation, measured over many of them. */
double elemental_apart_seconds(const struct elemental *e);

/* Returns the time of an operation: the elapsed time minus that of the separation, but at least a
 * tenth of it, so that fast separations do not make an operation look free. */
double elemental_net_seconds(double passed, double apart_s);

/* Collective. On failure one rank prints the reason, and all ranks get a negative value. */
int elemental_comm(const struct elemental *e, const struct elemental_cell *cell);
int elemental_storage(const struct elemental *e, const struct elemental_cell *cell);

#endif
