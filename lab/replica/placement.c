/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places writers on nodes and computes their load on the I/O nodes. A pset is a block of the torus
 * with two nodes per dimension; its two bridges are in opposite corners. A node writes through the
 * nearer bridge.
 * Papers: HYB-35.
 */
#include <math.h>

#include "lab/replica/replica_internal.h"

#define BRIDGES 2 /* of a pset: opposite corners */

static unsigned count_bits(unsigned number)
{
	unsigned bits = 0;

	for (; number; number &= number - 1)
		bits++;
	return bits;
}

/* Hops to the nearer bridge. */
static unsigned hops_to_bridge(unsigned node, unsigned nodes)
{
	unsigned near = count_bits(node), far = count_bits(node ^ (nodes - 1));

	return near < far ? near : far;
}

static unsigned nearer_bridge(unsigned node, unsigned nodes)
{
	return count_bits(node) * 2 > count_bits(nodes - 1);
}

/* Lists the nodes of a pset by distance; the bridges come first. */
static void order_nodes(unsigned *order, unsigned nodes)
{
	unsigned count = 0;

	for (unsigned hops = 0; count < nodes; hops++)
		for (unsigned node = 0; node < nodes; node++)
			if (hops_to_bridge(node, nodes) == hops)
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

static void add_writer(struct placement *placement, uint64_t pset, uint64_t node, double bytes)
{
	placement->count[pset][node]++;
	placement->bytes[pset][node] += bytes;
	placement->writers++;
	placement->most = fmax(placement->most, bytes);
}

/*
 * Places writers as the collective I/O of the platform does: bridges first, and evenly over psets.
 * Consecutive writers belong to different psets.
 */
void placement_topology(struct placement *placement, uint64_t first, uint64_t writers, double bytes)
{
	unsigned order[REPLICA_NODES_MAX];

	order_nodes(order, (unsigned)placement->nodes);
	for (uint64_t i = first; bytes > 0 && i < first + writers; i++)
		add_writer(placement, i % placement->psets,
			   order[i / placement->psets % placement->nodes], bytes);
}

/* Takes ranks at a constant stride, and the missing ones from ranks in between, far apart. */
void placement_uniform(struct placement *placement, uint64_t cores, uint64_t writers, double bytes)
{
	uint64_t nodes = placement->psets * placement->nodes, ranks = nodes * cores;
	uint64_t stride = (ranks + writers - 1) / writers;
	uint64_t missing = writers - (ranks + stride - 1) / stride;

	for (uint64_t rank = 0; rank < ranks; rank += stride) {
		uint64_t node = rank / cores;

		add_writer(placement, node / placement->nodes, node % placement->nodes, bytes);
	}
	for (uint64_t i = 0; i < missing; i++) {
		uint64_t node = (2 * i + 1) * nodes / (2 * missing);

		add_writer(placement, node / placement->nodes, node % placement->nodes, bytes);
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

/* The forwarder serves the calls of a node one after the other, with some overlap. */
static double node_seconds(const struct physics *p, double writers, double bytes, unsigned hops)
{
	double serial = 1 + (writers - 1) * p->serial;

	return serial * (bytes / writers / p->stream_rate * (1 + p->hop * hops) + p->call_s);
}

/* The rate that an I/O node accepts from the streams that together offer the rate `asked`. */
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
		bridges[nearer_bridge(node, nodes)] += bytes[node];
		slowest = fmax(slowest, node_seconds(p, count[node], bytes[node],
						     hops_to_bridge(node, nodes)));
	}
	*total = bridges[0] + bridges[1];
	if (streams <= 0)
		return 0;
	slowest = *total / ingest_rate(replica, streams, *total / slowest);
	return fmax(slowest, fmax(bridges[0], bridges[1]) / p->bridge_rate);
}

/*
 * The relative delay of the slowest writer: the maximum of n draws with relative deviation d is
 * about d sqrt(2 ln n) above the mean.
 */
static double straggler_delay(const struct replica *replica, const struct placement *placement)
{
	double blocks = fmax(placement->most / (double)replica->machine.block_bytes, 1);

	if (placement->writers <= 1)
		return 0;
	return replica->physics.straggle * sqrt(2 * log(placement->writers) / blocks);
}

void load_init(struct load *load, const struct replica *replica, const struct placement *placement)
{
	double late = straggler_delay(replica, placement);

	*load = (struct load){ .psets = placement->psets, .writers = placement->writers };
	for (size_t i = 0; i < placement->psets; i++)
		load->seconds[i] =
			pset_seconds(replica, placement, i, &load->bytes[i]) * (1 + late);
}
