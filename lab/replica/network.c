/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The torus network: latency, bandwidth and contention. A job has its partition for itself, so
 * there is hardly any noise.
 * Papers: HYB-31.
 */
#include <math.h>

#include "lab/replica/replica_internal.h"

#define TORUS_DIMENSIONS 5
#define OVERLAP 4 /* exponent of combine_stages(); infinity would be the maximum, 1 the sum */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The time of partly overlapping stages: between the slowest stage and the sum of all. */
static double combine_stages(const double *seconds, size_t count)
{
	double most = 0, sum = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, seconds[i]);
	if (most <= 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		sum += pow(seconds[i] / most, OVERLAP);
	return most * pow(sum, 1.0 / OVERLAP);
}

/* The mean number of hops is a quarter of the length of each dimension, which is a ring. */
static double mean_hops(double nodes)
{
	return TORUS_DIMENSIONS * pow(nodes, 1.0 / TORUS_DIMENSIONS) / 4;
}

static double torus_seconds(const struct physics *p, double nodes, double bytes)
{
	return bytes * mean_hops(nodes) /
	       (nodes * p->torus_links * p->torus_rate * p->exchange_eff);
}

double network_allreduce(const struct replica *replica, double nodes, double cores, double bytes)
{
	const struct physics *p = &replica->physics;
	double steps = log2(fmax(nodes, 2)) + log2(fmax(cores, 2));

	return steps * p->step_s + bytes / p->reduce_rate * (1 + log2(fmax(cores, 2)) / 4);
}

double network_alltoall(const struct replica *replica, double nodes, double cores, double bytes)
{
	const struct physics *p = &replica->physics;
	double ranks = nodes * cores;
	double times[] = {
		ranks * p->peer_s,
		cores * ranks * bytes / p->node_rate,
		torus_seconds(p, nodes, ranks * ranks * bytes),
	};

	return log2(fmax(ranks, 2)) * p->step_s + combine_stages(times, COUNT(times));
}

/* A core waits for memory if the data of its node exceeds the second-level cache. */
static double unpack_rate(const struct physics *p, double node_bytes)
{
	return node_bytes > p->l2 ? p->core_rate * p->spill : p->core_rate;
}

double network_exchange(const struct replica *replica, const struct exchange *e)
{
	const struct physics *p = &replica->physics;
	double each = e->senders / e->receivers * e->bytes;
	double crowd = fmax(e->crowd, ceil(e->receivers / e->nodes));
	double times[] = {
		ceil(e->senders / e->receivers) * p->message_s +
			each / unpack_rate(p, crowd * each),
		crowd * each / p->node_rate,
		ceil(e->senders / e->nodes) * e->bytes / p->node_rate,
		e->bytes / p->torus_rate,
		torus_seconds(p, e->nodes, e->senders * e->bytes),
	};

	return log2(fmax(e->nodes * e->cores, 2)) * p->step_s + e->nodes * e->cores * p->count_s +
	       combine_stages(times, COUNT(times));
}

double network_noisy(const struct replica *replica, struct random *random, double seconds)
{
	return seconds * (1 + replica->physics.network_noise * fabs(random_normal(random)));
}
