/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of one run: what its calls meet on their way to the disks. lustre.c and gpfs.c know
 * their file system; what holds for both is in model.c. docs/platforms.md tells the physics.
 */
#ifndef SLUICE_PREDICT_SIMULATE_MODEL_H
#define SLUICE_PREDICT_SIMULATE_MODEL_H

#include "predict/simulate/description.h"
#include "predict/simulate/knobs.h"

struct scene {
	const struct workload *workload;
	const struct platform *platform;
	struct knobs knobs;
	double ranks, nodes;
	double calls;	   /* writes of one dataset by all ranks together */
	double call_bytes; /* of all ranks, in one of them */
};

void scene_init(struct scene *scene, const struct workload *workload,
		const struct platform *platform);

/* Stages that work at the same time and disturb each other near their limits: somewhat longer than
 * the slowest. */
double model_meet(const double *seconds, size_t count);

/* How much longer the slowest of so many takes than their mean, each writing so much. */
double model_straggle(const struct scene *scene, double writers, double bytes);

/* Moving a round to `active` aggregators, so many bytes each. */
double model_exchange(const struct scene *scene, double active, double bytes);

/* What all ranks wait for once per round. */
double model_sync(const struct scene *scene);

/* Exchange and writing of one round, as far as what is written behind lets them overlap. */
double model_overlap(double exchange, double write, double dirty, double bytes);

/* Independent writes: how one rank's part of one dataset lies in the file. */
struct runs {
	double count, bytes; /* contiguous pieces, and the size of each */
	bool is_placed;	     /* each begins where an alignment put it */
};
void model_runs(const struct scene *scene, struct runs *runs);

/* Of `grain` bytes that are locked or written as a whole: how many a rank touches with one dataset,
 * and in how many of them others write, too. */
struct grains {
	double touched, shared;
};
void model_grains(const struct scene *scene, const struct runs *runs, double grain,
		  struct grains *grains);

/* Is a dataset, or a chunk, placed at a multiple of grain? */
bool model_is_aligned(const struct scene *scene, double object_bytes, double grain);

/* One per file system. Each fills exchange and storage, and open and close for what is special. */
void lustre_simulate(const struct scene *scene, struct simulated *out);
void gpfs_simulate(const struct scene *scene, struct simulated *out);

#endif
