/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output of the HDF5 kernels: the datasets, their sizes, and the part of each rank. It is plain
 * arithmetic, so `sluice lab kernel NAME --dry-run` computes the exact volumes of 4096 ranks on a
 * laptop. The kernels use the same functions.
 *
 * A shape is a value without resources. Volumes are exact; shape_check() ensures that they fit into
 * 63 bits.
 * Papers: KRN-3, KRN-6, KRN-9.
 */
#ifndef SLUICE_KERNELS_SHAPES_H
#define SLUICE_KERNELS_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define SHAPE_DIMS 3

/* The sizes of the papers, per rank. */
#define VPIC_PARTICLES (UINT64_C(8) << 20) /* 8 variables of 32 MiB each */
#define VPIC_VARIABLES 8
#define VORPAL_BLOCK         \
	{                    \
		100, 100, 60 \
	} /* cells along x, y, z */
#define VORPAL_COMPONENTS 3
#define VORPAL_STEPS 20
/*
 * 10 variables on 26 interfaces between 25 levels, 327680 cells: 325 MiB. Only this number of
 * variables yields exactly the printed 650 GB on 2048 ranks and 1.3 TB on 4096 ranks (in GiB), and
 * 40.6 GiB, printed as 40 GB, on 128 ranks.
 */
#define GCRM_CELLS UINT64_C(327680)
#define GCRM_LEVELS 25
#define GCRM_VARIABLES 10

enum shape_type { SHAPE_FLOAT, SHAPE_INT, SHAPE_DOUBLE };

/* A dataset and the part of one rank. The slowest dimension is first. */
struct dataset {
	char group[48]; /* "Step#0/Block/E"; empty: the root group */
	char name[32];
	enum shape_type type;
	int dims;
	uint64_t size[SHAPE_DIMS];
	uint64_t start[SHAPE_DIMS], count[SHAPE_DIMS];
};

enum shape_kind {
	SHAPE_VPIC,   /* one-dimensional arrays of particles */
	SHAPE_VORPAL, /* a vector field on a box, with one block per rank */
	SHAPE_GCRM,   /* columns of air on a geodesic mesh */
	SHAPE_SMALL,  /* many small datasets */
};

/* All datasets of a shape have the same size, and a rank has the same part of each. */
struct shape {
	enum shape_kind kind;
	uint64_t ranks, steps;
	uint64_t sets;		    /* datasets per step; VORPAL: components of the field */
	uint64_t block[SHAPE_DIMS]; /* values per rank: VORPAL x, y, z; others use the first only */
	uint64_t grid[SHAPE_DIMS];  /* VORPAL: ranks along x, y, z; their product is ranks */
	bool non_uniform;	    /* VORPAL: blocks have different sizes, with the same total */
	uint64_t levels; /* GCRM: vertical levels; values are on the interfaces, one more */
	bool whole_mesh; /* GCRM: a mesh of one resolution is distributed */
	uint64_t resolution, subdomain;
};

void shape_vpic(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t particles);
void shape_vorpal(struct shape *shape, uint64_t ranks, uint64_t steps,
		  const uint64_t block[SHAPE_DIMS], bool non_uniform);
/*
 * Every rank has `cells` cells: the mesh grows with the number of ranks. The paper's numbers of
 * components of VORPAL and of levels of GCRM are set; a caller may change them afterwards.
 */
void shape_gcrm(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t cells);
/*
 * The geodesic mesh of resolution R: ten rhombi of 4^R cells, and the two poles. It is distributed
 * in blocks of 4^subdomain cells; neighboring ranks get neighboring blocks, and the last rank gets
 * the poles.
 */
void shape_gcrm_mesh(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t resolution,
		     uint64_t subdomain);
void shape_small(struct shape *shape, uint64_t ranks, uint64_t sets, uint64_t values);

/* -EINVAL: the shape is empty, a rank has no part, or a part or the file is too large. */
int shape_check(const struct shape *shape, struct err *err);

/* Computes dataset number `index` of shape_datasets(), in the order of writing. */
void shape_dataset(const struct shape *shape, uint64_t rank, uint64_t index, struct dataset *out);
uint64_t shape_datasets(const struct shape *shape);

size_t shape_type_bytes(enum shape_type type);
uint64_t dataset_bytes(const struct dataset *dataset);	    /* of the whole dataset */
uint64_t dataset_rank_bytes(const struct dataset *dataset); /* of the part of the rank */

uint64_t shape_bytes(const struct shape *shape); /* of all datasets and ranks */
uint64_t shape_rank_bytes(const struct shape *shape, uint64_t rank);

/* Factors the ranks into the box that is nearest to a cube, largest factor first. */
void shape_factorize(uint64_t ranks, uint64_t grid[SHAPE_DIMS]);

/* 10 * 4^resolution + 2 */
uint64_t shape_mesh_cells(uint64_t resolution);

#endif
