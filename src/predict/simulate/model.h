/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost model of one run. lustre.c and gpfs.c model their file system; model.c has the parts
 * that both share. docs/reference/simulated/platforms.md explains the physics.
 * Papers: ATE-9, ATE-10.
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
	double calls;	   /* number of dataset writes, each by all ranks */
	double call_bytes; /* bytes of all ranks in one call */
};

void scene_init(struct scene *scene, const struct workload *workload,
		const struct platform *platform);

/* The time of stages that work concurrently and disturb each other near their limits: somewhat
 * longer than the slowest stage. */
double model_combine(const double *seconds, size_t count);

/* The factor by which the slowest of the writers exceeds the mean, if each writes `bytes`. */
double model_straggler(const struct scene *scene, double writers, double bytes);

/* Time to send the data of a round to `active` aggregators, `bytes` to each. */
double model_exchange(const struct scene *scene, double active, double bytes);

/* Time of the synchronization of all ranks, once per round. */
double model_sync(const struct scene *scene);

/* Time of exchange and write of one round; they overlap as far as the write-behind cache allows. */
double model_overlap(double exchange, double write, double dirty, double bytes);

/* Independent writes: the layout of one rank's part of a dataset in the file. */
struct runs {
	double count, bytes; /* contiguous pieces, and the size of each */
	bool is_placed;	     /* each piece begins at an aligned offset */
};
void model_runs(const struct scene *scene, struct runs *runs);

/* Units of `grain` bytes that are locked or written as a whole: how many a rank touches with one
 * dataset, and how many of them other ranks write, too. */
struct grains {
	double touched, shared;
};
void model_grains(const struct scene *scene, const struct runs *runs, double grain,
		  struct grains *grains);

/* True if a dataset or chunk of this size begins at a multiple of grain. */
bool model_is_aligned(const struct scene *scene, double object_bytes, double grain);

/* One function per file system. Each sets exchange and storage, and adds its own costs to open. */
void lustre_simulate(const struct scene *scene, struct simulated *out);
void gpfs_simulate(const struct scene *scene, struct simulated *out);

#endif
