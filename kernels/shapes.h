/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the HDF5 kernels write: which datasets there are, how large they are, and which part of each
 * belongs to which rank. It is plain arithmetic, so that `sluice kernel NAME --plan` tells the
 * exact volumes of 4096 ranks on a laptop, and a kernel writes what the plan says: both ask here.
 *
 * A shape is a value: nothing to release. Volumes are exact; who makes a shape sees to it that
 * they fit 63 bits (shape_check()).
 */
#ifndef SLUICE_KERNELS_SHAPES_H
#define SLUICE_KERNELS_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define SHAPE_DIMS 3

/* What the papers ran, per rank. */
#define VPIC_PARTICLES (UINT64_C(8) << 20) /* 8 variables of 32 MiB each */
#define VPIC_VARIABLES 8
#define VORPAL_BLOCK         \
	{                    \
		100, 100, 60 \
	} /* cells along x, y, z */
#define VORPAL_COMPONENTS 3
#define VORPAL_STEPS 20
/*
 * 10 variables on 26 interfaces between 25 levels, 327680 cells: 325 MiB. That is the one whole
 * number of such variables that gives the printed 650 GB on 2048 and 1.3 TB on 4096 ranks, both
 * exactly (in GiB), and 40.6 GiB, printed as 40 GB, on 128.
 */
#define GCRM_CELLS UINT64_C(327680)
#define GCRM_LEVELS 25
#define GCRM_INTERFACES (GCRM_LEVELS + 1)
#define GCRM_VARIABLES 10

enum shape_type { SHAPE_FLOAT, SHAPE_INT, SHAPE_DOUBLE };

/* One dataset, and the part of it that one rank writes. Dimensions: the slowest first. */
struct dataset {
	char group[48]; /* "Step#0/Block/E"; empty: it stands in the root */
	char name[32];
	enum shape_type type;
	int dims;
	uint64_t size[SHAPE_DIMS];
	uint64_t start[SHAPE_DIMS], count[SHAPE_DIMS];
};

enum shape_kind {
	SHAPE_VPIC,   /* particles in a row */
	SHAPE_VORPAL, /* a vector field on a box, a block of it for each rank */
	SHAPE_GCRM,   /* columns of air on a geodesic mesh */
	SHAPE_SMALL,  /* many datasets, each small */
};

/* All datasets of a shape are of one size, and a rank has the same part in each. */
struct shape {
	enum shape_kind kind;
	uint64_t ranks, steps;
	uint64_t sets;		    /* datasets of a step */
	uint64_t block[SHAPE_DIMS]; /* values of a rank: x, y, z of VORPAL, else the first alone */
	uint64_t grid[SHAPE_DIMS];  /* VORPAL: ranks along x, y, z; their product is ranks */
	bool non_uniform;	    /* VORPAL: blocks differ, the whole stays as it is */
	bool whole_mesh;	    /* GCRM: a mesh of one resolution is dealt out */
	uint64_t resolution, subdomain;
};

void shape_vpic(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t particles);
void shape_vorpal(struct shape *shape, uint64_t ranks, uint64_t steps,
		  const uint64_t block[SHAPE_DIMS], bool non_uniform);
/* So many cells on each rank: the mesh grows with the ranks. */
void shape_gcrm(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t cells);
/*
 * The geodesic mesh of one resolution R: ten rhombi of 4^R cells, and the two poles. It is dealt
 * out in blocks of 4^subdomain cells, ranks with neighbouring numbers getting neighbouring blocks;
 * the poles are the last rank's.
 */
void shape_gcrm_mesh(struct shape *shape, uint64_t ranks, uint64_t steps, uint64_t resolution,
		     uint64_t subdomain);
void shape_small(struct shape *shape, uint64_t ranks, uint64_t sets, uint64_t values);

/* -EINVAL with what to mend: an empty shape, a rank without a part, more bytes than MPI-IO counts
 * in one call, or than a file can have. */
int shape_check(const struct shape *shape, struct err *err);

/* Dataset number `index` of shape_datasets(), in the order in which they are written. */
void shape_dataset(const struct shape *shape, uint64_t rank, uint64_t index, struct dataset *out);
uint64_t shape_datasets(const struct shape *shape);

size_t shape_type_bytes(enum shape_type type);
uint64_t dataset_bytes(const struct dataset *dataset);	    /* the whole of it */
uint64_t dataset_rank_bytes(const struct dataset *dataset); /* the rank's part */

uint64_t shape_bytes(const struct shape *shape); /* of all datasets and ranks */
uint64_t shape_rank_bytes(const struct shape *shape, uint64_t rank);

/* Ranks as the box of three factors that is nearest to a cube, the largest first. */
void shape_factorise(uint64_t ranks, uint64_t grid[SHAPE_DIMS]);

/* 10 * 4^resolution + 2 */
uint64_t shape_mesh_cells(uint64_t resolution);

#endif
