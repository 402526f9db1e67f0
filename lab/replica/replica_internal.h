/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a replica, for its own files only. A replica shares no code with the model that is
 * evaluated on it (predict/model), so agreement of the two is not an artifact.
 *
 * Rates are in bytes/s, sizes in bytes and times in seconds. All are doubles, because they are only
 * multiplied and divided. docs/reference/simulated/vesta.md explains the physics.
 */
#ifndef SLUICE_LAB_REPLICA_REPLICA_INTERNAL_H
#define SLUICE_LAB_REPLICA_REPLICA_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/replica/replica.h"
#include "learn/math/random.h"

/* Section [replica] of a description; replica.c has a row for each field. */
struct physics {
	/* The torus and the cores that use it. */
	double torus_links, torus_rate; /* links of a node; rate of one link in each direction */
	double node_rate;		/* rate at which a node sends or receives with many cores */
	double core_rate;		/* rate at which one core packs or unpacks */
	double l2, spill;     /* if the buffers of a node exceed l2, cores reach only this part of
				 core_rate */
	double step_s;	      /* one hop of a tree, including software */
	double peer_s;	      /* Alltoall: time per partner of a rank */
	double count_s;	      /* Alltoallv: time per entry of the counts */
	double message_s;     /* time per message that an aggregator receives */
	double reduce_rate;   /* rate of Allreduce with all cores of a node */
	double exchange_eff;  /* part of the torus bandwidth that an all-to-all exchange reaches */
	double network_noise; /* relative deviation of network times */
	double round_rank_s;  /* CPU time of a round per rank of the job */

	/* From compute nodes through bridges to I/O nodes. */
	double bridge_rate; /* rate of the link of a bridge */
	double stream_rate; /* rate of one writing core of a bridge */
	double serial;	    /* 1: the cores of a node wait for each other; 0: they do not */
	double hop;	    /* relative increase of the time per hop to the bridge */
	double call_s;	    /* time of a forwarded call */
	double straggle;    /* relative deviation of the time of one block of one writer */

	/* I/O nodes, their caches and the servers. */
	double client_rate; /* rate from an I/O node to the servers */
	double high, low;   /* parts of the cache at which full-rate flushing starts and ends */
	double lazy;	    /* part of client_rate used for background flushing */
	double yield;	    /* part of the flush rate that writers get during full-rate flushing */
	double stale;	    /* largest part of the cache that is dirty when a run begins */
	double targets, target_rate,
		share;		/* storage targets (NSDs); part of their rate that one job gets */
	double knee, knee_loss; /* REPLICA_QUEUE: streams per target without loss; loss per further
				   stream */
	double share_loss;	/* REPLICA_SHARE: loss per stream and target */
	double ingest_knee;	/* REPLICA_QUEUE: sharpness of the saturation of an I/O node */
	double ingest_loss;	/* REPLICA_SHARE: loss of an I/O node per stream */

	/* Lock tokens, needed when a new file is first written. */
	double create_s;    /* creation of the first blocks of the file */
	double token_s;	    /* time per domain and I/O node that may have to release a token */
	double token_power; /* exponent of the number of domains of an I/O node; below 1 because
			       some merge */
	double token_noise; /* sigma of a log-normal */

	/* Interference of other jobs. */
	double burst_every_s, burst_s;	  /* mean time between bursts; mean duration of a burst */
	double burst_median, burst_sigma; /* load of a burst relative to the capacity of the
					     servers; log-normal */
	double burst_reach; /* part of the load that also slows writes into the caches */
	double jitter;	    /* of an I/O node in a round; sigma of a log-normal */
};

struct replica {
	struct machine machine;
	struct physics physics;
	enum replica_contention contention;
};

#define REPLICA_PSETS_MAX 64
#define REPLICA_NODES_MAX 64 /* nodes of a pset */

/* The load of one round on the I/O nodes. */
struct load {
	size_t psets;
	double writers;			   /* writers with data */
	double bytes[REPLICA_PSETS_MAX];   /* for each I/O node */
	double seconds[REPLICA_PSETS_MAX]; /* time without contention at the storage */
};

/* Writers of one round by pset and node. */
struct placement {
	size_t psets, nodes;
	double writers, most; /* number of writers; bytes of the writer with most */
	double count[REPLICA_PSETS_MAX][REPLICA_NODES_MAX];
	double bytes[REPLICA_PSETS_MAX][REPLICA_NODES_MAX];
};

/* Starts an empty placement. Returns false if the nodes are not whole psets, or are too many. */
bool placement_start(struct placement *placement, const struct replica *replica, uint64_t nodes);
/*
 * Add writers with `bytes` each: near the bridges, starting with writer `first`; or at equal
 * distances over all ranks.
 */
void placement_topology(struct placement *placement, uint64_t first, uint64_t writers,
			double bytes);
void placement_uniform(struct placement *placement, uint64_t cores, uint64_t writers, double bytes);

/* The largest number of writers on one node. */
double placement_crowd(const struct placement *placement);

void load_init(struct load *load, const struct replica *replica, const struct placement *placement);

/* The state of the storage during one run; earlier rounds affect later ones. */
struct storage_state {
	const struct replica *replica;
	struct random random;
	size_t psets;
	double dirty[REPLICA_PSETS_MAX];
	bool is_flushing[REPLICA_PSETS_MAX];
	double flush_rate,
		background_rate; /* rates of an I/O node: full-rate and background flushing */
	double streams;		 /* streams of the last round */
	double burst, until_s;	 /* present load of other jobs; time until it changes */
};

void storage_start(struct storage_state *storage_state, const struct replica *replica, size_t psets,
		   uint64_t seed);
/* Simulates one round and returns its seconds. is_first: the file is new. */
double storage_write(struct storage_state *storage_state, const struct load *load, bool is_first);
/* Lets time pass without writes. */
void storage_wait(struct storage_state *storage_state, double seconds);

/* Seconds of a collective operation of all ranks, without noise. */
double network_allreduce(const struct replica *replica, double nodes, double cores, double bytes);
double network_alltoall(const struct replica *replica, double nodes, double cores, double bytes);

struct exchange {
	double nodes, cores;
	double senders, receivers;
	double bytes; /* of a message */
	double crowd; /* largest number of receivers on one node */
};
double network_exchange(const struct replica *replica, const struct exchange *exchange);

/* Adds the noise of the network. */
double network_noisy(const struct replica *replica, struct random *random, double seconds);

/* A seed that depends on all the numbers. */
uint64_t replica_mix(const uint64_t *numbers, size_t count);

#endif
