/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run, or one rank of it, did: added up by purpose, layer, function and file. Tables are
 * sparse: a rank pays for the functions and files it used.
 *
 * Layers stand on top of each other: an H5Dwrite contains the MPI call that contains the pwrite. So
 * nothing is added up twice:
 * - `io` counts calls that no other I/O call encloses: what the program asked for,
 * - `storage` counts calls of POSIX and STDIO that no other such call encloses: what came of it,
 * - a layer, a function, a file counts time and bytes of a call only if no enclosing call belongs
 *   to the same layer, function, file. Calls are always counted.
 *
 * A call of class PROCESS (MPI_Init, fork) is no I/O. What happens inside it is `startup` and
 * stands in no table: a library that reads its settings says nothing about the program's files.
 */
#ifndef SLUICE_OBSERVE_TALLY_SUMS_H
#define SLUICE_OBSERVE_TALLY_SUMS_H

#include <stdbool.h>

#include "base/map.h"
#include "observe/tally/measure.h"
#include "trace/format.h"

struct tally {
	uint64_t calls, errors;
	uint64_t bytes_read, bytes_written;
	int64_t time_ns;     /* summed over threads */
	uint64_t transfers;  /* calls that moved bytes, */
	int64_t transfer_ns; /* and their time; of asynchronous ones, from start to completion */
};

enum {
	TALLY_CALLS,
	TALLY_ERRORS,
	TALLY_READ,
	TALLY_WRITTEN,
	TALLY_TIME,
	TALLY_TRANSFERS,
	TALLY_TRANSFER_TIME,
	TALLY_TRANSFER_SIZE,
	TALLY_BANDWIDTH,
	TALLY_MEASURES
};
extern const struct measure tally_measures[TALLY_MEASURES];

struct sums {
	struct tally io, storage, startup;
	struct tally process; /* calls that start or end a process */
	struct tally network; /* sockets and pipes, which mostly wait for others; not part of io */
	struct tally network_in_io;   /* inside I/O calls: part of the time of those */
	uint64_t bytes_read_to_write; /* read from storage inside writes: data sieving */
	int64_t busy_ns;	      /* wall-clock time in which at least one thread was in `io` */
	int64_t busy_from_ns, busy_until_ns;
	struct tally layers[LAYER_COUNT];
	struct map functions; /* struct tally by sums_function_key(), sums_group_key() */
	struct map files;     /* struct tally by sums_file_key() */
};

enum {
	SUMS_CALLS,
	SUMS_ERRORS,
	SUMS_READ,
	SUMS_WRITTEN,
	SUMS_STORAGE_READ,
	SUMS_STORAGE_WRITTEN,
	SUMS_BUSY,
	SUMS_TIME,
	SUMS_STARTUP,
	SUMS_NETWORK,
	SUMS_NETWORK_IN_IO,
	SUMS_MEASURES
};
extern const struct measure sums_measures[SUMS_MEASURES];

void sums_release(struct sums *sums);

/* Keys of the tables are not 0. Groups stand for calls that were counted and not recorded. */
uint64_t sums_function_key(unsigned call, unsigned layer);
uint64_t sums_group_key(unsigned group, unsigned layer);
uint64_t sums_file_key(file_id file);

struct sums_function {
	unsigned number, layer;
	bool counted; /* number is an enum group */
};
struct sums_function sums_function_of(uint64_t key);

/* The tally of a key in functions or files; made if need be. */
struct tally *sums_tally(struct map *table, uint64_t key);

/* Where a call stands among those that enclose it. */
struct standing {
	bool in_process, in_io, in_storage, in_network, in_write;
	bool in_layer, in_function, in_file, in_file2; /* the same as the call's own */
};

/* What one call adds. */
struct share {
	uint64_t bytes_read, bytes_written;
	int64_t time_ns;
	bool error, transfer;
	bool is_process, is_copy;
	bool pending; /* an operation began: its time of transfer is known at its completion */
};

/* Who got the bytes of an operation that is under way, to be set right at its completion. */
#define CREDITS_MAX 10
struct credits {
	struct tally *to[CREDITS_MAX];
	unsigned count;
};

/* credits may be NULL. */
void sums_add(struct sums *sums, const struct activity *activity, const struct share *share,
	      const struct standing *standing, struct credits *credits);

void sums_add_aggregate(struct sums *sums, const struct aggregate *row);

#endif
