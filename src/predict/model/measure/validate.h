/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs accesses of the real library to compare them with predictions. The accesses are drawn at
 * random from a seed, each with several settings: the library's default, the other kinds of
 * transfer, and random sizes. One MPI job of kernels/collective_io.c per number of ranks runs them
 * in shuffled order, so that a change of the machine's load affects all of them.
 *
 * The runner prints nothing.
 */
#ifndef SLUICE_PREDICT_MODEL_MEASURE_VALIDATE_H
#define SLUICE_PREDICT_MODEL_MEASURE_VALIDATE_H

#include <signal.h>

#include "base/launcher.h"
#include "predict/model/access.h"
#include "predict/model/costs/campaign.h"
#include "predict/model/environment.h"

/* Index by direction: write, read. */
enum { VALIDATE_WRITE, VALIDATE_READ, VALIDATE_WAYS };

struct validate_case {
	size_t group;
	struct settings settings;    /* of both directions */
	double *runs[VALIDATE_WAYS]; /* seconds from the first rank that begins to the last that
					ends */
	size_t run_count[VALIDATE_WAYS];
};

struct validate_plan {
	struct access *accesses; /* writes; one per group */
	size_t access_count, access_cap;
	struct validate_case *cases; /* the first case of each group has the default settings */
	size_t count, cap;
};

/* From what accesses and settings are drawn. */
struct validate_range {
	const struct machine *machine;
	const struct campaign_numbers *ranks;
	uint64_t nodes[CAMPAIGN_LIST]; /* by number of ranks; 0: 1 */
	uint64_t most_stripes;	       /* less than 2: the stripes are those of the directory */
	uint64_t least_piece; /* of strided accesses, in bytes; 0: contiguous accesses only */
};

/* Draws `count` accesses for each number of ranks, with their settings. */
void validate_draw(struct validate_plan *plan, const struct validate_range *range, size_t count,
		   uint64_t seed);
void validate_release(struct validate_plan *plan);

/* The access of a group in one direction. */
struct access validate_access(const struct validate_plan *plan, size_t group, int way);

/* Returns the index of the group's case with these settings; adds it if there is none. */
size_t validate_find_or_add(struct validate_plan *plan, size_t group,
			    const struct settings *settings);

/* The line of a case for collective_io: size, piece and the hints of both directions. */
int validate_write_line(const struct validate_plan *plan, size_t at, const struct machine *machine,
			struct buf *out, struct err *err);

/* Takes a line of collective_io's output: a run of the job's case, or nodes and library. cases:
 * numbers of the job's cases in the plan. Other lines are ignored. */
struct validate_library {
	char path[256], version[128];
	uint64_t nodes; /* of the job */
};
void validate_take_line(struct validate_plan *plan, const size_t *cases, size_t count,
			const char *line, struct validate_library *library);

/* Median seconds of a case; NAN: it was not measured. */
double validate_median(const struct validate_case *one, int way);

struct validate_options {
	const struct machine *machine;
	const struct campaign_numbers *ranks;
	const char *dir; /* directory on the file system to measure */
	uint64_t repeat;
	bool reads;
	enum mpi mpi;
	const char *hosts, *launcher; /* as in measure.h */
	uint64_t cores;		      /* of this node that the ranks share; 0: one per rank */
	const volatile sig_atomic_t *stop;
	/* Called before each job. May be NULL. */
	void (*show)(void *arg, uint64_t ranks, size_t cases);
	void *arg;
};

/* Runs all cases and describes the circumstances. -EINTR: *stop was set. */
int validate_run(struct validate_plan *plan, const struct validate_options *options,
		 struct environment *environment, struct err *err);

#endif
