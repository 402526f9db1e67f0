/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: KRN-4, KRN-7, KRN-10, ATE-5.
 */
#include "kernels/shapes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

#define POLES 2
#define RESOLUTION_MAX 24 /* 2.8e15 cells of less than 1 m each */

struct variable {
	const char *name;
	enum shape_type type;
};

static const struct variable particles[VPIC_VARIABLES] = {
	{ "x", SHAPE_FLOAT }, { "y", SHAPE_FLOAT },  { "z", SHAPE_FLOAT },  { "id1", SHAPE_INT },
	{ "id2", SHAPE_INT }, { "px", SHAPE_FLOAT }, { "py", SHAPE_FLOAT }, { "pz", SHAPE_FLOAT },
};

/* Plausible variables on the interfaces between levels; the paper does not name them. */
static const char *const air[GCRM_VARIABLES] = {
	"pressure",   "temperature", "geopotential", "vertical_velocity", "vorticity",
	"divergence", "water_vapor", "cloud_water",  "cloud_ice",	  "rain",
};

void shape_vpic(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t count)
{
	*shape = (struct shape){ .kind = SHAPE_VPIC,
				 .ranks = ranks,
				 .steps = steps,
				 .sets = VPIC_VARIABLES,
				 .block = { count, 1, 1 } };
}

void shape_vorpal(struct shape *shape, uint64_t ranks, uint64_t steps,
		  const uint64_t block[SHAPE_DIMS], bool non_uniform)
{
	*shape = (struct shape){ .kind = SHAPE_VORPAL,
				 .ranks = ranks,
				 .steps = steps,
				 .sets = VORPAL_COMPONENTS,
				 .block = { block[0], block[1], block[2] },
				 .non_uniform = non_uniform };
	shape_factorize(ranks, shape->grid);
}

void shape_gcrm(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t cells)
{
	*shape = (struct shape){ .kind = SHAPE_GCRM,
				 .ranks = ranks,
				 .steps = steps,
				 .sets = GCRM_VARIABLES,
				 .levels = GCRM_LEVELS,
				 .block = { cells, 1, 1 } };
}

void shape_gcrm_mesh(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t resolution,
		     uint64_t subdomain)
{
	shape_gcrm(shape, ranks, steps, 0);
	shape->whole_mesh = true;
	shape->resolution = resolution;
	shape->subdomain = subdomain;
}

void shape_small(struct shape *shape, uint64_t ranks, uint64_t sets, uint64_t values)
{
	*shape = (struct shape){ .kind = SHAPE_SMALL,
				 .ranks = ranks,
				 .steps = 1,
				 .sets = sets,
				 .block = { values, 1, 1 } };
}

void shape_factorize(uint64_t ranks, uint64_t grid[SHAPE_DIMS])
{
	uint64_t best = UINT64_MAX;

	for (uint64_t z = 1; z * z * z <= ranks; z++) {
		if (ranks % z)
			continue;
		for (uint64_t y = z; y * y <= ranks / z; y++) {
			uint64_t x = ranks / z / y;

			if (ranks / z % y || x + y + z >= best)
				continue;
			best = x + y + z;
			grid[0] = x;
			grid[1] = y;
			grid[2] = z;
		}
	}
}

uint64_t shape_mesh_cells(uint64_t resolution)
{
	return (UINT64_C(10) << (2 * resolution)) + POLES;
}

/*
 * The start of part i of `parts`. Nonuniform parts come in pairs: one is larger by as much as the
 * other is smaller, by 10 % to 40 %, so no part is empty and the sum is exact.
 */
static uint64_t part_start(uint64_t i, uint64_t parts, uint64_t each, bool non_uniform)
{
	bool inside_pair = i % 2 && i < parts;

	if (!non_uniform || !inside_pair)
		return i * each;
	return i * each + each * (1 + i / 2 % 4) / 10;
}

static void place_vorpal(const struct shape *shape, uint64_t rank, struct dataset *out)
{
	for (int axis = 0; axis < SHAPE_DIMS; axis++) {
		uint64_t parts = shape->grid[axis], each = shape->block[axis], i = rank % parts;
		int dim = SHAPE_DIMS - 1 - axis; /* x runs fastest */

		rank /= parts;
		out->size[dim] = parts * each;
		out->start[dim] = part_start(i, parts, each, shape->non_uniform);
		out->count[dim] =
			part_start(i + 1, parts, each, shape->non_uniform) - out->start[dim];
	}
	out->dims = SHAPE_DIMS;
}

/* The number of blocks before the first block of the rank; rank == ranks: of all blocks. */
static uint64_t blocks_before(const struct shape *shape, uint64_t rank)
{
	uint64_t blocks = UINT64_C(10) << (2 * (shape->resolution - shape->subdomain));
	uint64_t more = blocks % shape->ranks; /* number of ranks with one more block */

	return blocks / shape->ranks * rank + (rank < more ? rank : more);
}

static void place_mesh(const struct shape *shape, uint64_t rank, struct dataset *out)
{
	uint64_t each = UINT64_C(1) << (2 * shape->subdomain);

	out->size[2] = shape_mesh_cells(shape->resolution);
	out->start[2] = blocks_before(shape, rank) * each;
	out->count[2] = blocks_before(shape, rank + 1) * each - out->start[2];
	if (rank + 1 == shape->ranks)
		out->count[2] += POLES;
}

static void place_gcrm(const struct shape *shape, uint64_t rank, struct dataset *out)
{
	out->dims = SHAPE_DIMS;
	out->size[0] = out->count[0] = 1; /* time */
	out->size[1] = out->count[1] = shape->levels + 1;
	if (shape->whole_mesh) {
		place_mesh(shape, rank, out);
		return;
	}
	out->size[2] = shape->block[0] * shape->ranks;
	out->start[2] = shape->block[0] * rank;
	out->count[2] = shape->block[0];
}

static void place_line(const struct shape *shape, uint64_t rank, struct dataset *out)
{
	out->dims = 1;
	out->size[0] = shape->block[0] * shape->ranks;
	out->start[0] = shape->block[0] * rank;
	out->count[0] = shape->block[0];
}

void shape_dataset(const struct shape *shape, uint64_t rank, uint64_t index, struct dataset *out)
{
	unsigned long long step = index / shape->sets, set = index % shape->sets;

	memset(out, 0, sizeof(*out));
	snprintf(out->group, sizeof(out->group), "Step#%llu", step);
	switch (shape->kind) {
	case SHAPE_VPIC:
		snprintf(out->name, sizeof(out->name), "%s", particles[set].name);
		out->type = particles[set].type;
		place_line(shape, rank, out);
		break;
	case SHAPE_VORPAL:
		/* Names as in H5Block: a field is a group, and its components are numbered. */
		snprintf(out->group, sizeof(out->group), "Step#%llu/Block/E", step);
		snprintf(out->name, sizeof(out->name), "%llu", set);
		out->type = SHAPE_DOUBLE;
		place_vorpal(shape, rank, out);
		break;
	case SHAPE_GCRM:
		snprintf(out->name, sizeof(out->name), "%s", air[set]);
		place_gcrm(shape, rank, out);
		break;
	case SHAPE_SMALL:
		out->group[0] = 0;
		snprintf(out->name, sizeof(out->name), "set%04llu", set);
		place_line(shape, rank, out);
		break;
	}
}

uint64_t shape_datasets(const struct shape *shape)
{
	return shape->steps * shape->sets;
}

size_t shape_type_bytes(enum shape_type type)
{
	return type == SHAPE_DOUBLE ? 8 : 4;
}

static uint64_t count_bytes(const struct dataset *dataset, const uint64_t *extent)
{
	uint64_t bytes = shape_type_bytes(dataset->type);

	for (int i = 0; i < dataset->dims; i++)
		bytes *= extent[i];
	return bytes;
}

uint64_t dataset_bytes(const struct dataset *dataset)
{
	return count_bytes(dataset, dataset->size);
}

uint64_t dataset_rank_bytes(const struct dataset *dataset)
{
	return count_bytes(dataset, dataset->count);
}

uint64_t shape_bytes(const struct shape *shape)
{
	struct dataset dataset;

	shape_dataset(shape, 0, 0, &dataset);
	return dataset_bytes(&dataset) * shape_datasets(shape);
}

uint64_t shape_rank_bytes(const struct shape *shape, uint64_t rank)
{
	struct dataset dataset;

	shape_dataset(shape, rank, 0, &dataset);
	return dataset_rank_bytes(&dataset) * shape_datasets(shape);
}

static int check_mesh(const struct shape *shape, struct err *err)
{
	if (shape->resolution > RESOLUTION_MAX)
		return err_set(err, EINVAL, "--resolution must be at most %d", RESOLUTION_MAX);
	if (shape->subdomain > shape->resolution)
		return err_set(err, EINVAL, "--subdomain must be at most the resolution, %llu",
			       (unsigned long long)shape->resolution);
	if (blocks_before(shape, shape->ranks) < shape->ranks)
		return err_set(err, EINVAL,
			       "%llu blocks are not enough for %llu ranks; lower --subdomain",
			       (unsigned long long)blocks_before(shape, shape->ranks),
			       (unsigned long long)shape->ranks);
	return 0;
}

/* Uses floating point because integers may overflow. */
static int check_volume(const struct shape *shape, struct err *err)
{
	double rank_bytes = 8, bytes;

	for (int i = 0; i < SHAPE_DIMS; i++)
		rank_bytes *= (double)(shape->whole_mesh ? 1 : shape->block[i]);
	if (shape->kind == SHAPE_GCRM)
		rank_bytes *= (double)shape->levels + 1;
	bytes = rank_bytes * (double)shape->ranks * (double)shape->sets * (double)shape->steps;
	if (shape->whole_mesh)
		bytes *= (double)shape_mesh_cells(shape->resolution);
	if (bytes >= 0x1p62)
		return err_set(err, ERANGE, "the file would be too large");
	return 0;
}

int shape_check(const struct shape *shape, struct err *err)
{
	struct dataset dataset;
	int ret;

	if (!shape->ranks || !shape->steps || !shape->sets)
		return err_set(err, EINVAL, "at least one rank, step and dataset are required");
	if (shape->kind == SHAPE_GCRM && !shape->levels)
		return err_set(err, EINVAL, "--levels must be at least 1");
	for (int i = 0; i < SHAPE_DIMS && !shape->whole_mesh; i++)
		if (!shape->block[i])
			return err_set(err, EINVAL, "each rank must have at least one value");
	ret = shape->whole_mesh ? check_mesh(shape, err) : 0;
	if (!ret)
		ret = check_volume(shape, err);
	for (uint64_t rank = 0; rank < shape->ranks && !ret; rank++) {
		shape_dataset(shape, rank, 0, &dataset);
		if (dataset_rank_bytes(&dataset) > INT32_MAX)
			ret = err_set(err, EINVAL,
				      "the part of a rank has %llu bytes, but one call of MPI-IO "
				      "moves at most %d; use a smaller size per rank",
				      (unsigned long long)dataset_rank_bytes(&dataset), INT32_MAX);
	}
	return ret;
}
