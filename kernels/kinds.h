/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels, one row each: the program, its options, and the shape that the options describe. The
 * programs and `sluice lab kernel` use the same rows. Nothing here needs MPI.
 */
#ifndef SLUICE_KERNELS_KINDS_H
#define SLUICE_KERNELS_KINDS_H

#include "base/option.h"
#include "kernels/shapes.h"

enum kind_transfer { KIND_COLLECTIVE, KIND_INDEPENDENT };
enum kind_driver { KIND_MPIO, KIND_POSIX };

/* The options of the HDF5 kernels. A kernel has rows for some of them; the others are 0. */
struct kind_args {
	/* Shape. */
	uint64_t particles, cells, resolution, subdomain, levels, components, sets, values, steps;
	const char *block; /* "100x100x60" */
	const char *scale; /* fraction of the paper's size */
	bool paper, non_uniform;
	/* Access. */
	const char *file;
	struct option_list hints;
	int transfer, driver;
	const char *chunk; /* "1x26x4096", or NULL */
	bool read, verify, remove;
};

struct kind {
	const char *name;    /* for `sluice lab kernel NAME` */
	const char *program; /* file name of the program */
	const char *about;   /* one sentence */
	/* The rest is NULL for a program that defines its own options. */
	const struct option *options;
	int (*shape)(const struct kind_args *args, uint64_t ranks, struct shape *shape,
		     struct err *err);
	const char *const *fixed; /* arguments before those of the user, or NULL */
};

/* The last row has no name. */
extern const struct kind kinds[];

/* Finds a kernel by its name or by the name of its program; NULL: unknown. */
const struct kind *kind_find(const char *name);

/* Computes and checks the shape that args describe. err names the invalid option. */
int kind_shape(const struct kind *kind, const struct kind_args *args, uint64_t ranks,
	       struct shape *shape, struct err *err);

/* Parses "100x100x60" as exactly `count` positive numbers; count is at most SHAPE_DIMS. */
int kind_extent(const char *option, const char *text, size_t count, uint64_t *out, struct err *err);

#endif
