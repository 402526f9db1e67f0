/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels that there are, one row each: the program, its options, and the shape that the
 * options stand for. The programs and `sluice kernel` read the same rows. Nothing here needs MPI.
 */
#ifndef SLUICE_KERNELS_KINDS_H
#define SLUICE_KERNELS_KINDS_H

#include "base/option.h"
#include "kernels/shapes.h"

enum kind_transfer { KIND_COLLECTIVE, KIND_INDEPENDENT };
enum kind_driver { KIND_MPIO, KIND_POSIX };

/* What the options of the HDF5 kernels fill. A kernel has rows for some of it; the rest is zero. */
struct kind_args {
	/* the shape */
	uint64_t particles, cells, resolution, subdomain, sets, values, steps;
	const char *block; /* "100x100x60" */
	const char *scale; /* of the paper's size */
	bool paper, non_uniform;
	/* how it is written and read */
	const char *file;
	struct option_list hints;
	int transfer, driver;
	const char *chunk; /* "1x26x4096", or NULL */
	bool read, verify, remove;
};

struct kind {
	const char *name;    /* for `sluice kernel NAME` */
	const char *program; /* its file name */
	const char *about;   /* one sentence */
	/* The rest is NULL for a program that has options of its own. */
	const struct option *options;
	int (*shape)(const struct kind_args *args, uint64_t ranks, struct shape *shape,
		     struct err *err);
	const char *const *fixed; /* arguments that come before the user's; NULL for none */
};

/* Ends with a row without a name. */
extern const struct kind kinds[];

/* By its name or that of its program; NULL where there is none. */
const struct kind *kind_find(const char *name);

/* The shape that args ask for, checked. err names the option to mend. */
int kind_shape(const struct kind *kind, const struct kind_args *args, uint64_t ranks,
	       struct shape *shape, struct err *err);

/* "100x100x60" as exactly `count` numbers of 1 or more; count is at most SHAPE_DIMS. */
int kind_extent(const char *option, const char *text, size_t count, uint64_t *out, struct err *err);

#endif
