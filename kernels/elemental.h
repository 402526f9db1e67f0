/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the program that times elemental operations (predict/model/operation.h): collectives
 * and exchanges (elemental_comm.c), rounds of storage (elemental_storage.c), and where ranks run
 * (elemental_place.c). `sluice bench` starts it and takes its lines; docs/elemental.md describes
 * both forms of line.
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

/* One line of input. What its kind does not have is 0. */
struct elemental_cell {
	unsigned long id;
	enum elemental_kind kind;
	char operation[16]; /* of COMM */
	uint64_t senders, receivers;
	bool is_uniform; /* placement of writers; else by topology */
	enum elemental_cache cache;
	uint64_t writers;
	uint64_t bytes, rounds, repetitions;
	bool reads;
	uint64_t parts[ELEMENTAL_PARTS]; /* writers of the rounds after the full ones */
	size_t part_count;
};

/* Where ranks run; the same on all of them. */
struct elemental_place {
	uint32_t *nodes, *sockets; /* one per rank; sockets NULL: not known */
	uint64_t node_count;
};

struct elemental {
	struct kernel *kernel;
	struct elemental_place place;
	const char *file; /* of storage */
	double limit_s;	  /* a cell of communication is repeated for no longer */
	int *told;	  /* twice as many as ranks, for elemental_apart() */
};

/* Collective. */
void elemental_place_find(struct elemental_place *place, int rank, int ranks);
void elemental_place_release(struct elemental_place *place);

/* "@row ID OPERATION WRITERS ROUND REPETITION SECONDS" of rank 0. */
void elemental_row(const struct elemental *e, const struct elemental_cell *cell,
		   const char *operation, uint64_t writers, uint64_t round, uint64_t repetition,
		   double seconds);

/* Keeps rounds apart, and those waiting who have nothing to do in one, as ROMIO does: each rank
 * tells each other how much is to come. Collective. */
void elemental_apart(const struct elemental *e);

/* What it takes by itself, done many times on end. Collective. */
double elemental_apart_seconds(const struct elemental *e);

/* The time of an operation, of what passed until all were told apart again: a tenth of it at least,
 * so that a few that were quicker than what is taken off cannot make a cell look free. */
double elemental_less(double passed, double apart_s);

/* Collective; negative on all ranks, after one has said why. */
int elemental_comm(const struct elemental *e, const struct elemental_cell *cell);
int elemental_storage(const struct elemental *e, const struct elemental_cell *cell);

#endif
