/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What probes of storage targets took, and which jobs ran meanwhile: rows of a chronicle
 * (predict/forecast/chronicle.h) that are kept. A row that is there already (system, target, time,
 * bytes; system, time, job) is replaced.
 */
#ifndef SLUICE_STORE_PROBES_H
#define SLUICE_STORE_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

#define PROBE_NAME 64
#define PROBE_WORD 16

struct probe {
	char target[PROBE_NAME];
	double time_s; /* since 1970: of the round */
	uint64_t bytes;
	double seconds;
	char method[PROBE_WORD], outcome[PROBE_WORD]; /* SAMPLE_METHODS, SAMPLE_OUTCOMES */
};

struct probe_job {
	const char *id, *name, *owner, *queue;
	double nodes, memory_bytes, virtual_bytes, used_s, allocated_s; /* NAN: unknown */
};

/* All of them or none. */
int probes_save(struct store *store, const char *system, const struct probe *rows, size_t count,
		struct err *err);
/* A snapshot; count may be 0: nothing ran. */
int probes_save_jobs(struct store *store, const char *system, double time_s,
		     const struct probe_job *jobs, size_t count, struct err *err);

/* In the order of time, from_s <= time < to_s; seen() returns other than 0 to stop. */
typedef int (*probes_seen)(void *arg, const struct probe *row);
int probes_load(struct store *store, const char *system, double from_s, double to_s,
		probes_seen seen, void *arg, struct err *err);
/* Called once per job, and once with job NULL for a snapshot without any. */
typedef int (*probes_job_seen)(void *arg, double time_s, const struct probe_job *job);
int probes_load_jobs(struct store *store, const char *system, double from_s, double to_s,
		     probes_job_seen seen, void *arg, struct err *err);

typedef int (*probes_system_seen)(void *arg, const char *system, uint64_t targets, uint64_t rows,
				  double from_s, double to_s);
int probes_systems(struct store *store, probes_system_seen seen, void *arg, struct err *err);

/* Older than before_s; INFINITY: all of it. -ENOENT where there was nothing. */
int probes_forget(struct store *store, const char *system, double before_s, struct err *err);

#endif
