/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Do writes that are under way at the same time share few of the stripes of their file? Writers
 * that proceed through large units in step form a convoy: they all wait for one storage target,
 * then for the next one, while the others are idle.
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_CONVOY_H
#define SLUICE_OBSERVE_DIAGNOSE_CONVOY_H

#include <stdint.h>

struct layout;
struct raster;

/* While several writes were under way. The averages are by time. */
struct convoy {
	double time_ns; /* summed over the writes */
	double writes;	/* average number under way; 0: there never were several */
	double stripes; /* average number that they concerned */
	double could;	/* average number that they could have concerned, each one at least */
};

/*
 * Looks at the points of the raster; without points, there are no figures. A write concerns all
 * stripes that it has bytes on, from its start to its end, so `stripes` is an upper bound.
 */
struct convoy convoy_measure(const struct raster *raster, const struct layout *layout);

#endif
