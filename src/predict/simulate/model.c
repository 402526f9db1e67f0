/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/simulate/model.h"

#include <math.h>

#define MIB 1048576.0
#define PAGE 4096.0

/* Exponent of the norm that combines stages: 1 adds them up, infinity takes the slowest. */
#define OVERLAP 3

/* A shared page must be read before it is written: factor on the cost of sharing. */
#define SHARED_PAGE_FACTOR 1.5

double model_combine(const double *seconds, size_t count)
{
	double sum = 0, most = 0;

	for (size_t i = 0; i < count; i++)
		most = fmax(most, seconds[i]);
	if (most <= 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		double part = seconds[i] / most;

		sum += part * part * part;
	}
	return most * pow(sum, 1.0 / OVERLAP);
}

/*
 * The largest of n draws with a relative deviation d exceeds the mean by about d sqrt(2 ln n). A
 * write of many MiB is the sum of many draws, which deviates less.
 */
double model_straggler(const struct scene *scene, double writers, double bytes)
{
	double deviation = scene->platform->jitter / sqrt(fmax(bytes / MIB, 1));

	return writers > 1 ? 1 + deviation * sqrt(2 * log(writers)) : 1;
}

double model_exchange(const struct scene *scene, double active, double bytes)
{
	const struct platform *p = scene->platform;
	double row = (double)scene->workload->access_bytes / fmax((double)scene->workload->rows, 1);
	double pieces = bytes / row;
	double times[] = {
		bytes / p->copy_rate + pieces * p->piece_s,	    /* an aggregator receives */
		ceil(active / scene->nodes) * bytes / p->link_rate, /* its node receives */
		active * bytes / scene->nodes / p->link_rate,	    /* every node sends */
	};

	return model_combine(times, sizeof(times) / sizeof(times[0]));
}

double model_sync(const struct scene *scene)
{
	const struct platform *p = scene->platform;

	return p->sync_rank_s * scene->ranks + p->sync_step_s * log2(fmax(scene->ranks, 2));
}

double model_overlap(double exchange, double write, double dirty, double bytes)
{
	double hidden = fmin(exchange, write) * fmin(1, dirty / bytes);

	return exchange + write - hidden;
}

bool model_is_aligned(const struct scene *scene, double object_bytes, double grain)
{
	const struct knobs *k = &scene->knobs;

	return object_bytes >= k->threshold && fmod(k->boundary, grain) == 0;
}

/*
 * A rank holds all levels of some cells. In a contiguous dataset (levels, cells) its data is one
 * row per level. In a chunk (levels, cells of the chunk) that it fills alone its data is one piece;
 * in a chunk that several ranks fill it is one row per level again.
 */
void model_runs(const struct scene *scene, struct runs *runs)
{
	double own = (double)scene->workload->access_bytes, chunk = scene->knobs.chunk;
	double rows = fmax((double)scene->workload->rows, 1), whole, part;

	*runs = (struct runs){ rows, own / rows, false };
	if (chunk <= 0 || chunk > own)
		return;
	/* Whole chunks inside the part, and the remainders at both ends. */
	whole = fmod(own, chunk) == 0 ? own / chunk : fmax(own / chunk - 1, 0);
	part = (own - whole * chunk) > 0 ? 2 * rows : 0;
	runs->count = whole + part;
	runs->bytes = own / runs->count;
	runs->is_placed = part == 0;
}

void model_grains(const struct scene *scene, const struct runs *runs, double grain,
		  struct grains *grains)
{
	bool is_aligned = runs->is_placed && model_is_aligned(scene, runs->bytes, grain);
	bool is_paged = runs->is_placed && model_is_aligned(scene, runs->bytes, PAGE);
	double each = is_aligned ? ceil(runs->bytes / grain) : runs->bytes / grain + 1;

	grains->touched = runs->count * each;
	/* Padding up to the next boundary keeps others away from the end of an aligned piece, too.
	 */
	grains->shared = is_aligned ? 0 : runs->count * fmin(each, 2);
	if (!is_paged)
		grains->shared *= SHARED_PAGE_FACTOR;
}

void scene_init(struct scene *scene, const struct workload *workload,
		const struct platform *platform)
{
	scene->workload = workload;
	scene->platform = platform;
	scene->ranks = (double)workload->ranks;
	scene->nodes = ceil(scene->ranks / platform->cores);
	scene->calls = (double)(workload->variables * workload->steps);
	scene->call_bytes = scene->ranks * (double)workload->rank_bytes / scene->calls;
}
