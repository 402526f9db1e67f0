/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Totals of a run or of one of its ranks: by purpose, layer, function and file. The tables are
 * sparse, so a rank only pays for the functions and files that it used.
 *
 * Layers are nested: an H5Dwrite contains the MPI call that contains the pwrite. These rules
 * prevent double counting:
 * - `io` counts calls that no other I/O call encloses: what the program requested;
 * - `storage` counts POSIX and STDIO calls that no other such call encloses: what reached storage;
 * - a layer, function or file includes the time and bytes of a call only if no enclosing call
 *   belongs to the same layer, function or file. The number of calls always includes it.
 *
 * A call of class PROCESS (MPI_Init, fork) is not I/O. Calls inside it are `startup` and appear in
 * no table, because a library that reads its settings says nothing about the program's files.
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
	uint64_t transfers;  /* calls that transferred data */
	int64_t transfer_ns; /* their time; for asynchronous operations, from start to completion */
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
	struct tally network; /* sockets and pipes, which mostly wait for a peer; not part of io */
	struct tally network_in_io;   /* inside I/O calls, and part of their time */
	uint64_t bytes_read_to_write; /* read from storage inside writes, as data sieving does */
	int64_t busy_ns;	      /* wall-clock time in which at least one thread was in `io` */
	int64_t busy_from_ns, busy_until_ns;
	struct tally layers[LAYER_COUNT];
	struct map functions; /* struct tally by sums_function_key(), or by group */
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
	SUMS_BYTES,
	SUMS_MEASURES
};
extern const struct measure sums_measures[SUMS_MEASURES];

void sums_release(struct sums *sums);

/*
 * The keys of the tables are never 0. A group stands for calls that were counted but not recorded.
 */
uint64_t sums_function_key(unsigned call, unsigned layer);
uint64_t sums_file_key(file_id file);

struct sums_function {
	unsigned number, layer;
	bool counted; /* number is an enum group */
};
struct sums_function sums_function_of(uint64_t key);

/* Are these keys of functions and files of the head? They must not be 0. */
bool sums_is_function(const struct trace_head *head, uint64_t key);
bool sums_is_file(const struct trace_head *head, uint64_t key);

/* Adds another tally. */
void tally_merge(struct tally *tally, const struct tally *other);

/* Returns the tally of a key in functions or files; adds it if it is missing. */
struct tally *sums_tally(struct map *table, uint64_t key);

/* What encloses a call. */
struct call_context {
	bool in_process, in_io, in_storage, in_network, in_write;
	bool in_layer, in_function, in_file,
		in_file2; /* an enclosing call has the same layer, function or file */
};

/* What one call adds to the totals. */
struct contribution {
	uint64_t bytes_read, bytes_written;
	int64_t time_ns;
	bool error, transfer;
	bool is_process, is_copy;
	bool pending; /* starts an operation whose transfer time is known at its completion */
};

/*
 * The tallies that received the bytes of an operation in progress; they are corrected at its
 * completion.
 */
#define CREDITS_MAX 10
struct credits {
	struct tally *to[CREDITS_MAX];
	unsigned count;
};

/* Is the time of the call part of busy_ns? */
bool sums_is_busy(const struct activity *activity, const struct contribution *contribution,
		  const struct call_context *context);

/* credits may be NULL. */
void sums_add(struct sums *sums, const struct activity *activity,
	      const struct contribution *contribution, const struct call_context *context,
	      struct credits *credits);

void sums_add_aggregate(struct sums *sums, const struct aggregate *row);

/* Numbers in a merged profile for those of a part. */
struct renumbering {
	const uint16_t *calls;
	const file_id *files;
	int64_t shift_ns; /* to be added to the times of the part */
	/* Returns a copy of a host's name that lives as long as the merged profile. */
	const char *(*host)(void *arg, const char *name);
	void *arg;
};

/*
 * Adds other sums. `parallel`: both were counted at the same time by different ranks, so that
 * busy_ns is only known to be at least the larger one; otherwise busy_ns is added as well. Without
 * `to`, nothing is renumbered.
 */
void sums_merge(struct sums *sums, const struct sums *other, const struct renumbering *to,
		bool parallel);

/* The key in a merged profile for a key of a part. */
uint64_t sums_renumber_function(uint64_t key, const struct renumbering *to);
uint64_t sums_renumber_file(uint64_t key, const struct renumbering *to);

#endif
