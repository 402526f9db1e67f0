/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lustre: a file consists of stripes of `unit` bytes that are distributed round-robin over
 * `stripes` targets (OSTs). A client must hold a lock on the extent of the object that it writes.
 */
#include <math.h>

#include "predict/simulate/model.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static double common_divisor(double a, double b)
{
	while (b > 0) {
		double rest = fmod(a, b);

		a = b;
		b = rest;
	}
	return a;
}

/* Stripes are also distributed round-robin over aggregators; several may share a target. */
static double writers_per_target(const struct scene *scene, double aggregators)
{
	return aggregators / common_divisor(aggregators, scene->knobs.stripes);
}

/* The number of the file's targets on the busiest server. */
static double targets_per_server(const struct scene *scene)
{
	return ceil(scene->knobs.stripes / scene->platform->servers);
}

/* Time of a round in which `active` aggregators write one stripe each. */
static double round_seconds(const struct scene *scene, double active, double lock_s,
			    double *exchange)
{
	const struct platform *p = scene->platform;
	const struct knobs *k = &scene->knobs;
	double busiest = ceil(active / k->stripes);
	double times[] = {
		busiest * (k->unit / p->target_rate + lock_s),
		fmin(targets_per_server(scene) * busiest, active) * k->unit /
			(p->peak / p->servers),
		active * k->unit / (p->peak * p->share),
		ceil(active / scene->nodes) * k->unit / p->node_rate,
		k->unit / p->stream_rate,
	};
	double write = model_combine(times, COUNT(times)) * model_straggler(scene, active, k->unit);
	double moved = model_exchange(scene, active, k->unit);
	double both = model_overlap(moved, write, p->dirty, k->unit);

	*exchange += both - write + model_sync(scene);
	return write;
}

/* ROMIO's driver for Lustre writes one stripe per aggregator and round, whatever the buffer is. */
static void simulate_collective(const struct scene *scene, struct simulated *out)
{
	const struct knobs *k = &scene->knobs;
	double writers = writers_per_target(scene, k->aggregators);
	double lock_s = scene->platform->lock_s * log2(writers);
	bool is_aligned = model_is_aligned(scene, scene->call_bytes, k->unit);
	double pieces = ceil(scene->call_bytes / k->unit) + !is_aligned;
	double full = floor(pieces / k->aggregators);
	double rest = pieces - full * k->aggregators;
	double full_exchange = 0, rest_exchange = 0, storage = 0;

	storage += full * round_seconds(scene, k->aggregators, lock_s, &full_exchange);
	if (rest > 0)
		storage += round_seconds(scene, rest, lock_s, &rest_exchange);
	/* The first stripe is shared with the header, the last one with the next dataset. */
	if (!is_aligned)
		storage += 2 * scene->platform->revoke_s;
	out->exchange = scene->calls * (full * full_exchange + rest_exchange);
	out->storage = scene->calls * storage;
}

/* Every rank writes its own data; ranks synchronize only at the end. */
static void simulate_independent(const struct scene *scene, struct simulated *out)
{
	const struct platform *p = scene->platform;
	const struct knobs *k = &scene->knobs;
	double bytes = scene->calls * scene->call_bytes;
	double accesses = scene->ranks * scene->calls;
	struct grains grains;
	struct runs runs;
	double writers, lock_s;

	model_runs(scene, &runs);
	model_grains(scene, &runs, k->unit, &grains);
	writers = scene->ranks * fmin(k->stripes, grains.touched) / k->stripes;
	lock_s = accesses *
		 (grains.touched * p->lock_s * log2(1 + writers) + grains.shared * p->revoke_s);

	double times[] = {
		ceil(bytes / k->unit / k->stripes) * k->unit / p->target_rate + lock_s / k->stripes,
		targets_per_server(scene) / k->stripes * bytes / (p->peak / p->servers),
		bytes / (p->peak * p->share),
		bytes / scene->nodes / p->node_rate,
		bytes / scene->ranks / p->stream_rate,
	};

	out->storage = model_combine(times, COUNT(times)) *
		       model_straggler(scene, scene->ranks, bytes / scene->ranks);
}

void lustre_simulate(const struct scene *scene, struct simulated *out)
{
	out->open = scene->platform->open_target_s * scene->knobs.stripes;
	if (scene->workload->collective)
		simulate_collective(scene, out);
	else
		simulate_independent(scene, out);
}
