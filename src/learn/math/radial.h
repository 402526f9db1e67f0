/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Weighted sums of radial functions around many points: sum of weight * exp(-gamma |row -
 * point|^2). Points belong to groups (classes), and each point has one or more weights. A support
 * vector machine computes this when it predicts. The layout is optimized for one row at a time:
 * sixteen points side by side, input by input, with an exponential that the compiler can vectorize.
 */
#ifndef SLUICE_LEARN_MATH_RADIAL_H
#define SLUICE_LEARN_MATH_RADIAL_H

#include <stddef.h>

struct blob;
struct buf;

typedef double radial_pair __attribute__((vector_size(16)));

struct radial {
	size_t width, groups, weights; /* weights: number per point */
	double gamma;
	size_t *points;	     /* number of points per group */
	size_t block_count;  /* each group begins a new block */
	radial_pair *blocks; /* [block][width + 1][RADIAL_LANES / 2]: 2 gamma p, and -gamma |p|^2 */
	double *weight;	     /* [block][weights][RADIAL_LANES] */
};

enum { RADIAL_LANES = 16, RADIAL_WEIGHTS_MAX = 64 };

/* Makes an object whose points are all 0; radial_set() fills them in. points: number per group. */
void radial_init(struct radial *radial, size_t width, size_t groups, size_t weights,
		 const size_t *points, double gamma);
void radial_release(struct radial *radial);

/* Sets point number `index` of a group. weights has one value per weight of a point. */
void radial_set(struct radial *radial, size_t group, size_t index, const double *point,
		const double *weights);

/*
 * Computes sums[group * weights + weight]; all 0 for a row that is extremely far away. Thread-safe.
 */
void radial_sums(const struct radial *radial, const double *row, double *sums);

void radial_save(const struct radial *radial, struct buf *buf);
/* Marks the blob as failed and leaves radial empty if the bytes are invalid. */
void radial_load(struct radial *radial, struct blob *blob, size_t width, size_t groups,
		 size_t weights);

#endif
