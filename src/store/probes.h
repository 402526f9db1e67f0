/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probe data: durations of test writes to storage targets, the jobs that ran meanwhile, and the
 * load of the node. Other code uses predict/forecast/chronicle/chronicle.h, which is built on this.
 * A row that exists already (same system, time, bytes and target; for snapshots same system and
 * time) is replaced, so that saving twice does no harm.
 *
 * Systems, targets, rounds (system, time, bytes) and the constant properties of jobs are rows of
 * their own tables; a probe needs about 20 bytes.
 */
#ifndef SLUICE_STORE_PROBES_H
#define SLUICE_STORE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

#define PROBE_NAME 64 /* maximum length of a system or target name, with the final zero byte */

struct probe {
	const char *target;
	size_t number; /* of the target, in the order of probes_targets(); ignored when saving */
	double time_s; /* of the round, since 1970 */
	uint64_t bytes;
	double seconds;
	int outcome; /* a number of the caller: the result and the method of measurement */
};

/* A job in a snapshot. NULL texts are saved as "". */
struct probe_job {
	const char *id, *name, *owner, *queue;
	double nodes, memory_bytes, virtual_bytes, used_s, allocated_s; /* NAN: unknown */
};

#define PROBE_NODE_VALUES 6 /* the caller defines their meaning; NAN: unknown */

/* Saves rows in one transaction. */
struct probe_writer;

int probe_writer_open(struct probe_writer **writer, struct store *store, const char *system,
		      struct err *err);
/* Rows in order of time are saved fastest. */
int probe_writer_add_row(struct probe_writer *writer, const struct probe *row, struct err *err);
/* Saves a snapshot of the running jobs; count may be 0. */
int probe_writer_add_jobs(struct probe_writer *writer, double time_s, const struct probe_job *jobs,
			  size_t count, struct err *err);
int probe_writer_add_node(struct probe_writer *writer, double time_s,
			  const double values[PROBE_NODE_VALUES], struct err *err);
/* Commits the rows or discards all of them, and frees the writer. */
int probe_writer_close(struct probe_writer *writer, bool commit, struct err *err);

/*
 * The functions below read rows with from_s <= time < to_s and call `seen` for each; a result other
 * than 0 stops. They fail with -ENOENT if the system is unknown.
 */

/* All targets that the system ever had, in the order in which they were added. */
typedef int (*probes_target_seen)(void *arg, const char *target);
int probes_targets(struct store *store, const char *system, probes_target_seen seen, void *arg,
		   struct err *err);

/* Rows in order of time. row->target is the same pointer for the same target. */
typedef int (*probes_seen)(void *arg, const struct probe *row);
int probes_load(struct store *store, const char *system, double from_s, double to_s,
		probes_seen seen, void *arg, struct err *err);
/* Called once per job, and once with job NULL for a snapshot without jobs. */
typedef int (*probes_job_seen)(void *arg, double time_s, const struct probe_job *job);
int probes_load_jobs(struct store *store, const char *system, double from_s, double to_s,
		     probes_job_seen seen, void *arg, struct err *err);
typedef int (*probes_node_seen)(void *arg, double time_s, const double values[PROBE_NODE_VALUES]);
int probes_load_nodes(struct store *store, const char *system, double from_s, double to_s,
		      probes_node_seen seen, void *arg, struct err *err);

/* Stores the distinct sizes of probes in ascending order, at most cap. Returns their number. */
int probes_sizes(struct store *store, const char *system, double from_s, double to_s,
		 uint64_t *sizes, size_t cap, struct err *err);

struct probe_system {
	const char *name;
	uint64_t targets, rows, snapshots;
	double from_s, to_s; /* first and last time of rows and snapshots; NAN: none */
};
typedef int (*probes_system_seen)(void *arg, const struct probe_system *system);
int probes_systems(struct store *store, probes_system_seen seen, void *arg, struct err *err);

/* Deletes data older than before_s; INFINITY: all data and the system itself. -ENOENT: no such
 * data. */
int probes_forget(struct store *store, const char *system, double before_s, struct err *err);

#endif
