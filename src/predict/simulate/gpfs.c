/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GPFS behind the I/O nodes of a Blue Gene. The I/O nodes are the clients of the file system: they
 * hold the tokens of the blocks that their ranks write. Users cannot choose the striping.
 */
#include <math.h>

#include "predict/simulate/model.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static double io_nodes(const struct scene *scene)
{
	const struct platform *p = scene->platform;

	return fmin(p->io_nodes, fmax(p->io_nodes_min, ceil(scene->nodes / p->io_node_nodes)));
}

/* The daemon of an I/O node has one thread per stream. Beyond io_node_streams the threads contend:
 * twice as many streams take four times as long each. */
static double io_node_rate(const struct scene *scene, double writers)
{
	const struct platform *p = scene->platform;
	double crowd = fmax(1, writers / io_nodes(scene) / p->io_node_streams);

	return p->io_node_rate / (crowd * crowd);
}

/* Time in which `active` writers write `bytes` each. */
static double write_seconds(const struct scene *scene, double active, double bytes)
{
	const struct platform *p = scene->platform;
	double nodes = io_nodes(scene);
	double times[] = {
		active * bytes / fmin(nodes, active) / io_node_rate(scene, active),
		active * bytes / (p->peak * p->share),
		ceil(active / scene->nodes) * bytes / p->node_rate,
		bytes / p->stream_rate,
	};

	return model_combine(times, COUNT(times)) * model_straggler(scene, active, bytes);
}

/* The probability that neighboring parts of the file belong to different I/O nodes. */
static double foreign_share(const struct scene *scene)
{
	return 1 - 1 / io_nodes(scene);
}

struct domains {
	double bytes, count;
	bool is_aligned; /* no block belongs to two domains */
};

/* Divides the extent into equal domains; IBM_largeblock_io aligns them to blocks. */
static void divide_file(const struct scene *scene, struct domains *domains)
{
	double block = scene->platform->block;
	double bytes = ceil(scene->call_bytes / scene->knobs.aggregators);
	bool is_aligned = model_is_aligned(scene, scene->call_bytes, block);

	if (scene->knobs.is_largeblock)
		bytes = ceil(bytes / block) * block;
	domains->bytes = bytes;
	domains->count = ceil(scene->call_bytes / bytes);
	domains->is_aligned = scene->knobs.is_largeblock || (is_aligned && fmod(bytes, block) == 0);
}

static void add_rounds(const struct scene *scene, double active, double bytes, double rounds,
		       struct simulated *call)
{
	const struct platform *p = scene->platform;
	double write = write_seconds(scene, active, bytes);
	double moved = model_exchange(scene, active, bytes);
	double both = model_overlap(moved, write, p->dirty, bytes);
	double range = scene->knobs.is_lockless ? 0 : active * p->range_s;

	call->storage += rounds * (write + range);
	call->exchange += rounds * (both - write + model_sync(scene));
}

static void simulate_collective(const struct scene *scene, struct simulated *out)
{
	const struct platform *p = scene->platform;
	struct simulated call = { 0 };
	struct domains domains;
	double full, rest;

	divide_file(scene, &domains);
	full = floor(domains.bytes / scene->knobs.buffer);
	rest = domains.bytes - full * scene->knobs.buffer;
	if (full > 0)
		add_rounds(scene, domains.count, scene->knobs.buffer, full, &call);
	if (rest > 0)
		add_rounds(scene, domains.count, rest, 1, &call);
	/* One manager grants tokens one by one; conflicts are resolved in parallel. */
	call.storage += domains.count * p->lock_s;
	if (!domains.is_aligned)
		call.storage +=
			foreign_share(scene) * (domains.count * p->lock_s + 2 * p->revoke_s);
	/* All ranks agree on the block size in one more synchronization. */
	if (scene->knobs.is_largeblock)
		call.exchange += model_sync(scene);
	out->storage = scene->calls * call.storage;
	out->exchange = scene->calls * call.exchange;
}

static void simulate_independent(const struct scene *scene, struct simulated *out)
{
	const struct platform *p = scene->platform;
	double bytes = scene->calls * scene->call_bytes;
	double accesses = scene->ranks * scene->calls;
	struct grains grains;
	struct runs runs;
	double tokens, revokes;

	model_runs(scene, &runs);
	model_grains(scene, &runs, p->block, &grains);
	tokens = accesses * runs.count * p->lock_s;
	revokes = accesses * grains.shared * foreign_share(scene) * p->revoke_s / io_nodes(scene);
	out->storage = write_seconds(scene, scene->ranks, bytes / scene->ranks) + tokens + revokes;
}

void gpfs_simulate(const struct scene *scene, struct simulated *out)
{
	if (scene->workload->collective)
		simulate_collective(scene, out);
	else
		simulate_independent(scene, out);
}
