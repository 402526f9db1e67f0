/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates a whole run: the costs that are the same on every file system, plus those of the file
 * system.
 */
#include <math.h>

#include "predict/simulate/model.h"

/* Objects of HDF5's file format per file and per dataset, counted in files that H5Part wrote. */
#define FILE_OBJECTS 10
#define DATASET_OBJECTS 6
/* Entries per node of the chunk index. */
#define TREE_ENTRIES 64
/* Small objects share blocks of this size unless each of them is aligned. */
#define OBJECT_BLOCK 2048
#define OBJECTS_PER_BLOCK 8
/* Bytes per second at which the system pages if memory is short. */
#define PAGING_RATE 100e6

static double chunk_count(const struct scene *scene)
{
	double chunk = scene->knobs.chunk;

	return chunk > 0 ? scene->calls * ceil(scene->call_bytes / chunk) : 0;
}

static double metadata_seconds(const struct scene *scene)
{
	const struct knobs *k = &scene->knobs;
	double chunks = chunk_count(scene);
	double objects = FILE_OBJECTS + DATASET_OBJECTS * scene->calls + chunks / TREE_ENTRIES;
	bool is_apart = k->boundary > 1 && k->threshold <= OBJECT_BLOCK;

	if (!is_apart)
		objects = ceil(objects / OBJECTS_PER_BLOCK);
	return objects * scene->platform->object_s + chunks * scene->platform->chunk_s;
}

/* Time to touch each page of the buffers once, and to page if they do not fit next to the data of
 * the program. */
static double buffer_seconds(const struct scene *scene)
{
	const struct knobs *k = &scene->knobs;
	const struct platform *p = scene->platform;
	double each = fmax(k->buffer, k->unit);
	double ranks = fmin(p->cores, scene->ranks);
	double held = ranks * (double)scene->workload->rank_bytes;
	double excess = ceil(k->aggregators / scene->nodes) * each + held - p->memory;

	if (!scene->workload->collective)
		return 0;
	return each / p->copy_rate + scene->calls * fmax(excess, 0) / PAGING_RATE;
}

int workload_simulate(const struct workload *workload, const struct platform *platform,
		      const struct param_set *set, struct simulated *out, struct err *err)
{
	struct simulated s = { 0 };
	struct scene scene;
	int r;

	scene_init(&scene, workload, platform);
	r = knobs_from_params(&scene.knobs, workload, platform, set, err);
	if (r < 0)
		return r;
	if (platform->filesystem == FILESYSTEM_LUSTRE)
		lustre_simulate(&scene, &s);
	else
		gpfs_simulate(&scene, &s);
	s.open += platform->open_rank_s * scene.ranks + buffer_seconds(&scene);
	/* Closing costs half of opening because it creates nothing. */
	s.close = platform->open_rank_s * scene.ranks / 2;
	s.metadata = metadata_seconds(&scene);
	s.total = s.open + s.exchange + s.storage + s.metadata + s.close;
	s.rate = (double)workload_bytes(workload) / s.total;
	*out = s;
	return 0;
}
