/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was seen of a system's storage over time: how long writes of some sizes took on each target,
 * and snapshots of the jobs that ran. The first size is that of the probes, which are frequent; the
 * others are the ground truth. Samples of one round carry the round's time.
 *
 * It comes from the store, from files of blocks (blocks.h), from a generated system
 * (simulate/system.h), and it grows while a probe runs. A sample takes 13 bytes. Used from one
 * thread, or by many that only read.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/jobs.h"

struct err;

/* What became of a write. Only of DONE the seconds are those of the write. */
enum sample_outcome {
	SAMPLE_DONE,
	SAMPLE_TIMEOUT, /* it took longer than seconds */
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

struct chronicle {
	char system[CHRONICLE_NAME];
	char (*targets)[CHRONICLE_NAME];
	size_t target_count, target_cap;
	uint64_t sizes[CHRONICLE_SIZES]; /* bytes, ascending */
	size_t size_count;
	struct chronicle_series *series; /* target_count x CHRONICLE_SIZES */
	struct jobs *snapshots;		 /* in the order of time */
	size_t snapshot_count, snapshot_cap;
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

/* How many samples of a series are not later than time_s; by bisection. */
size_t chronicle_until(const struct chronicle_series *series, double time_s);
/* The last snapshot that is not later; -1: none. */
ptrdiff_t chronicle_jobs_at(const struct chronicle *chronicle, double time_s);

/* First and last time of all samples and snapshots; false where there are none. */
bool chronicle_span(const struct chronicle *chronicle, double *from_s, double *to_s);

/* Forgets what is older: for those who run for weeks. */
void chronicle_forget(struct chronicle *chronicle, double before_s);

#endif
