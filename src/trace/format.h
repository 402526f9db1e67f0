/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A trace on disk, in any of its forms: binary container, text, SQLite.
 *
 * A form is one constant `struct trace_format` in the visible list trace_formats[]; all of them
 * carry the same facts, so that converting a trace and back gives the identical sequence of
 * activities. Writers and readers are used from one thread. Strings handed to a writer are copied.
 */
#ifndef SLUICE_TRACE_FORMAT_H
#define SLUICE_TRACE_FORMAT_H

#include <stddef.h>
#include <sys/types.h>

#include "trace/activity.h"
#include "contract/group.h"

struct err;
struct fact;
struct map;

/* Who ran what, where and when: known at the start of a run. */
struct run_info {
	char *uuid;	 /* 32 hexadecimal digits */
	char *command;	 /* the command line, shell-quoted */
	char *directory; /* where it was started */
	char *host, *user;
	char *version;	    /* of Sluice */
	int64_t started_ns; /* CLOCK_REALTIME at time 0 of the trace */
};

/*
 * Ticks of the capture clock against nanoseconds since the start of the run: ns = (ticks - tick0) *
 * num / den. Two points are measured, at the start and at the end of the run; a text or SQLite
 * trace has 0, 1, 1.
 */
struct run_clock {
	char *source; /* "cntvct_el0", "tsc", "monotonic" */
	uint64_t tick0;
	uint64_t num, den;
	int64_t error_ns; /* uncertainty of the calibration over the run */
};

struct process_info {
	uint32_t index; /* its number in this trace, counted from 0 in order of attachment */
	int32_t parent; /* index of the process it was forked from with its handles, -1 for none */
	uint32_t first_thread;
	int32_t pid, ppid;
	int32_t rank;	     /* in MPI_COMM_WORLD, -1 outside MPI or before MPI_Init */
	int32_t ranks;	     /* size of MPI_COMM_WORLD, 0 outside MPI */
	int64_t attached_ns; /* since the start of the run */
	char *host;
	char *program; /* path of the executable */
	char *command; /* its command line, as far as it was kept */
	char *directory;
};

/* What one process did not get into the trace. Known at the end; one per process that lost
 * anything. */
struct loss_info {
	uint32_t process;
	uint64_t records; /* activities without a record of their own (counted in aggregates where
			     possible) */
	uint64_t threads; /* threads that were never recorded: numbers exhausted */
};

/* Calls that were counted instead of recorded (counters mode, or spool full). */
struct aggregate {
	uint32_t process;
	file_id file;  /* 0: files beyond the table, and calls without a file */
	uint8_t group; /* enum group */
	uint8_t layer;
	uint64_t calls, errors;
	int64_t bytes, duration_ns;
};

/* How the clock of a host was brought to that of the trace: one per host of a merged trace. */
struct host_info {
	char *host;
	char *method;	   /* "reference", "collective calls", "time of day" */
	int64_t offset_ns; /* what was added to its time of day */
	int64_t error_ns;  /* its times are right to within so much; -1: not known */
};

/* A number that was sampled while the run went on, such as a node's load. */
struct statistic_info {
	uint32_t number; /* counted from 0 in this trace */
	char *host;
	char *name;	 /* topology path: "cpu/user", "io/vda/read", "utilisation/network" */
	char *unit;	 /* "bytes", "operations", "ns", "%" */
	char *reduction; /* "sum": samples are increments, "mean": they are levels */
	uint32_t scale;	 /* value / scale is in that unit */
};

/* It held in the `period_ns` before time_ns. Samples of one statistic come in order. */
struct stat_sample {
	uint32_t statistic;
	int64_t time_ns; /* since the start of the run */
	int64_t period_ns;
	int64_t value;
};

/*
 * Something that was found, done or measured: lines of plug-ins' reports, anomalies, what was
 * applied, what Sluice itself cost or left out. source is the module, kind one of the words below.
 */
struct note {
	int64_t time_ns; /* -1: of the whole run */
	int32_t process; /* -1: of the node */
	char *host;
	char *source; /* "histogram", "reasoner", "overhead", "read_ahead" */
	char *kind;   /* NOTE_* */
	char *name;   /* "group/field" of a report, else in few words what it is */
	char *value;  /* a number as %.17g, or a text */
};

#define NOTE_REPORT "report"	 /* a plug-in's figure */
#define NOTE_ANOMALY "anomaly"	 /* signalled by a reasoner */
#define NOTE_APPLIED "applied"	 /* changed for the program: hints, advice */
#define NOTE_DEGRADED "degraded" /* what Sluice did less of, and why */
#define NOTE_WARNING "warning"	 /* name of a degraded note that a plug-in wants the user to hear */
#define NOTE_REFUSED "refused"	 /* a plug-in that was not loaded or was switched off */
#define NOTE_COST "cost"	 /* what Sluice itself took */

/* How the run ended: known at its end. */
struct run_end {
	int64_t duration_ns;
	int32_t exit_status; /* as `sluice run` returned it; -1 where unknown (recovered after a
				crash) */
	bool complete;	     /* false: the collector was cut off */
};

/* Everything in a trace but its activities. Owned by the reader; valid until trace_close(). */
struct trace_head {
	struct run_info run;
	struct run_end end;
	struct run_clock clock;
	struct call_info
		*calls; /* the trace's own call table, names owned; index is activity.call */
	size_t call_count;
	struct process_info *processes;
	size_t process_count;
	char **files; /* files[0] is "" */
	size_t file_count;
	struct host_info *hosts; /* none unless the trace was merged from several */
	size_t host_count;
	struct aggregate *aggregates;
	size_t aggregate_count;
	struct loss_info *losses;
	size_t loss_count;
	struct statistic_info *statistics; /* by number */
	size_t statistic_count;
	struct stat_sample *samples; /* by statistic, then time */
	size_t sample_count;
	struct note *notes; /* in the order they were written */
	size_t note_count;
	uint64_t activities; /* how many the trace holds; less by those of a block found damaged */
	uint64_t damaged_blocks; /* skipped and counted; final when next() has given its last */
	const char *format;	 /* name of the trace_format it was read with */
};

/* What a reader is asked for; zero means everything. A form may use it to skip, never to return
 * less. */
struct trace_filter {
	int64_t from_ns, to_ns; /* activities that start in [from, to); to 0 means no end */
	uint64_t layers;	/* bit per enum layer; 0 means all */
	int32_t process;	/* index + 1; 0 means all */
	int32_t rank;		/* rank + 1; 0 means all */
	const char *file;	/* glob on the whole path or the base name; NULL means all */
	int64_t min_duration_ns;
	/* Calls that took part in this one, and all that these caused; 0 means all. */
	uint64_t collective;
};

struct trace_format {
	const char *name, *suffix, *help;
	bool (*recognise)(const unsigned char *head, size_t n);

	/*
	 * Writing. calls is the table that activity.call indexes (call_table of this build, or a
	 * read trace's). clock is what is known at the start: readers of a trace that was cut off
	 * make do with it. Text and SQLite take only nanoseconds: 0, 1, 1. After a failed call only
	 * finish() makes sense.
	 */
	int (*create)(void **writer, const char *path, const struct run_info *run,
		      const struct run_clock *clock, const struct call_info *calls,
		      size_t call_count, struct err *err);
	/*
	 * Indices in order from 0, ids in order from 1, each before the first activity that names
	 * it. A process that was added before may be added again: what is known last counts (its
	 * rank, above all); parent and first_thread never change.
	 */
	int (*add_process)(void *writer, const struct process_info *process, struct err *err);
	int (*add_file)(void *writer, file_id id, const char *path, struct err *err);
	/* Times are in ticks of the clock given to finish(). Sorted within one call, not across
	 * calls. */
	int (*add_activities)(void *writer, const struct activity *batch, size_t n,
			      struct err *err);
	int (*add_aggregate)(void *writer, const struct aggregate *row, struct err *err);
	int (*add_loss)(void *writer, const struct loss_info *row, struct err *err);
	int (*add_host)(void *writer, const struct host_info *row, struct err *err);
	/* One of fact_statistic (numbers in order from 0, each before its samples), fact_sample and
	 * fact_note of trace/facts.h. */
	int (*add_fact)(void *writer, const struct fact *fact, const void *row, struct err *err);
	/* Optional: what was added so far reaches the file, so that a killed writer loses only what
	 * came after. */
	int (*flush)(void *writer, struct err *err);
	/* Completes the file, makes it durable and frees the writer, also on failure. */
	int (*finish)(void *writer, const struct run_end *end, const struct run_clock *clock,
		      struct err *err);

	/*
	 * Reading: open fills head, which must stay where it is until close: next counts damage
	 * there, and gives up to cap activities in order (activity_compare), 0 at the end. Every
	 * index in an activity is within its table of head, whatever the file says. A failed open
	 * leaves head to be released.
	 */
	int (*open)(void **reader, const char *path, const struct trace_filter *filter,
		    struct trace_head *head, struct err *err);
	ssize_t (*next)(void *reader, struct activity *batch, size_t cap, struct err *err);
	void (*close)(void *reader);
};

extern const struct trace_format trace_container, trace_text, trace_sqlite;
extern const struct trace_format *const trace_formats[]; /* ends with NULL */

const struct trace_format *trace_format_by_name(const char *name);
/* The format whose suffix the path has; NULL if there is none. */
const struct trace_format *trace_format_by_suffix(const char *path);

/* A trace opened for reading, whatever its form. Must not be moved while it is open. */
struct trace {
	const struct trace_format *format;
	void *reader;
	struct trace_head head;
	struct trace_filter filter;
	char *file_match; /* one byte per file: does it pass filter.file? NULL without that filter
			   */
	struct map *involved; /* per process: ids that pass filter.collective; NULL without it */
};

/* Opens path, recognising its form. The filter may be NULL. On failure *trace is zeroed and -errno
 * returned. */
int trace_open(struct trace *trace, const char *path, const struct trace_filter *filter,
	       struct err *err);

/* Up to cap activities that pass the filter, in order. 0 at the end, -errno on failure. */
ssize_t trace_next(struct trace *trace, struct activity *batch, size_t cap, struct err *err);

void trace_close(struct trace *trace);

/* Index of the process that made the call with this id, seen from process: itself, or an ancestor.
 */
uint32_t trace_owner(const struct trace_head *head, uint32_t process, uint64_t id);

/* Copies the whole of an open, unfiltered trace into a new file of the given form. */
int trace_convert(struct trace *trace, const struct trace_format *form, const char *path,
		  struct err *err);

/* Copies the statistics, samples and notes of a head as they are; processes are there already. */
int trace_copy_findings(const struct trace_head *head, const struct trace_format *form,
			void *writer, struct err *err);

void run_info_release(struct run_info *run);
void process_info_release(struct process_info *process);
void trace_head_release(struct trace_head *head);

#endif
