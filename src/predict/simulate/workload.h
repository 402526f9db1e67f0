/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an I/O kernel asks of the storage, as far as a model cares: shapes and exact volumes of
 * VPIC-IO, VORPAL-IO and GCRM-IO (KRN-2 to KRN-10), and what they cost on a described platform.
 */
#ifndef SLUICE_PREDICT_SIMULATE_WORKLOAD_H
#define SLUICE_PREDICT_SIMULATE_WORKLOAD_H

#include "predict/simulate/platform.h"

enum workload_pattern {
	WORKLOAD_LINEAR, /* each variable: the ranks' blocks one behind the other */
	WORKLOAD_BLOCKS, /* blocks of a 3-D field */
	WORKLOAD_MESH,	 /* records of a semi-structured mesh, chunked; no MPI-IO */
};

struct workload {
	const char *name; /* "vpic", "vorpal", "gcrm" */
	enum workload_pattern pattern;
	bool collective; /* goes through two-phase I/O */
	bool chunked;	 /* its chunk size can be chosen */
	uint64_t ranks;
	uint64_t variables, steps; /* datasets per file, and how often */
	uint64_t rank_bytes;	   /* of all, per rank */
	uint64_t access_bytes;	   /* per rank and call */
	uint64_t rows;		   /* pieces of an access in a file whose datasets are contiguous */
};

/* Of a kernel by name with so many ranks. -ENOENT with the names that there are. */
int workload_of(struct workload *workload, const char *kernel, uint64_t ranks, struct err *err);
uint64_t workload_bytes(const struct workload *workload); /* of all ranks */

/* The space that the paper searched for this kernel on this platform (GA-7 to GA-10). */
int workload_space(const struct workload *workload, const struct platform *platform,
		   struct space *space, struct err *err);

/* Seconds of open + write + close in parts. What the set does not name are the site's defaults. */
struct simulated {
	double open, exchange, storage, metadata, close; /* seconds */
	double total;
	double rate; /* bytes/s */
};
int workload_simulate(const struct workload *workload, const struct platform *platform,
		      const struct param_set *set, struct simulated *out, struct err *err);

#endif
