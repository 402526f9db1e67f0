/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was seen of a system's storage over time: how long writes of some sizes took on each target,
 * snapshots of the jobs that ran, and how loaded the node was that asked. The first size is that of
 * the probes, which are frequent; the others are the ground truth. Samples of one round carry the
 * round's time.
 *
 * It comes from the store, from files of blocks (blocks.h), from a generated system
 * (simulate/system.h), and it grows while a probe runs. A sample takes 13 bytes. Used from one
 * thread, or by many that only read.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_CHRONICLE_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_CHRONICLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/jobs/jobs.h"

struct err;
struct store;

/* What became of a write. Seconds are 0 of what is neither done nor timed out. */
enum sample_outcome {
	SAMPLE_DONE,
	SAMPLE_TIMEOUT, /* it took longer than seconds, and was given up */
	SAMPLE_FULL,	/* there was no room */
	SAMPLE_FAILED,
};
#define SAMPLE_OUTCOMES "done|timeout|full|failed"

/* How storage rather than a cache was measured. */
enum sample_method { SAMPLE_UNKNOWN, SAMPLE_DIRECT, SAMPLE_FSYNC };
#define SAMPLE_METHODS "unknown|direct|fsync"

#define CHRONICLE_SIZES 8
#define CHRONICLE_NAME 64 /* of a system or a target, with the end */

/* The writes of one size to one target, in the order of time. */
struct chronicle_series {
	double *time_s; /* since 1970 */
	float *seconds;
	uint8_t *outcome; /* enum sample_outcome, and enum sample_method << 4 */
	size_t count, cap;
};

static inline enum sample_outcome sample_outcome(const struct chronicle_series *series, size_t i)
{
	return (enum sample_outcome)(series->outcome[i] & 15);
}

static inline enum sample_method sample_method(const struct chronicle_series *series, size_t i)
{
	return (enum sample_method)(series->outcome[i] >> 4);
}

/*
 * What a node knows of itself, one row each: word, name in messages and features. Rows are only
 * added at the end, as the store has them by their number.
 */
#define NODE_VALUE_LIST(X)                                                         \
	X(NODE_LOAD, "load", "load average of the last minute")                    \
	X(NODE_CPU, "cpu", "share of the cores' time that was not idle")           \
	X(NODE_IOWAIT, "iowait", "share of the cores' time spent waiting for I/O") \
	X(NODE_DIRTY, "dirty", "bytes of the page cache that are to be written")   \
	X(NODE_WRITEBACK, "writeback", "bytes that are being written")             \
	X(NODE_FREE, "free", "bytes of memory that are available")
enum node_value {
#define X(word, name, help) word,
	NODE_VALUE_LIST(X)
#undef X
		NODE_VALUES
};
extern const char *const node_value_names[NODE_VALUES];

/* At one time; NAN: unknown. */
struct node_state {
	double time_s;
	double values[NODE_VALUES];
};

struct chronicle {
	char system[CHRONICLE_NAME];
	char (*targets)[CHRONICLE_NAME];
	size_t target_count, target_cap;
	uint64_t sizes[CHRONICLE_SIZES]; /* bytes, ascending */
	size_t size_count;
	struct chronicle_series *series; /* target_count x CHRONICLE_SIZES */
	struct jobs *snapshots;		 /* in the order of time */
	size_t snapshot_count, snapshot_cap;
	struct node_state *nodes; /* in the order of time */
	size_t node_count, node_cap;
	/* How often something was changed otherwise than by adding what is latest. */
	uint64_t edits;
};

/* Zero-initialised is empty and has no sizes yet. */
void chronicle_init(struct chronicle *chronicle, const char *system, const uint64_t *sizes,
		    size_t size_count);
void chronicle_release(struct chronicle *chronicle);

/* Its number; a name that is new is added at the end. */
size_t chronicle_target(struct chronicle *chronicle, const char *name);
/* -ENOENT where it is not known. */
int chronicle_find(const struct chronicle *chronicle, const char *target);
/* The number of a size, or -ENOENT. */
int chronicle_size(const struct chronicle *chronicle, uint64_t bytes);
/* The same, but a new one is put where it belongs; -E2BIG where there are too many. */
int chronicle_size_add(struct chronicle *chronicle, uint64_t bytes);

static inline struct chronicle_series *chronicle_series(const struct chronicle *chronicle,
							size_t target, size_t size)
{
	return &chronicle->series[target * CHRONICLE_SIZES + size];
}

/* A sample that is older than the last one is put where it belongs; of the same time, behind. */
void chronicle_add(struct chronicle *chronicle, size_t target, size_t size, double time_s,
		   double seconds, enum sample_outcome outcome, enum sample_method method);

/* The snapshot becomes the chronicle's own; *jobs is empty afterwards. */
void chronicle_add_jobs(struct chronicle *chronicle, struct jobs *jobs);

void chronicle_add_node(struct chronicle *chronicle, const struct node_state *node);

/* How many samples of a series are not later than time_s; by bisection. */
size_t chronicle_until(const struct chronicle_series *series, double time_s);
/* The last snapshot that is not later; -1: none. */
ptrdiff_t chronicle_jobs_at(const struct chronicle *chronicle, double time_s);
ptrdiff_t chronicle_node_at(const struct chronicle *chronicle, double time_s);

/* First and last time of all samples, snapshots and states; false where there are none. */
bool chronicle_span(const struct chronicle *chronicle, double *from_s, double *to_s);

/* Forgets what is older: for those who run for weeks. */
void chronicle_forget(struct chronicle *chronicle, double before_s);

/* ---- chronicle_store.c: from_s <= time < to_s ---- */

/*
 * All targets that the system ever had are in it, in the store's order. The chronicle is untouched
 * on failure. -ENOENT: the store knows nothing of the system.
 */
int chronicle_load(struct chronicle *chronicle, struct store *store, const char *system,
		   double from_s, double to_s, struct err *err);
/* All of it or nothing; what is there already is replaced. */
int chronicle_save(const struct chronicle *chronicle, struct store *store, double from_s,
		   double to_s, struct err *err);

#endif
