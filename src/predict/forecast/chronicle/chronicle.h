/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A chronicle holds the probe data of one system in memory: the durations of writes of some sizes
 * to each target, snapshots of the running jobs, and the load of the probing node. The first size
 * is that of the frequent probes; the others are those of the reference writes. All samples of a
 * round carry the round's time. The word is internal; messages say "probe data".
 *
 * A chronicle is loaded from the store, from exported files (blocks.h) or from a simulated system
 * (simulate/system.h), or grows while a prober runs. A sample takes 13 bytes. Several threads may
 * read a chronicle, but only one thread may use it while it changes.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_CHRONICLE_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_CHRONICLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/jobs/jobs.h"

struct err;
struct store;

/* The outcome of a write. The duration is 0 unless the write completed or timed out. */
enum sample_outcome {
	SAMPLE_DONE,
	SAMPLE_TIMEOUT, /* the write was abandoned after `seconds` */
	SAMPLE_FULL,	/* no space left on the target */
	SAMPLE_FAILED,
};
#define SAMPLE_OUTCOMES "done|timeout|full|failed"

/* How a write bypassed the page cache. A row of a program is no probe: the program's own writes,
 * converted to this size (run/placing_rows.h). */
enum sample_method { SAMPLE_UNKNOWN, SAMPLE_DIRECT, SAMPLE_FSYNC, SAMPLE_PROGRAM };
#define SAMPLE_METHODS "unknown|direct|fsync|program"

#define SAMPLE_METHOD_SHIFT 4
#define SAMPLE_OUTCOME_MASK 15

#define CHRONICLE_SIZES 8
/* The name of a system that was generated, not probed, begins with this. */
#define CHRONICLE_MODELLED "modelled-"
#define CHRONICLE_NAME 64 /* bytes of the name of a system or target, with the final 0 */

/* The writes of one size to one target, sorted by time. */
struct chronicle_series {
	double *time_s; /* since 1970 */
	float *seconds;
	uint8_t *outcome; /* enum sample_outcome | enum sample_method << SAMPLE_METHOD_SHIFT */
	size_t count, cap;
};

static inline enum sample_outcome sample_outcome(const struct chronicle_series *series, size_t i)
{
	return (enum sample_outcome)(series->outcome[i] & SAMPLE_OUTCOME_MASK);
}

static inline enum sample_method sample_method(const struct chronicle_series *series, size_t i)
{
	return (enum sample_method)(series->outcome[i] >> SAMPLE_METHOD_SHIFT);
}

static inline bool sample_is_program(const struct chronicle_series *series, size_t i)
{
	return sample_method(series, i) == SAMPLE_PROGRAM;
}

/*
 * The load values of a node, one row each: constant, name in files and features, meaning. New rows
 * go to the end, because the store identifies values by their number.
 */
#define NODE_VALUE_LIST(X)                                                         \
	X(NODE_LOAD, "load", "load average of the last minute")                    \
	X(NODE_CPU, "cpu", "share of the cores' time that was not idle")           \
	X(NODE_IOWAIT, "iowait", "share of the cores' time spent waiting for I/O") \
	X(NODE_DIRTY, "dirty", "bytes of the page cache that are not written yet") \
	X(NODE_WRITEBACK, "writeback", "bytes that are being written")             \
	X(NODE_FREE, "free", "bytes of memory that are available")
enum node_value {
#define X(word, name, help) word,
	NODE_VALUE_LIST(X)
#undef X
		NODE_VALUES
};
extern const char *const node_value_names[NODE_VALUES];

/* The load of the node at one time; NAN: unknown. */
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
	struct jobs *snapshots;		 /* sorted by time */
	size_t snapshot_count, snapshot_cap;
	struct node_state *nodes; /* sorted by time */
	size_t node_count, node_cap;
	/* Number of changes other than appending the latest data; see features_update(). */
	uint64_t edits;
};

/* A zero-initialized chronicle is valid: empty and without sizes. */
void chronicle_init(struct chronicle *chronicle, const char *system, const uint64_t *sizes,
		    size_t size_count);
void chronicle_release(struct chronicle *chronicle);

/* Gives the system another name. A generated system keeps CHRONICLE_MODELLED. */
void chronicle_rename(struct chronicle *chronicle, const char *system);

/* Returns the index of a target. A new name is appended. */
size_t chronicle_add_target(struct chronicle *chronicle, const char *name);
/* Returns the index of a target, or -ENOENT. */
int chronicle_find_target(const struct chronicle *chronicle, const char *target);
/* Returns the index of a size, or -ENOENT. */
int chronicle_find_size(const struct chronicle *chronicle, uint64_t bytes);
/* The same, but inserts a new size in ascending order. -E2BIG: there are CHRONICLE_SIZES. */
int chronicle_add_size(struct chronicle *chronicle, uint64_t bytes);

static inline struct chronicle_series *chronicle_series(const struct chronicle *chronicle,
							size_t target, size_t size)
{
	return &chronicle->series[target * CHRONICLE_SIZES + size];
}

/* Inserts a sample by its time, after existing samples of the same time. */
void chronicle_add(struct chronicle *chronicle, size_t target, size_t size, double time_s,
		   double seconds, enum sample_outcome outcome, enum sample_method method);

/* Moves the snapshot into the chronicle; *jobs is empty afterwards. */
void chronicle_add_jobs(struct chronicle *chronicle, struct jobs *jobs);

void chronicle_add_node(struct chronicle *chronicle, const struct node_state *node);

/* Returns the number of samples with a time <= time_s. */
size_t chronicle_count_until(const struct chronicle_series *series, double time_s);
/* Index of the last snapshot or node state with a time <= time_s, or -1. */
ptrdiff_t chronicle_jobs_at(const struct chronicle *chronicle, double time_s);
ptrdiff_t chronicle_node_at(const struct chronicle *chronicle, double time_s);

/* First and last time of all samples, snapshots and node states; false if there are none. */
bool chronicle_span(const struct chronicle *chronicle, double *from_s, double *to_s);

/* Discards older data, for processes that run for weeks. */
void chronicle_discard_before(struct chronicle *chronicle, double before_s);

/*
 * store.c: the data with from_s <= time < to_s. The loaded chronicle has all targets that the
 * system ever had, in the order of the store. It is unchanged on failure; -ENOENT if the store has
 * no data of the system.
 */
int chronicle_load(struct chronicle *chronicle, struct store *store, const char *system,
		   double from_s, double to_s, struct err *err);
/* The same, but -E2BIG if there are more samples than `most`. */
int chronicle_load_most(struct chronicle *chronicle, struct store *store, const char *system,
			double from_s, double to_s, size_t most, struct err *err);
/* Saves in one transaction. Existing rows of the same time are replaced. */
int chronicle_save(const struct chronicle *chronicle, struct store *store, double from_s,
		   double to_s, struct err *err);

#endif
