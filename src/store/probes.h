/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What probes of storage targets took, which jobs ran meanwhile and how loaded the node was: the
 * rows of a chronicle (predict/forecast/chronicle/chronicle.h), which is what others use. A row that is there
 * already (system, time, bytes, target; the snapshot of a system and a time) is replaced, so that
 * saving twice is as good as once.
 *
 * Systems, targets, rounds (system, time, bytes) and what is constant of a job are rows of their
 * own; a probe takes about 20 bytes.
 */
#ifndef SLUICE_STORE_PROBES_H
#define SLUICE_STORE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

#define PROBE_NAME 64 /* of a system or a target, with the end: what others can take */

struct probe {
	const char *target;
	size_t number; /* of the target, in the order of probes_targets(); not looked at to save */
	double time_s; /* since 1970: of the round */
	uint64_t bytes;
	double seconds;
	int outcome; /* what became of it and how it was measured: a number of the caller's */
};

/* Texts may be NULL where they are saved: "". */
struct probe_job {
	const char *id, *name, *owner, *queue;
	double nodes, memory_bytes, virtual_bytes, used_s, allocated_s; /* NAN: unknown */
};

#define PROBE_NODE_VALUES 6 /* their meaning is the caller's; NAN: unknown */

/* ---- to save: one transaction ---- */

struct probe_writer;

int probe_writer_open(struct probe_writer **writer, struct store *store, const char *system,
		      struct err *err);
/* Quickest in the order of time. */
int probe_writer_row(struct probe_writer *writer, const struct probe *row, struct err *err);
/* A snapshot; count may be 0: nothing ran. */
int probe_writer_jobs(struct probe_writer *writer, double time_s, const struct probe_job *jobs,
		      size_t count, struct err *err);
int probe_writer_node(struct probe_writer *writer, double time_s,
		      const double values[PROBE_NODE_VALUES], struct err *err);
/* commit false: nothing of it was ever there. Frees the writer either way. */
int probe_writer_close(struct probe_writer *writer, bool commit, struct err *err);

/* ---- to read: from_s <= time < to_s ---- */

/* Functions that are called with rows return other than 0 to stop. */

/* All that the system ever had, in the order in which they came. -ENOENT: the system is unknown. */
typedef int (*probes_target_seen)(void *arg, const char *target);
int probes_targets(struct store *store, const char *system, probes_target_seen seen, void *arg,
		   struct err *err);

/* In the order of time. row->target is the same pointer for the same target. */
typedef int (*probes_seen)(void *arg, const struct probe *row);
int probes_load(struct store *store, const char *system, double from_s, double to_s,
		probes_seen seen, void *arg, struct err *err);
/* Called once per job, and once with job NULL for a snapshot without any. */
typedef int (*probes_job_seen)(void *arg, double time_s, const struct probe_job *job);
int probes_load_jobs(struct store *store, const char *system, double from_s, double to_s,
		     probes_job_seen seen, void *arg, struct err *err);
typedef int (*probes_node_seen)(void *arg, double time_s, const double values[PROBE_NODE_VALUES]);
int probes_load_nodes(struct store *store, const char *system, double from_s, double to_s,
		      probes_node_seen seen, void *arg, struct err *err);

/* The distinct sizes of probes, ascending, cap at most. Returns how many there are. */
int probes_sizes(struct store *store, const char *system, double from_s, double to_s,
		 uint64_t *sizes, size_t cap, struct err *err);

struct probe_system {
	const char *name;
	uint64_t targets, rows, snapshots;
	double from_s, to_s; /* of rows and snapshots; NAN: there are none */
};
typedef int (*probes_system_seen)(void *arg, const struct probe_system *system);
int probes_systems(struct store *store, probes_system_seen seen, void *arg, struct err *err);

/* What is older than before_s; INFINITY: the system itself, too. -ENOENT: there was nothing. */
int probes_forget(struct store *store, const char *system, double before_s, struct err *err);

#endif
