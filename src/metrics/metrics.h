/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Metrics of a node or a site, in the text format of Prometheus.
 *
 * Each metric is one row of METRIC_LIST: name, type, help and labels. The number of series is
 * bounded: when a metric has METRICS_SERIES series, or a label has METRICS_VALUES values, further
 * values are counted under "other", and sluice_metrics_overflow_total says how often.
 *
 * Metrics with the label "job_id" are private: they are rendered for a reader that may see all jobs
 * (metrics/serve.h), and for nobody else.
 *
 * All functions may be called from several threads.
 */
#ifndef SLUICE_METRICS_METRICS_H
#define SLUICE_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define METRICS_SERIES 512 /* of one metric */
#define METRICS_VALUES 64  /* of one label of a metric */
#define METRICS_LABELS 4
#define METRICS_OTHER "other"
#define METRICS_VALUE_BYTES 128 /* of a label's value; longer ones are cut */

/*
 * One row per metric: enum name, name without the prefix "sluice_", type, labels separated by
 * blanks, help. `operation` is a call class (sluice/call.h: read, write, open...), `class` is how
 * fast it was (very_slow, slow, normal, fast, very_fast; "unknown" if there is no expectation).
 */
#define METRIC_LIST(X)                                                                          \
	X(OPERATIONS, "io_operations_total", COUNTER, "filesystem target operation class",      \
	  "I/O operations of recorded processes")                                               \
	X(BYTES, "io_bytes_total", COUNTER, "filesystem target operation class",                \
	  "Bytes moved by recorded processes")                                                  \
	X(SECONDS, "io_seconds_total", COUNTER, "filesystem target operation class",            \
	  "Time that recorded processes spent in I/O operations, summed over threads")          \
	X(DURATION, "io_duration_seconds", HISTOGRAM, "filesystem operation",                   \
	  "Durations of I/O operations")                                                        \
	X(JOB_OPERATIONS, "job_operations_total", COUNTER, "job_id user filesystem operation",  \
	  "I/O operations of a job")                                                            \
	X(JOB_BYTES, "job_bytes_total", COUNTER, "job_id user filesystem operation",            \
	  "Bytes moved by a job")                                                               \
	X(TARGET_BUSY, "target_busy_ratio", GAUGE, "filesystem target",                         \
	  "Forecast probability that a storage target is busy")                                 \
	X(ANOMALY, "anomaly_active", GAUGE, "scope cause", "1 while an anomaly lasts")          \
	X(PROCESSES, "processes", GAUGE, "mode", "Processes that are being recorded")           \
	X(RUNS, "runs", GAUGE, "", "Runs that are being recorded")                              \
	X(CLIENTS, "daemon_clients", GAUGE, "", "Connections to the daemon")                    \
	X(ACTIVITIES, "daemon_activities_total", COUNTER, "", "Activities that were collected") \
	X(LOST, "daemon_lost_total", COUNTER, "cause", "Activities that were lost")             \
	X(REJECTED, "daemon_rejected_total", COUNTER, "cause", "Clients and messages refused")  \
	X(MEMORY, "daemon_memory_bytes", GAUGE, "", "Memory that the daemon accounts for")      \
	X(MEMORY_LIMIT, "daemon_memory_limit_bytes", GAUGE, "", "Limit of daemon_memory_bytes") \
	X(QUEUE_BYTES, "daemon_queue_bytes", GAUGE, "",                                         \
	  "Frames on disk that wait for the database")                                          \
	X(QUEUE_FRAMES, "daemon_queue_frames", GAUGE, "", "The same as a number of frames")     \
	X(FORWARDED, "daemon_forwarded_total", COUNTER, "",                                     \
	  "Frames that the database has acknowledged")                                          \
	X(DATABASE_UP, "daemon_database_up", GAUGE, "", "1 if the database is connected")       \
	X(OVERFLOW, "metrics_overflow_total", COUNTER, "metric",                                \
	  "Updates that were counted under \"other\" because a metric had too many series")

#define METRIC_ENUM(name, ...) METRIC_##name,
enum metric { METRIC_LIST(METRIC_ENUM) METRIC_COUNT };
#undef METRIC_ENUM

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/*
 * Changes one series. labels are the values of the metric's labels, in the order of its row; NULL
 * and "" become "unknown". Any bytes are accepted: a value that is not UTF-8 is made so.
 */
void metrics_add(struct metrics *metrics, enum metric metric, const char *const *labels,
		 double value); /* counter: value >= 0 */
void metrics_set(struct metrics *metrics, enum metric metric, const char *const *labels,
		 double value); /* gauge */
void metrics_observe(struct metrics *metrics, enum metric metric, const char *const *labels,
		     double value); /* histogram: seconds */

/* Removes all series whose first label has this value, such as those of a job that has ended. */
void metrics_forget(struct metrics *metrics, enum metric metric, const char *value);

/* Appends the text format 0.0.4. with_jobs: also metrics with a label "job_id". */
void metrics_render(struct metrics *metrics, bool with_jobs, struct buf *out);

#endif
