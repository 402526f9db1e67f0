/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The I/O of a kernel as the simulation needs it: shapes and exact volumes of VPIC-IO, VORPAL-IO
 * and GCRM-IO, and their cost on a described platform.
 * Papers: GA-10.
 */
#ifndef SLUICE_PREDICT_SIMULATE_WORKLOAD_H
#define SLUICE_PREDICT_SIMULATE_WORKLOAD_H

#include "predict/simulate/platform.h"

enum workload_pattern {
	WORKLOAD_LINEAR, /* each variable consists of one block per rank, in the order of ranks */
	WORKLOAD_BLOCKS, /* blocks of a 3-D field */
	WORKLOAD_MESH,	 /* records of a semi-structured mesh, chunked; no MPI-IO */
};

struct workload {
	const char *name; /* "vpic", "vorpal", "gcrm" */
	enum workload_pattern pattern;
	bool collective; /* uses two-phase I/O */
	bool chunked;	 /* the chunk size can be chosen */
	uint64_t ranks;
	uint64_t variables, steps; /* datasets per step, and steps */
	uint64_t rank_bytes;	   /* per rank, in all */
	uint64_t access_bytes;	   /* per rank and call */
	uint64_t rows;		   /* pieces of an access if datasets are contiguous */
};

/* Finds the workload of a kernel by name. -ENOENT: unknown kernel; err lists the names. */
int workload_find(struct workload *workload, const char *kernel, uint64_t ranks, struct err *err);
uint64_t workload_bytes(const struct workload *workload); /* of all ranks */

/* The space that the paper searched for this kernel on this platform. */
int workload_space(const struct workload *workload, const struct platform *platform,
		   struct space *space, struct err *err);

/* Seconds of opening, writing and closing the file. Parameters outside the set have the site's
 * defaults. */
struct simulated {
	double open, exchange, storage, metadata, close; /* seconds */
	double total;
	double rate; /* in bytes per second */
};
int workload_simulate(const struct workload *workload, const struct platform *platform,
		      const struct param_set *set, struct simulated *out, struct err *err);

#endif
