/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a replica is made of: for its own files only. It shares no code with the model that is
 * judged on it (predict/model): where the two agree, they agree because the machine is so.
 *
 * Rates are bytes/s, sizes bytes, times seconds; all are doubles because all that is done is to
 * multiply and divide them. docs/vesta.md has the physics in words.
 */
#ifndef SLUICE_LAB_REPLICA_REPLICA_INTERNAL_H
#define SLUICE_LAB_REPLICA_REPLICA_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/replica/replica.h"
#include "learn/maths/random.h"

/* Section [replica] of a description: rows of replica.c. */
struct physics {
	/* The torus, and the cores that use it. */
	double torus_links, torus_rate; /* of a node; of one of them, each way */
	double node_rate;		/* what a node takes in or sends when many cores do */
	double core_rate;		/* what one core packs or unpacks */
	double l2, spill;    /* beyond so much in the buffers of a node, cores do this part of it */
	double step_s;	     /* one hop of a tree, with its software */
	double peer_s;	     /* Alltoall: per rank that a rank exchanges with */
	double count_s;	     /* Alltoallv: per rank whose counts a rank looks at */
	double message_s;    /* a message that an aggregator takes in */
	double reduce_rate;  /* of Allreduce, with all cores of a node at it */
	double exchange_eff; /* part of the torus that an exchange of all with all gets */
	double network_noise; /* deviation over mean of what the network does */
	double round_rank_s;  /* CPU time of a round, per rank of the job */

	/* From compute nodes through bridges to I/O nodes. */
	double bridge_rate; /* of a bridge's link */
	double stream_rate; /* one core of a bridge that writes */
	double serial;	    /* 1: cores of a node wait for one another; 0: they do not at all */
	double hop;	    /* more time per hop to the bridge, over that of none */
	double call_s;	    /* a call that is forwarded */
	double straggle;    /* deviation over mean of what one block of one writer takes */

	/* I/O nodes, their caches and the servers. */
	double client_rate; /* of an I/O node towards the servers */
	double high, low;   /* parts of the cache: flushing begins; it is enough */
	double lazy;	    /* part of client_rate that is used while nothing presses */
	double yield;	    /* part of what is flushed that writers may bring meanwhile */
	double stale;	    /* most of the cache that is dirty when a run begins */
	double targets, target_rate, share; /* NSDs; the part of them that one job gets */
	double knee, knee_loss; /* QUEUE: streams per target without loss; loss per more */
	double share_loss;	/* SHARE: loss per stream and target */
	double ingest_knee;	/* QUEUE: how sharply an I/O node saturates */
	double ingest_loss;	/* SHARE: of an I/O node, per stream */

	/* Tokens: the first touch of a fresh file. */
	double create_s;    /* the file's first blocks */
	double token_s;	    /* a domain, per I/O node that may have to give way for it */
	double token_power; /* domains of an I/O node count to this power: some are merged */
	double token_noise; /* sigma of a log-normal */

	/* Others. */
	double burst_every_s, burst_s;	  /* mean time between bursts, and of one */
	double burst_median, burst_sigma; /* what they ask of the servers, over what there is */
	double burst_reach; /* the part of it that is felt on the way to the caches, too */
	double jitter;	    /* of an I/O node in a round, sigma of a log-normal */
};

struct replica {
	struct machine machine;
	struct physics physics;
	enum replica_contention contention;
};

/* Writers of one round and what they bring. */
#define REPLICA_PSETS_MAX 64
#define REPLICA_NODES_MAX 64 /* of a pset */

struct load {
	size_t psets;
	double writers;			   /* that have something */
	double bytes[REPLICA_PSETS_MAX];   /* for each I/O node */
	double seconds[REPLICA_PSETS_MAX]; /* that they take where nothing is in the way */
};

/* Writers by pset and node, and what they write in a round. Begins as placement_start() has it. */
struct placement {
	size_t psets, nodes;
	double writers, most; /* in all; bytes of the one that has most */
	double count[REPLICA_PSETS_MAX][REPLICA_NODES_MAX];
	double bytes[REPLICA_PSETS_MAX][REPLICA_NODES_MAX];
};

/* Empty. False: the machine cannot have so many nodes. */
bool placement_start(struct placement *placement, const struct replica *replica, uint64_t nodes);
void placement_topology(struct placement *placement, uint64_t first, uint64_t writers,
			double bytes);
void placement_uniform(struct placement *placement, uint64_t cores, uint64_t writers, double bytes);
double placement_crowd(const struct placement *placement); /* most writers on one node */

void load_of(struct load *load, const struct replica *replica, const struct placement *placement);

/* The course of one run at the storage: what earlier rounds have left counts for later ones. */
struct course {
	const struct replica *replica;
	struct random random;
	size_t psets;
	double dirty[REPLICA_PSETS_MAX];
	bool is_flushing[REPLICA_PSETS_MAX];
	double might, leisure; /* rates at which an I/O node flushes, pressed or not */
	double streams;	       /* that were written last */
	double burst, until_s; /* what others ask for now; when that changes */
};

void course_start(struct course *course, const struct replica *replica, size_t psets,
		  uint64_t seed);
/* Seconds of a round. is_first: of a fresh file. */
double course_write(struct course *course, const struct load *load, bool is_first);
/* Nobody writes for so long. */
void course_wait(struct course *course, double seconds);

/* Collectives of all ranks: what one takes, without noise. */
double network_allreduce(const struct replica *replica, double nodes, double cores, double bytes);
double network_alltoall(const struct replica *replica, double nodes, double cores, double bytes);

struct exchange {
	double nodes, cores;
	double senders, receivers, bytes; /* of a message */
	double crowd;			  /* most receivers on one node */
};
double network_exchange(const struct replica *replica, const struct exchange *exchange);

/* With what the network adds on its own. */
double network_noisy(const struct replica *replica, struct random *random, double seconds);

/* A number that depends on all of them, to seed by. */
uint64_t replica_mix(const uint64_t *numbers, size_t count);

#endif
