/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/kinds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define RANKS_MAX (UINT64_C(1) << 24)
#define SUBDOMAIN 8 /* 65536 cells: five such blocks are the paper's 327680 */

#define FIELD(name) offsetof(struct kind_args, name)

#define ROWS_OF_SIZE                                                                               \
	{ 0,	       "paper",	    NULL, NULL, "the size of the paper, whatever else is said",    \
	  OPTION_FLAG, FIELD(paper) },                                                             \
	{                                                                                          \
		0, "scale", "F", NULL, "this part of the paper's size on each rank, such as 0.01", \
			OPTION_TEXT, FIELD(scale)                                                  \
	}

#define ROWS_OF_ACCESS(file_, transfer_)                                                             \
	{ 'f', "file", "PATH", file_, "the file; it stays", OPTION_TEXT, FIELD(file) },              \
		{ 't',                                                                               \
		  "transfer",                                                                        \
		  "collective|independent",                                                          \
		  transfer_,                                                                         \
		  "how HDF5 hands the data to MPI-IO",                                               \
		  OPTION_CHOICE,                                                                     \
		  FIELD(transfer) },                                                                 \
		{ 0,                                                                                 \
		  "chunk",                                                                           \
		  "NxN",                                                                             \
		  NULL,                                                                              \
		  "chunked datasets of this shape, slowest dimension first",                         \
		  OPTION_TEXT,                                                                       \
		  FIELD(chunk) },                                                                    \
		{ 'H',	       "hint",	    "KEY=VALUE", NULL, "an MPI-IO hint; may be repeated",    \
		  OPTION_LIST, FIELD(hints) },                                                       \
		{ 'r',                                                                               \
		  "read",                                                                            \
		  NULL,                                                                              \
		  NULL,                                                                              \
		  "only read the file that an earlier run has written",                              \
		  OPTION_FLAG,                                                                       \
		  FIELD(read) },                                                                     \
		{ 0,	       "verify",     NULL, NULL, "read the file back and check every value", \
		  OPTION_FLAG, FIELD(verify) },                                                      \
	{                                                                                            \
		0, "remove", NULL, NULL, "remove the file in the end", OPTION_FLAG, FIELD(remove)    \
	}

static const struct option vpic_options[] = {
	{ 'n', "particles", "N", "32768", "particles of each rank", OPTION_COUNT,
	  FIELD(particles) },
	ROWS_OF_SIZE,
	{ 's', "steps", "N", "1", "time steps", OPTION_COUNT, FIELD(steps) },
	ROWS_OF_ACCESS("vpic.h5", "collective"),
	{ 0 },
};

static const struct option vorpal_options[] = {
	{ 'b', "block", "XxYxZ", "20x20x12", "cells of each rank's block", OPTION_TEXT,
	  FIELD(block) },
	ROWS_OF_SIZE,
	{ 's', "steps", "N", NULL, "time steps (default 4, and 20 of the paper's size)",
	  OPTION_COUNT, FIELD(steps) },
	{ 'u', "non-uniform", NULL, NULL, "blocks of different sizes, with the same sum",
	  OPTION_FLAG, FIELD(non_uniform) },
	ROWS_OF_ACCESS("vorpal.h5", "collective"),
	{ 0 },
};

static const struct option gcrm_options[] = {
	{ 'n', "cells", "N", "1280", "cells of each rank, with 26 interfaces above each other",
	  OPTION_COUNT, FIELD(cells) },
	ROWS_OF_SIZE,
	{ 'R', "resolution", "N", NULL, "deal out a geodesic mesh of 10 * 4^N + 2 cells",
	  OPTION_COUNT, FIELD(resolution) },
	{ 'S', "subdomain", "N", NULL,
	  "... in blocks of 4^N cells (default: 8, or the resolution if that is less)",
	  OPTION_COUNT, FIELD(subdomain) },
	{ 's', "steps", "N", "1", "iterations", OPTION_COUNT, FIELD(steps) },
	{ 'd', "driver", "mpio|posix", "mpio",
	  "one file by MPI-IO, or each rank its own, PATH.RANK, without MPI-IO", OPTION_CHOICE,
	  FIELD(driver) },
	ROWS_OF_ACCESS("gcrm.h5", "independent"),
	{ 0 },
};

static const struct option small_options[] = {
	{ 'n', "count", "N", "300", "datasets", OPTION_COUNT, FIELD(sets) },
	{ 'v', "values", "N", "256", "values of four bytes of each rank in each", OPTION_COUNT,
	  FIELD(values) },
	ROWS_OF_ACCESS("small.h5", "collective"),
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
		return err_set(err, EINVAL, "--%s: \"%s\" is not %zu numbers with x between them",
			       option, text, count);
	memcpy(out, read, count * sizeof(*out));
	return 0;
}

/* 0 where the paper's size is not asked for. */
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
			       "--scale: \"%s\" is not a number above 0 and up to 1000",
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
			       "--resolution says how large the mesh is: leave --paper and "
			       "--scale out");
	if (args->resolution == OPTION_NONE) {
		shape_gcrm(shape, ranks, args->steps,
			   scale > 0 ? scaled(GCRM_CELLS, scale) : args->cells);
		return 0;
	}
	if (subdomain == OPTION_NONE)
		subdomain = args->resolution < SUBDOMAIN ? args->resolution : SUBDOMAIN;
	shape_gcrm_mesh(shape, ranks, args->steps, args->resolution, subdomain);
	return 0;
}

static int small_shape(const struct kind_args *args, uint64_t ranks, struct shape *shape,
		       struct err *err)
{
	(void)err;
	shape_small(shape, ranks, args->sets, args->values);
	return 0;
}

/* One collective call per rank for pieces of 64 bytes in turn; the user's options override it. */
static const char *const strided_fixed[] = {
	"--level",     "collective-noncontiguous",
	"--block",     "64",
	"--count",     "32768",
	"--keep",      "--file",
	"strided.dat", NULL,
};

const struct kind kinds[] = {
	{ "vpic", "vpic_io", "Writes particles with parallel HDF5 as the plasma code VPIC does.",
	  vpic_options, vpic_shape, NULL },
	{ "vorpal", "vorpal_io",
	  "Writes a field in blocks with parallel HDF5 as the accelerator code VORPAL does.",
	  vorpal_options, vorpal_shape, NULL },
	{ "gcrm", "gcrm_io",
	  "Writes air above a geodesic mesh with parallel HDF5 as the climate model GCRM does.",
	  gcrm_options, gcrm_shape, NULL },
	{ "small", "small_io", "Writes many small datasets with parallel HDF5.", small_options,
	  small_shape, NULL },
	{ "strided", "levels",
	  "Writes and reads pieces of 64 bytes in turn, by one collective call of MPI-IO.", NULL,
	  NULL, strided_fixed },
	{ "levels", "levels", "Writes and reads a file at the four levels of access of MPI-IO.",
	  NULL, NULL, NULL },
	{ "collective", "collective_io",
	  "Writes or reads a shared file by collective calls of MPI-IO, as IOR does.", NULL, NULL,
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
		return err_set(err, EINVAL, "there must be from 1 to %llu ranks",
			       (unsigned long long)RANKS_MAX);
	ret = kind->shape(args, ranks, &made, err);
	if (!ret)
		ret = shape_check(&made, err);
	if (!ret)
		*shape = made;
	return ret;
}
