/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Elemental operations: what a collective access is made of, and what a platform is benchmarked
 * for, once and without any application. One row each; benchmarks, the rows they leave
 * (store/elements.h), the learned costs and the terms of a prediction all go by it.
 *
 * Communication is that of all ranks together; storage is that of one round, in which so many
 * writers (or readers) per node each move so many bytes at once.
 */
#ifndef SLUICE_PREDICT_MODEL_OPERATION_H
#define SLUICE_PREDICT_MODEL_OPERATION_H

#include <stdbool.h>
#include <stddef.h>

enum operation {
	OPERATION_ALLREDUCE,
	OPERATION_ALLTOALL,
	OPERATION_ALLTOALLV, /* also the exchange of a round that is made of single messages */
	OPERATION_ALLGATHER,
	OPERATION_BROADCAST,
	OPERATION_BARRIER,
	OPERATION_WRITE_FIRST,	 /* of a fresh file: locks are dealt out */
	OPERATION_WRITE_FULL,	 /* of the rounds after it, in which all aggregators write */
	OPERATION_WRITE_PARTIAL, /* the last one, in which some do */
	OPERATION_READ_FIRST,
	OPERATION_READ_FULL,
	OPERATION_READ_PARTIAL,
	OPERATION_WRITE_CACHED, /* a later round that caches hold: derived from the others */
	OPERATIONS
};

enum operation_kind { OPERATION_COLLECTIVE, OPERATION_EXCHANGE, OPERATION_STORAGE };

struct operation_row {
	const char *name;  /* in rows and models: "ar", "aav", "s_lock" (HYB-38) */
	const char *title; /* for people */
	enum operation_kind kind;
	bool is_read;
	bool is_derived; /* never benchmarked: its cost follows from others (hybrid.h) */
};
extern const struct operation_row operations[OPERATIONS];

/* Of those that are benchmarked. -1: there is none of that name. */
int operation_by_name(const char *name);

/*
 * The arguments of one operation. What its kind does not have is 0.
 *
 * An exchange is `senders` messages of `bytes` each to `receivers` ranks, which are spread over all
 * as aggregators are. Up to as many senders as ranks, each sends one message to one receiver, and
 * receivers get as many as one another to within one: the shuffle round of a contiguous access.
 * Beyond, ranks send several, each to another receiver; ranks times receivers is the full matrix:
 * every rank has something for every aggregator. Bytes of a COLLECTIVE are what MPI calls count:
 * Allreduce, Broadcast: the whole vector; Alltoall, Allgather: what one rank has for one other.
 *
 * The time of one is what it adds to a sequence of them, as an access is one. So a collective is
 * done many times on end, and rounds are separated by an Alltoall of four bytes each, as ROMIO
 * separates them: row k is the time from leaving one to leaving the next, taken on rank 0, less
 * what such an Alltoall takes by itself. Those who neither send nor write wait in it. Barriers
 * around each operation would tell another story where ranks share cores: each leaves its barrier
 * when it gets a core, and the longest time of a rank holds waiting that an access does not have,
 * but not that of ranks which begin when others are done. Cells are means of rows, not medians:
 * what happens in few rounds is in the sum, too. Memory and file are as ROMIO has them: a buffer
 * that was used in the round before, a file that is growing.
 */
struct elemental {
	double nodes, cores;	   /* n; c, the ranks of a node */
	double senders, receivers; /* EXCHANGE: ranks that take part */
	double writers;		   /* STORAGE: per node, may be a fraction; readers, too */
	double bytes;		   /* of a message; of one writer's write */
};

bool elementals_are_same(const struct elemental *a, const struct elemental *b);

/*
 * What a learner sees of them (HYB-38): counts and bytes, each also as its logarithm to base 2
 * (of 0: 0). Returns how many; names, of constant texts, and values may be NULL.
 */
#define OPERATION_FEATURES 10
size_t operation_features(enum operation operation, const struct elemental *at, double *values,
			  const char **names);

#endif
