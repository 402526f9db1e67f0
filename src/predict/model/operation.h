/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Elemental operations: the parts of a collective access, and what a platform is benchmarked for,
 * once and without any application. Each operation is one row; benchmarks, their rows
 * (store/elements.h), learned costs and the terms of a prediction all use it.
 *
 * A communication operation involves all ranks. A storage operation is one round, in which several
 * writers (or readers) per node move bytes concurrently.
 */
#ifndef SLUICE_PREDICT_MODEL_OPERATION_H
#define SLUICE_PREDICT_MODEL_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

enum operation {
	OPERATION_ALLREDUCE,
	OPERATION_ALLTOALL,
	OPERATION_ALLTOALLV, /* also an exchange by point-to-point messages */
	OPERATION_ALLGATHER,
	OPERATION_BROADCAST,
	OPERATION_BARRIER,
	OPERATION_WRITE_FIRST,	 /* first round of a new file, which includes locks */
	OPERATION_WRITE_FULL,	 /* a later round in which all aggregators write */
	OPERATION_WRITE_PARTIAL, /* the last round, in which some aggregators write */
	OPERATION_READ_FIRST,
	OPERATION_READ_FULL,
	OPERATION_READ_PARTIAL,
	OPERATION_WRITE_CACHED, /* a later round that caches hold; derived from the others */
	OPERATION_PIECE_WRITE,	/* one piece by a call of its own, all ranks at once */
	OPERATION_PIECE_READ,
	OPERATION_SIEVE,	  /* a window of data sieving: lock, read, write, unlock */
	OPERATION_PIECE_COPY,	  /* a piece between the user's buffer and a window */
	OPERATION_PIECE_EXCHANGE, /* a piece of a message: its entry in the lists, and its copy */
	OPERATIONS
};

enum operation_kind {
	OPERATION_COLLECTIVE,
	OPERATION_EXCHANGE,
	OPERATION_STORAGE,
	OPERATION_PIECES, /* of an access that is not contiguous */
};

struct operation_row {
	const char *name;  /* in rows and models: "ar", "aav", "s_lock" */
	const char *title; /* for people */
	enum operation_kind kind;
	bool is_read;
	bool is_derived; /* not benchmarked; its cost is derived from others (hybrid.h) */
};
extern const struct operation_row operations[OPERATIONS];

/* True if the operation has `writers` ranks that take part (STORAGE and PIECES). */
bool operation_has_writers(enum operation operation);

/* Finds a benchmarked operation by name; -1: unknown. */
int operation_by_name(const char *name);

/*
 * The arguments of one operation. Arguments that its kind does not have are 0.
 *
 * A round on a striped file is like an exchange: its writes are pieces for targets.
 *
 * An exchange consists of `senders` messages of `bytes` each to `receivers` ranks, which are spread
 * over all ranks as aggregators are. Up to one message per rank, each rank sends one message to one
 * receiver, and receivers get equal numbers of messages to within one: this is the shuffle of a
 * contiguous access. With more messages, ranks send several, each to another receiver; ranks times
 * receivers is the full matrix. The bytes of a COLLECTIVE are those of the MPI call: the whole
 * vector of Allreduce and Broadcast, and the data of one rank for one other of Alltoall and
 * Allgather.
 *
 * The time of an operation is what it adds to a sequence of operations, because an access is such a
 * sequence. So a collective is repeated without pauses, and rounds are separated by an Alltoall of
 * four bytes, as in ROMIO. The time is taken on rank 0 from the end of one Alltoall to the end of
 * the next, minus the time of an Alltoall alone; ranks that neither send nor write wait in it.
 * Barriers around each operation would distort the time if ranks share cores: a rank leaves the
 * barrier only when it gets a core, so the longest time of a rank would include waiting that an
 * access does not have. Cells are means of rows, not medians, because rare slow rounds are part of
 * the sum. Memory and file are as in ROMIO: the buffer was used in the round before, and the file
 * is growing.
 *
 * The time of a PIECES operation is that of a sequence of pieces or windows, divided by their
 * number; it excludes the collectives around the sequence. The pieces of the ranks interleave, as
 * those of a strided access do. A sequence of n windows that w ranks sieve has n + w - 1 steps,
 * because a rank waits until the rank before it has unlocked the window.
 */
struct elemental {
	double nodes, cores; /* cores: ranks per node */
	/* EXCHANGE: messages, and ranks that receive. STORAGE: the pieces into which the stripes of
	 * the file cut the writes of a round, and the targets that receive them (struct
	 * stripes_spread in stripes.h); 0 if the file system does not stripe files. */
	double senders, receivers;
	/* STORAGE and PIECES: writers or readers per node, possibly a fraction. */
	double writers;
	double bytes; /* of a message, of the write of one writer, of a piece or of a window */
};

bool elementals_are_same(const struct elemental *a, const struct elemental *b);

/*
 * The features for a learner: counts and bytes, each also as its binary logarithm (0 for 0).
 * Returns their number. names, which are constants, and values may be NULL.
 */
#define OPERATION_FEATURES 12
size_t operation_features(enum operation operation, const struct elemental *at, double *values,
			  const char **names);

#endif
