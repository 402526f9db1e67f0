/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program that measures elemental operations (predict/model/operation.h): collectives and
 * exchanges (elemental_comm.c), storage rounds (elemental_storage.c), pieces (elemental_pieces.c),
 * and the placement of ranks (elemental_place.c). `sluice model measure` starts it and reads its
 * output; docs/reference/measure.md describes the formats of input and output.
 */
#ifndef SLUICE_ELEMENTAL_H
#define SLUICE_ELEMENTAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernels/kernel.h"
#include "predict/model/costs/selectors.h"

#define ELEMENTAL_PARTS 64

enum elemental_kind { ELEMENTAL_COMM, ELEMENTAL_STORAGE, ELEMENTAL_PIECES };
enum elemental_cache { ELEMENTAL_BYPASSED, ELEMENTAL_EXCEEDED, ELEMENTAL_WITHIN };
#define ELEMENTAL_CACHE_WORDS "bypassed|exceeded|within"

/* One line of input. Fields that its kind does not have are 0. */
struct elemental_cell {
	unsigned long id;
	enum elemental_kind kind;
	char operation[16]; /* COMM and PIECES */
	uint64_t senders, receivers;
	bool is_uniform; /* uniform placement of writers instead of by topology */
	enum elemental_cache cache;
	uint64_t writers;
	uint64_t bytes, rounds, repetitions; /* PIECES: rounds are pieces or windows */
	bool reads;
	uint64_t parts[ELEMENTAL_PARTS]; /* writers of the partial rounds */
	size_t part_count;
	uint64_t stripes, stripe; /* STORAGE: of the file, in bytes; 0: as in the directory */
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
int elemental_pieces(const struct elemental *e, const struct elemental_cell *cell);

/* The writers of a cell and their shared file (elemental_file.c). */
struct elemental_session {
	const struct elemental *e;
	const struct elemental_cell *cell;
	struct chosen writers;
	int64_t mine; /* index among the writers; -1: not a writer */
	int fd;	      /* -1: not open */
	char *data;
	double apart_s; /* time of one separation */
};

/* Collective. Chooses the writers and gives each of them `bytes` of random data. release() is
 * required even if open() fails; it removes the file. */
int elemental_session_open(struct elemental_session *session, const struct elemental *e,
			   const struct elemental_cell *cell, size_t bytes);
void elemental_session_release(struct elemental_session *session);

/* Collective. Rank 0 creates a new file, and all ranks open it, as they do in the MPI library: a
 * file system may cache the data of a file that only one node has open. */
int elemental_session_create(struct elemental_session *session);
void elemental_session_close_file(struct elemental_session *session);

/* Collective. Flushes the file to the device and drops it from the page cache, as far as possible,
 * unless the cell uses the cache. */
int elemental_session_drop_cache(const struct elemental_session *session);

/* Writes or reads all of the bytes. */
int elemental_session_transfer(const struct elemental_session *session, bool is_read, char *data,
			       size_t bytes, off_t at, struct err *err);

#endif
