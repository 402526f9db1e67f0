/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A toy I/O stack: a space of 13,440 points with a formula for the cost of each, so that searches
 * can be compared without hardware. tests/unit and bench/search.c share it.
 * Papers: GA-13.
 */
#ifndef SLUICE_TESTS_TOY_STACK_H
#define SLUICE_TESTS_TOY_STACK_H

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "params/space.h"

enum { TOY_FACTOR, TOY_UNIT, TOY_NODES, TOY_ALIGNMENT, TOY_DIMENSIONS };

#define TOY_POINTS 13440
#define TOY_BEST 43.1333
#define TOY_MEDIAN 865.76

static const char *const toy_factors[] = { "4",	 "8",  "16",  "24",  "32", "48",
					   "64", "96", "128", "156", NULL };
static const char *const toy_units[] = {
	"1M", "2M", "4M", "8M", "16M", "32M", "64M", "128M", NULL
};
static const char *const toy_nodes[] = { "1",	"2",   "4",   "8",    "16",   "32", "64",
					 "128", "256", "512", "1024", "2048", NULL };
/* Only the index of a pair enters the cost. */
static const char *const toy_alignments[] = { "0,1",	"0,4K",	  "0,16K",   "0,64K",	"1K,16K",
					      "1K,64K", "2K,64K", "4K,256K", "8K,512K", "8K,1M",
					      "8K,2M",	"8K,8M",  "1M,4M",   "16K,32M", NULL };

static inline void toy_require(int r, const struct err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "toy stack: %s\n", err->text);
	exit(1);
}

/* The caller releases the space. */
static inline void toy_space(struct space *space)
{
	struct err err = { 0 };

	*space = (struct space){ 0 };
	toy_require(space_add(space, "striping_factor", toy_factors, NULL, &err), &err);
	toy_require(space_add(space, "striping_unit", toy_units, NULL, &err), &err);
	toy_require(space_add(space, "cb_nodes", toy_nodes, NULL, &err), &err);
	toy_require(space_add(space, "alignment", toy_alignments, NULL, &err), &err);
}

static inline double toy_cost(const size_t *point)
{
	double s = atof(toy_factors[point[TOY_FACTOR]]), u = exp2((double)point[TOY_UNIT]);
	double n = exp2((double)point[TOY_NODES]);
	double osts = 220 * s / (1 + s / 400), aggregators = 60 * n / (1 + n / 600);
	double mismatch = 1 + 0.12 * fabs(log2(u / 32));
	double aligned = 1 + 0.02 * (double)(5 * point[TOY_ALIGNMENT] % 14);
	double crowd = fmax(0, log2(n / s) - 3), few = fmax(0, log2(s / n));
	double contention = 1 + 0.15 * crowd * crowd + 0.1 * few;

	return 524288 * (1 / osts + 1 / aggregators) * mismatch * contention * aligned;
}

#endif
