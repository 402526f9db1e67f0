/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A run of the application: the rounds of the collective write as the ROMIO driver for Blue Gene
 * does them. The file is divided into one domain of whole blocks per aggregator; some domains have
 * one more block. In each round every aggregator collects up to one buffer of its domain and writes
 * it. In the last rounds some aggregators have less data, or none. The last block of the file
 * counts as a whole block.
 */
#include <math.h>

#include "lab/replica/replica_internal.h"

struct application {
	const struct replica *replica;
	double nodes, cores, ranks, rank_bytes;
	uint64_t aggregators;
	uint64_t large, blocks; /* blocks of a domain; the first `large` domains have one more */
	uint64_t buffer_blocks;
	uint64_t rounds;
};

/* The hint does not count the aggregator on the bridge itself. There is at most one per rank. */
static uint64_t count_aggregators(const struct replica *replica, const struct access *access,
				  const struct settings *settings)
{
	const struct machine *m = &replica->machine;
	uint64_t hint = settings->aggregators ? settings->aggregators : m->aggregators;
	uint64_t all = (hint + 1) * m->bridges * access->nodes / m->bridge_nodes;

	return all < access->ranks ? all : access->ranks;
}

static bool application_init(struct application *a, const struct replica *replica,
			     const struct access *access, const struct settings *settings)
{
	const struct machine *m = &replica->machine;
	uint64_t buffer = settings->buffer_bytes ? settings->buffer_bytes : m->buffer_bytes;
	uint64_t blocks =
		(access->ranks * access->rank_bytes + m->block_bytes - 1) / m->block_bytes;

	if (access->is_read || access->pattern != ACCESS_CONTIGUOUS || !access->nodes ||
	    access->ranks % access->nodes || !blocks)
		return false;
	*a = (struct application){
		.replica = replica,
		.nodes = (double)access->nodes,
		.cores = (double)access->ranks / (double)access->nodes,
		.ranks = (double)access->ranks,
		.rank_bytes = (double)access->rank_bytes,
		.aggregators = count_aggregators(replica, access, settings),
		.buffer_blocks = buffer > m->block_bytes ? buffer / m->block_bytes : 1,
	};
	if (!a->aggregators)
		return false;
	a->blocks = blocks / a->aggregators;
	a->large = blocks % a->aggregators;
	a->rounds = (a->blocks + (a->large > 0) + a->buffer_blocks - 1) / a->buffer_blocks;
	return true;
}

/* The number of blocks of a domain that are written in a round. */
static uint64_t round_blocks(const struct application *a, uint64_t domain, uint64_t round)
{
	uint64_t done = round * a->buffer_blocks, left = domain > done ? domain - done : 0;

	return left < a->buffer_blocks ? left : a->buffer_blocks;
}

/* One round; all rounds but the last ones are equal. */
struct round {
	uint64_t large, small; /* blocks written for a large and for a small domain */
	double moved_s;	       /* communication over the torus and CPU time of ranks */
	struct load load;
};

/* Each rank holds one contiguous piece of the file; a buffer comes from all ranks it overlaps. */
static double exchange_seconds(const struct application *a, const struct placement *placement)
{
	double most = placement->most, total = 0;
	double senders = ceil(most / fmin(a->rank_bytes, most));

	for (size_t i = 0; i < placement->psets; i++)
		for (size_t k = 0; k < placement->nodes; k++)
			total += placement->bytes[i][k];
	return network_exchange(a->replica, &(struct exchange){
						    .nodes = a->nodes,
						    .cores = a->cores,
						    .senders = placement->writers * senders,
						    .receivers = placement->writers,
						    .bytes = total / (placement->writers * senders),
						    .crowd = placement_crowd(placement),
					    });
}

static bool round_init(struct round *round, const struct application *a, uint64_t large,
		       uint64_t small)
{
	double block = (double)a->replica->machine.block_bytes;
	struct placement placement;

	if (!placement_start(&placement, a->replica, (uint64_t)a->nodes))
		return false;
	placement_topology(&placement, 0, a->large, (double)large * block);
	placement_topology(&placement, a->large, a->aggregators - a->large, (double)small * block);
	*round = (struct round){ .large = large, .small = small };
	round->moved_s = exchange_seconds(a, &placement) +
			 network_alltoall(a->replica, a->nodes, a->cores, 4) +
			 a->ranks * a->replica->physics.round_rank_s;
	load_init(&round->load, a->replica, &placement);
	return true;
}

/* The exchange of offsets and domains before the first round. */
static double partition_seconds(const struct application *a, struct random *random)
{
	const struct replica *r = a->replica;
	struct exchange e = { a->nodes, a->cores, a->ranks, (double)a->aggregators, 4, 0 };
	double seconds = network_allreduce(r, a->nodes, a->cores, 16 * a->ranks) +
			 network_allreduce(r, a->nodes, a->cores, 4) +
			 network_alltoall(r, a->nodes, a->cores, 4);

	for (e.bytes = 4; e.bytes <= 8; e.bytes *= 2)
		seconds += network_exchange(r, &e);
	return network_noisy(r, random, seconds + a->ranks * r->physics.round_rank_s);
}

static double round_seconds(const struct application *a, const struct round *round,
			    struct storage_state *state, bool is_first)
{
	double moved = network_noisy(a->replica, &state->random, round->moved_s);

	storage_wait(state, moved);
	return moved + storage_write(state, &round->load, is_first);
}

double replica_run(const struct replica *replica, const struct access *access,
		   const struct settings *settings, uint64_t repetition)
{
	struct application a;
	struct storage_state state;
	struct round round = { 0 };
	double seconds;

	if (!application_init(&a, replica, access, settings) ||
	    !round_init(&round, &a, round_blocks(&a, a.blocks + 1, 0),
			round_blocks(&a, a.blocks, 0)))
		return NAN;

	const uint64_t key[] = { 1,
				 access->nodes,
				 access->ranks,
				 access->rank_bytes,
				 a.aggregators,
				 a.buffer_blocks,
				 repetition };

	storage_start(&state, replica, round.load.psets,
		      replica_mix(key, sizeof(key) / sizeof(key[0])));
	seconds = partition_seconds(&a, &state.random);
	storage_wait(&state, seconds);
	for (uint64_t i = 0; i < a.rounds; i++) {
		uint64_t large = round_blocks(&a, a.blocks + 1, i),
			 small = round_blocks(&a, a.blocks, i);

		if (large != round.large || small != round.small)
			round_init(&round, &a, large, small);
		seconds += round_seconds(&a, &round, &state, i == 0);
	}
	return seconds;
}
