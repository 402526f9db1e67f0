/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/kinds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define RANKS_MAX (UINT64_C(1) << 24)
#define SUBDOMAIN 8 /* blocks of 65536 cells; five of them are the paper's 327680 */

#define FIELD(name) offsetof(struct kind_args, name)

/* clang-format off */
#define SIZE_OPTIONS                                                                              \
	{ 0, "paper", NULL, NULL, "use the size of the paper and ignore other sizes", OPTION_FLAG, \
	  FIELD(paper) },                                                                         \
	{ 0, "scale", "F", NULL, "use this fraction of the paper's size per rank, such as 0.01",  \
	  OPTION_TEXT, FIELD(scale) }

#define ACCESS_OPTIONS(file_, transfer_)                                                          \
	{ 'f', "file", "PATH", file_, "file to write or read", OPTION_TEXT, FIELD(file) },        \
	{ 't', "transfer", "collective|independent", transfer_, "transfer mode of HDF5",          \
	  OPTION_CHOICE, FIELD(transfer) },                                                       \
	{ 0, "chunk", "NxN", NULL, "store datasets in chunks of this shape, slowest dimension first", \
	  OPTION_TEXT, FIELD(chunk) },                                                            \
	{ 'H', "hint", "KEY=VALUE", NULL, "set an MPI-IO hint; may be repeated", OPTION_LIST,     \
	  FIELD(hints) },                                                                         \
	{ 'r', "read", NULL, NULL, "only read the file of an earlier run", OPTION_FLAG,           \
	  FIELD(read) },                                                                          \
	{ 0, "verify", NULL, NULL, "read the file back and check every value", OPTION_FLAG,       \
	  FIELD(verify) },                                                                        \
	{ 0, "remove", NULL, NULL, "remove the file at the end", OPTION_FLAG, FIELD(remove) }
/* clang-format on */

static const struct option vpic_options[] = {
	{ 'n', "particles", "N", "32768", "particles per rank", OPTION_COUNT, FIELD(particles) },
	SIZE_OPTIONS,
	{ 's', "steps", "N", "1", "number of time steps", OPTION_COUNT, FIELD(steps) },
	ACCESS_OPTIONS("vpic.h5", "collective"),
	{ 0 },
};

static const struct option vorpal_options[] = {
	{ 'b', "block", "XxYxZ", "20x20x12", "cells of the block of each rank", OPTION_TEXT,
	  FIELD(block) },
	SIZE_OPTIONS,
	{ 's', "steps", "N", NULL, "time steps (default 4; 20 with the paper's size)", OPTION_COUNT,
	  FIELD(steps) },
	{ 'c', "components", "N", "3", "components of the field, each a dataset of doubles",
	  OPTION_COUNT, FIELD(components) },
	{ 'u', "non-uniform", NULL, NULL, "use blocks of different sizes with the same total",
	  OPTION_FLAG, FIELD(non_uniform) },
	ACCESS_OPTIONS("vorpal.h5", "collective"),
	{ 0 },
};

static const struct option gcrm_options[] = {
	{ 'n', "cells", "N", "1280", "cells per rank", OPTION_COUNT, FIELD(cells) },
	SIZE_OPTIONS,
	{ 'R', "resolution", "N", NULL, "distribute a geodesic mesh of 10 * 4^N + 2 cells",
	  OPTION_COUNT, FIELD(resolution) },
	{ 'S', "subdomain", "N", NULL,
	  "distribute it in blocks of 4^N cells (default 8, or the resolution if less)",
	  OPTION_COUNT, FIELD(subdomain) },
	{ 'l', "levels", "N", "25", "vertical levels; values are on the N + 1 interfaces",
	  OPTION_COUNT, FIELD(levels) },
	{ 's', "steps", "N", "1", "number of iterations", OPTION_COUNT, FIELD(steps) },
	{ 'd', "driver", "mpio|posix", "mpio",
	  "mpio: one shared file; posix: one file PATH.RANK per rank", OPTION_CHOICE,
	  FIELD(driver) },
	ACCESS_OPTIONS("gcrm.h5", "independent"),
	{ 0 },
};

static const struct option small_options[] = {
	{ 'n', "count", "N", "300", "number of datasets", OPTION_COUNT, FIELD(sets) },
	{ 'v', "values", "N", "256", "values of 4 bytes per rank and dataset", OPTION_COUNT,
	  FIELD(values) },
	ACCESS_OPTIONS("small.h5", "collective"),
	{ 0 },
};

int kind_extent(const char *option, const char *text, size_t count, uint64_t *out, struct err *err)
{
	uint64_t read[SHAPE_DIMS] = { 0 };
	const char *at = text;
	bool good = count <= SHAPE_DIMS;

	for (size_t i = 0; i < count && good; i++) {
		char *end;

		if (i)
			good = *at++ == 'x';
		good = good && *at >= '1' && *at <= '9';
		errno = 0;
		read[i] = good ? strtoull(at, &end, 10) : 0;
		good = good && !errno;
		at = good ? end : at;
	}
	if (!good || *at)
		return err_set(err, EINVAL, "--%s: \"%s\" is not %zu numbers separated by x",
			       option, text, count);
	memcpy(out, read, count * sizeof(*out));
	return 0;
}

/* Sets *scale to 0 if the paper's size is not requested. */
static int read_scale(const struct kind_args *args, double *scale, struct err *err)
{
	char *end;
	double value;

	*scale = args->paper ? 1 : 0;
	if (!args->scale)
		return 0;
	value = strtod(args->scale, &end);
	if (end == args->scale || *end || !(value > 0 && value <= 1000))
		return err_set(err, EINVAL,
			       "--scale: \"%s\" is not a number greater than 0 and at most 1000",
			       args->scale);
	*scale = value;
	return 0;
}

static uint64_t scaled(uint64_t value, double by)
{
	double result = round((double)value * by);

	return result < 1 ? 1 : (uint64_t)result;
}

static int vpic_shape(const struct kind_args *args, uint64_t ranks, struct shape *shape,
		      struct err *err)
{
	double scale;
	int ret = read_scale(args, &scale, err);

	if (!ret)
		shape_vpic(shape, ranks, args->steps,
			   scale > 0 ? scaled(VPIC_PARTICLES, scale) : args->particles);
	return ret;
}

/* A smaller block keeps its proportions. */
static int vorpal_shape(const struct kind_args *args, uint64_t ranks, struct shape *shape,
			struct err *err)
{
	uint64_t block[SHAPE_DIMS] = VORPAL_BLOCK, steps = args->steps;
	double scale;
	int ret = read_scale(args, &scale, err);

	if (ret)
		return ret;
	for (int i = 0; i < SHAPE_DIMS && scale > 0; i++)
		block[i] = scaled(block[i], cbrt(scale));
	if (!(scale > 0)) {
		ret = kind_extent("block", args->block, SHAPE_DIMS, block, err);
		if (ret)
			return ret;
	}
	if (steps == OPTION_NONE)
		steps = scale > 0 ? VORPAL_STEPS : 4;
	shape_vorpal(shape, ranks, steps, block, args->non_uniform);
	shape->sets = args->components;
	return 0;
}

static int gcrm_shape(const struct kind_args *args, uint64_t ranks, struct shape *shape,
		      struct err *err)
{
	uint64_t subdomain = args->subdomain;
	double scale;
	int ret = read_scale(args, &scale, err);

	if (ret)
		return ret;
	if (args->resolution == OPTION_NONE && subdomain != OPTION_NONE)
		return err_set(err, EINVAL, "--subdomain needs --resolution");
	if (args->resolution != OPTION_NONE && scale > 0)
		return err_set(err, EINVAL,
			       "--resolution cannot be combined with --paper or --scale");
	if (args->resolution == OPTION_NONE) {
		shape_gcrm(shape, ranks, args->steps,
			   scale > 0 ? scaled(GCRM_CELLS, scale) : args->cells);
		shape->levels = args->levels;
		return 0;
	}
	if (subdomain == OPTION_NONE)
		subdomain = args->resolution < SUBDOMAIN ? args->resolution : SUBDOMAIN;
	shape_gcrm_mesh(shape, ranks, args->steps, args->resolution, subdomain);
	shape->levels = args->levels;
	return 0;
}

static int small_shape(const struct kind_args *args, uint64_t ranks, struct shape *shape,
		       struct err *err)
{
	(void)err;
	shape_small(shape, ranks, args->sets, args->values);
	return 0;
}

/* One collective call per rank for interleaved pieces of 64 bytes. Options of the user override it.
 */
static const char *const strided_fixed[] = {
	"--level",     "collective-noncontiguous",
	"--block",     "64",
	"--count",     "32768",
	"--keep",      "--file",
	"strided.dat", NULL,
};

const struct kind kinds[] = {
	{ "vpic", "vpic_io", "Write particles with parallel HDF5, like the plasma code VPIC.",
	  vpic_options, vpic_shape, NULL },
	{ "vorpal", "vorpal_io",
	  "Write a field in blocks with parallel HDF5, like the accelerator code VORPAL.",
	  vorpal_options, vorpal_shape, NULL },
	{ "gcrm", "gcrm_io",
	  "Write a geodesic mesh with parallel HDF5, like the climate model GCRM.", gcrm_options,
	  gcrm_shape, NULL },
	{ "small", "small_io", "Write many small datasets with parallel HDF5.", small_options,
	  small_shape, NULL },
	{ "strided", "levels",
	  "Write and read interleaved pieces of 64 bytes by one collective call of MPI-IO.", NULL,
	  NULL, strided_fixed },
	{ "levels", "levels", "Write and read a file at the four access levels of MPI-IO.", NULL,
	  NULL, NULL },
	{ "collective", "collective_io",
	  "Write or read a shared file by collective calls of MPI-IO, like IOR.", NULL, NULL,
	  NULL },
	{ 0 },
};

const struct kind *kind_find(const char *name)
{
	for (const struct kind *kind = kinds; kind->name; kind++)
		if (strcmp(kind->name, name) == 0)
			return kind;
	for (const struct kind *kind = kinds; kind->name; kind++)
		if (strcmp(kind->program, name) == 0 && !kind->fixed)
			return kind;
	return NULL;
}

int kind_shape(const struct kind *kind, const struct kind_args *args, uint64_t ranks,
	       struct shape *shape, struct err *err)
{
	struct shape made;
	int ret;

	if (!ranks || ranks > RANKS_MAX)
		return err_set(err, EINVAL, "the number of ranks must be from 1 to %llu",
			       (unsigned long long)RANKS_MAX);
	ret = kind->shape(args, ranks, &made, err);
	if (!ret)
		ret = shape_check(&made, err);
	if (!ret)
		*shape = made;
	return ret;
}
