/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a benchmark campaign (predict/model/costs/campaign.h): one MPI job of kernels/elemental.c
 * per number of ranks measures the cells that are not done. The runner reads the output while the
 * job runs and saves a cell to the store as soon as it is complete, so a campaign that is cut off
 * can be resumed. The list of cells and the output are files in memory: however the process ends,
 * nothing stays on disk.
 *
 * The runner prints nothing: warnings and progress go to the callbacks of the caller.
 */
#ifndef SLUICE_PREDICT_MODEL_MEASURE_MEASURE_H
#define SLUICE_PREDICT_MODEL_MEASURE_MEASURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/launcher.h"
#include "predict/model/costs/campaign.h"

struct err;
struct store;

/* How far the campaign has come, after each cell. */
struct measure_progress {
	size_t cells_done, cells; /* including the cells that were known before */
	uint64_t ranks;		  /* of the cell that was just measured */
	const char *operation;	  /* likewise, for people: "Alltoallv", "storage" */
	double left_s;		  /* estimated; NAN: unknown */
};

/* Everything that the options point to must stay valid until measure_run() returns. */
struct measure_options {
	struct store *store;
	const char *platform; /* name that the rows are saved under */
	const struct campaign_request *wish;
	struct campaign *campaign; /* made from the wish; cells are marked as they are done */
	size_t known;		   /* cells that were done before, see measure_resume() */
	const char *dir;	   /* directory on the file system to measure */
	enum mpi mpi;
	const char *hosts;		   /* "a,b": nodes to use; NULL: the launcher decides */
	const char *launcher;		   /* "srun -n {ranks}"; NULL: mpiexec */
	const volatile sig_atomic_t *stop; /* not 0: stop the job and return -EINTR */
	void (*show)(void *arg, const struct measure_progress *progress); /* may be NULL */
	/* One sentence without a newline: something went wrong, but the rows are complete. */
	void (*warn)(void *arg, const char *sentence); /* may be NULL */
	void *arg;				       /* passed to both callbacks */
};

struct measure_result {
	size_t cells, rows; /* that were measured and saved */
	double seconds;	    /* of all jobs together */
};

/*
 * Marks the cells of the campaign as done that the store has rows of, unless `remeasure` is set,
 * and returns their number in *known. -EINVAL if the platform has rows of storage that were
 * measured with another use of the page cache: the two must not be mixed.
 */
int measure_resume(struct campaign *campaign, const struct campaign_request *wish,
		   struct store *store, const char *platform, bool remeasure, size_t *known,
		   struct err *err);

/*
 * Measures the cells that are not done. *result is also set on failure, and the cells that it
 * counts are in the store. -EINTR: *stop was set.
 */
int measure_run(const struct measure_options *options, struct measure_result *result,
		struct err *err);

/* How to use the page cache in this directory unless the user decides: a file system in memory is
 * measured through it, any other is measured around it. */
enum campaign_cache measure_cache_choose(const char *dir);

/* Bytes of memory of this node; 0: unknown. */
uint64_t measure_memory_bytes(void);

#endif
