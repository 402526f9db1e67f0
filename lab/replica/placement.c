/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who writes where. A pset is a block of the torus with two nodes to a side; its two bridges lie in
 * opposite corners. What a node writes goes to the bridge that is nearer.
 */
#include <math.h>

#include "lab/replica/replica_internal.h"

#define BRIDGES 2 /* of a pset: opposite corners */

static unsigned bits_of(unsigned number)
{
	unsigned bits = 0;

	for (; number; number &= number - 1)
		bits++;
	return bits;
}

/* Hops to the nearer bridge. */
static unsigned distance(unsigned node, unsigned nodes)
{
	unsigned near = bits_of(node), far = bits_of(node ^ (nodes - 1));

	return near < far ? near : far;
}

static unsigned bridge_of(unsigned node, unsigned nodes)
{
	return bits_of(node) * 2 > bits_of(nodes - 1);
}

/* Nodes of a pset, the bridges first and the rest by distance. */
static void order_nodes(unsigned *order, unsigned nodes)
{
	unsigned count = 0;

	for (unsigned hops = 0; count < nodes; hops++)
		for (unsigned node = 0; node < nodes; node++)
			if (distance(node, nodes) == hops)
				order[count++] = node;
}

bool placement_start(struct placement *placement, const struct replica *replica, uint64_t nodes)
{
	uint64_t pset = replica->machine.pset_nodes;

	if (!nodes || !pset || nodes % pset || nodes / pset > REPLICA_PSETS_MAX ||
	    pset > REPLICA_NODES_MAX || pset & (pset - 1))
		return false;
	*placement = (struct placement){ .psets = nodes / pset, .nodes = pset };
	return true;
}

static void put(struct placement *placement, uint64_t pset, uint64_t node, double bytes)
{
	placement->count[pset][node]++;
	placement->bytes[pset][node] += bytes;
	placement->writers++;
	placement->most = fmax(placement->most, bytes);
}

/*
 * As the collective I/O of the platform does it: bridges first, the rest evenly over psets. Writers
 * are numbered so that neighbours belong to different psets; those from first on are placed.
 */
void placement_topology(struct placement *placement, uint64_t first, uint64_t writers, double bytes)
{
	unsigned order[REPLICA_NODES_MAX];

	order_nodes(order, (unsigned)placement->nodes);
	for (uint64_t i = first; bytes > 0 && i < first + writers; i++)
		put(placement, i % placement->psets, order[i / placement->psets % placement->nodes],
		    bytes);
}

/* Every so-many-th rank; what the stride leaves open is taken from ranks between, far apart. */
void placement_uniform(struct placement *placement, uint64_t cores, uint64_t writers, double bytes)
{
	uint64_t nodes = placement->psets * placement->nodes, ranks = nodes * cores;
	uint64_t stride = (ranks + writers - 1) / writers;
	uint64_t missing = writers - (ranks + stride - 1) / stride;

	for (uint64_t rank = 0; rank < ranks; rank += stride) {
		uint64_t node = rank / cores;

		put(placement, node / placement->nodes, node % placement->nodes, bytes);
	}
	for (uint64_t i = 0; i < missing; i++) {
		uint64_t node = (2 * i + 1) * nodes / (2 * missing);

		put(placement, node / placement->nodes, node % placement->nodes, bytes);
	}
}

double placement_crowd(const struct placement *placement)
{
	double most = 0;

	for (size_t i = 0; i < placement->psets; i++)
		for (size_t k = 0; k < placement->nodes; k++)
			most = fmax(most, placement->count[i][k]);
	return most;
}

/* The forwarder takes the calls of a node one after the other; only a part of that overlaps. */
static double node_seconds(const struct physics *p, double writers, double bytes, unsigned hops)
{
	double serial = 1 + (writers - 1) * p->serial;

	return serial * (bytes / writers / p->stream_rate * (1 + p->hop * hops) + p->call_s);
}

/* What an I/O node takes from so many streams that ask for so much at once. */
static double ingest_rate(const struct replica *replica, double streams, double asked)
{
	const struct physics *p = &replica->physics;
	double limit = BRIDGES * p->bridge_rate;

	if (replica->contention == REPLICA_SHARE)
		return fmin(asked, limit / (1 + p->ingest_loss * streams));
	return asked / pow(1 + pow(asked / limit, p->ingest_knee), 1 / p->ingest_knee);
}

static double pset_seconds(const struct replica *replica, const struct placement *placement,
			   size_t pset, double *total)
{
	const struct physics *p = &replica->physics;
	const double *count = placement->count[pset], *bytes = placement->bytes[pset];
	unsigned nodes = (unsigned)placement->nodes;
	double bridges[BRIDGES] = { 0 }, slowest = 0, streams = 0;

	for (unsigned node = 0; node < nodes; node++) {
		if (count[node] <= 0)
			continue;
		streams += count[node];
		bridges[bridge_of(node, nodes)] += bytes[node];
		slowest = fmax(slowest,
			       node_seconds(p, count[node], bytes[node], distance(node, nodes)));
	}
	*total = bridges[0] + bridges[1];
	if (streams <= 0)
		return 0;
	slowest = *total / ingest_rate(replica, streams, *total / slowest);
	return fmax(slowest, fmax(bridges[0], bridges[1]) / p->bridge_rate);
}

/* Of n draws with a relative deviation d the largest is about d sqrt(2 ln n) above the mean. */
static double lateness(const struct replica *replica, const struct placement *placement)
{
	double blocks = fmax(placement->most / (double)replica->machine.block_bytes, 1);

	if (placement->writers <= 1)
		return 0;
	return replica->physics.straggle * sqrt(2 * log(placement->writers) / blocks);
}

void load_of(struct load *load, const struct replica *replica, const struct placement *placement)
{
	double late = lateness(replica, placement);

	*load = (struct load){ .psets = placement->psets, .writers = placement->writers };
	for (size_t i = 0; i < placement->psets; i++)
		load->seconds[i] =
			pset_seconds(replica, placement, i, &load->bytes[i]) * (1 + late);
}
