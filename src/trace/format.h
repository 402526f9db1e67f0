/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A trace on disk, in any of its forms: binary container, text, SQLite.
 *
 * A form is one constant `struct trace_format` in the list trace_formats[]. All forms store the
 * same information: converting a trace to another form and back gives an identical sequence of
 * activities. A writer or reader is used by one thread only. Writers copy the strings they are
 * given. format.c, facts.c and head.c implement what the forms share.
 * Papers: SIOX-32.
 */
#ifndef SLUICE_TRACE_FORMAT_H
#define SLUICE_TRACE_FORMAT_H

#include <stddef.h>
#include <sys/types.h>

#include "contract/group.h"
#include "trace/activity.h"

struct buf;
struct err;
struct fact;
struct map;

/* The facts that are known at the start of a run. */
struct run_info {
	char *uuid;	 /* 32 hexadecimal digits */
	char *command;	 /* the command line, shell-quoted */
	char *directory; /* working directory at the start */
	char *host, *user;
	char *version;	    /* of the Sluice that recorded it */
	int64_t started_ns; /* CLOCK_REALTIME at time 0 of the trace */
};

/*
 * Converts ticks of the capture clock to nanoseconds since the start of the run: ns = (ticks -
 * tick0)
 * * num / den. The clock is measured at the start and at the end of the run. Text and SQLite traces
 * are in nanoseconds: tick0 = 0, num = den = 1.
 */
struct run_clock {
	char *source; /* "cntvct_el0", "tsc", "monotonic" */
	uint64_t tick0;
	uint64_t num, den;
	int64_t error_ns; /* uncertainty of the calibration over the run */
};

struct process_info {
	uint32_t index; /* number in this trace, from 0 in order of attachment */
	int32_t parent; /* index of the process that forked it and whose handles it inherited; -1:
			   none */
	uint32_t first_thread;
	int32_t pid, ppid;
	int32_t rank;	     /* in MPI_COMM_WORLD, -1 outside MPI or before MPI_Init */
	int32_t ranks;	     /* size of MPI_COMM_WORLD, 0 outside MPI; see process_is_group() */
	int64_t attached_ns; /* since the start of the run */
	char *host;
	char *program; /* path of the executable */
	char *command; /* command line; it may be truncated */
	char *directory;
};

/* Activities of one process that are missing in the trace. Known at the end of the run. */
struct loss_info {
	uint32_t process;
	uint64_t records; /* activities that were not recorded; aggregates count them if possible */
	uint64_t threads; /* threads that were not recorded because thread numbers ran out */
};

/* Are the calls of an aggregate enclosed by other calls of the trace, so that they must not be
 * added to those? The guest does not know; logs of other tools do. */
enum aggregate_place { AGGREGATE_UNKNOWN, AGGREGATE_OUTERMOST, AGGREGATE_ENCLOSED };

/* Sums of calls that were counted but not recorded (counters mode, or the spool was full). */
struct aggregate {
	uint32_t process;
	file_id file;  /* 0: calls without a file, and files beyond the table */
	uint8_t group; /* enum group */
	uint8_t layer;
	uint64_t calls, errors;
	int64_t bytes, duration_ns;
	uint32_t place; /* enum aggregate_place */
};

struct usage; /* trace/usage.h: details of such sums that another tool provides */
struct flow;

/* How the clock of a host was aligned with that of the trace; one per host of a merged trace. */
struct host_info {
	char *host;
	char *method;	   /* "reference", "collective calls", "messages", "time of day" */
	int64_t offset_ns; /* correction that was added to the host's time of day */
	int64_t error_ns;  /* maximum error of the corrected times; -1: unknown */
};

/* A quantity that was sampled during the run, such as the load of a node. */
struct statistic_info {
	uint32_t number; /* in this trace, from 0 */
	char *host;
	char *name;	 /* topology path: "cpu/user", "io/vda/read", "utilization/network" */
	char *unit;	 /* "bytes", "operations", "ns", "%" */
	char *reduction; /* "sum": samples are increments, "mean": they are levels */
	uint32_t scale;	 /* a sample in this unit is value / scale */
};

/* The value for the `period_ns` before time_ns. Samples of a statistic are in order of time. */
struct stat_sample {
	uint32_t statistic;
	int64_t time_ns; /* since the start of the run */
	int64_t period_ns;
	int64_t value;
};

/*
 * A result or event: a line of a plug-in's report, an anomaly, an applied parameter, an overhead
 * of Sluice, or data that Sluice did not record.
 */
struct note {
	int64_t time_ns; /* since the start of the run; -1: concerns the whole run */
	int32_t process; /* -1: concerns the node */
	char *host;
	char *source; /* module: "histogram", "reasoner", "overhead", "read_ahead" */
	char *kind;   /* NOTE_* */
	char *name;   /* "group/field" of a report, else a short description */
	char *value;  /* a number as %.17g, or a text */
};

#define NOTE_REPORT "report"	 /* a result of a plug-in */
#define NOTE_ANOMALY "anomaly"	 /* signalled by a reasoner */
#define NOTE_APPLIED "applied"	 /* changed for the program, such as hints and advice */
#define NOTE_DEGRADED "degraded" /* work that Sluice reduced, and why */
#define NOTE_WARNING "warning"	 /* name of a degraded note that the user should see */
#define NOTE_REFUSED "refused"	 /* a plug-in that was not loaded or was switched off */
#define NOTE_CAUTION "caution"	 /* what the user should know about parameters and hints */
#define NOTE_DECISION "decision" /* who decided on a parameter: source, name, origin */
#define NOTE_CONFLICT "conflict" /* sources had different values; the source is who decided */
#define NOTE_COST "cost"	 /* overhead of Sluice itself */
#define NOTE_NODE "node"	 /* a property of a node, such as NODE_PROCESSORS */
#define NOTE_LAYOUT "layout"	 /* stripes of a file: source is the file system, name the path */
#define NOTE_THREAD "thread"	 /* of a process: kernel's ids; see below */
#define NOTE_PROGRAM "program"	 /* which program ran, and where; see below */
/* What is missing, by cause; see observe/tally/losses.h. */
#define NOTE_LOST "lost"	     /* calls of a process */
#define NOTE_UNRECORDED "unrecorded" /* processes */

/* Names of NOTE_PROGRAM. What is not known has no note. */
#define PROGRAM_NAME "name"		  /* base name of what the ranks run */
#define PROGRAM_FINGERPRINT "fingerprint" /* of its code, as in tune/program/identity.h */
#define PROGRAM_ARGUMENTS "arguments"	  /* its own, quoted for a shell */
#define PROGRAM_PLATFORM "platform"	  /* kind of machine */
#define PROGRAM_KERNEL "kernel"		  /* release of the operating system */
#define PROGRAM_FILESYSTEM "filesystem"	  /* of the working directory: "lustre", "local" */
#define PROGRAM_VARIABLE "variable/"	  /* and the name of a variable that libraries heed */

/*
 * NOTE_THREAD: the name is the number of a thread, the value the kernel's id of it. The first
 * thread of a process without such a note has the id of the process. THREAD_NAMESPACE is the inode
 * of the pid namespace in which these ids are valid; without a note it is the initial one, with the
 * value 0 it is unknown.
 */
#define THREAD_NAMESPACE "pid namespace"
#define THREAD_NAMESPACE_INITIAL UINT64_C(0xeffffffc)

/* The facts that are known at the end of a run. */
struct run_end {
	int64_t duration_ns;
	int32_t exit_status; /* as `sluice run` returned it; -1: unknown, e.g. after a crash */
	bool complete;	     /* false: the collector did not finish the trace */
};

/* Everything in a trace except its activities. Owned by the reader; valid until trace_close(). */
struct trace_head {
	struct run_info run;
	struct run_end end;
	struct run_clock clock;
	struct call_info *calls; /* call table of the trace, by activity.call; names are owned */
	size_t call_count;
	struct process_info *processes;
	size_t process_count;
	char **files; /* files[0] is "" */
	size_t file_count;
	struct host_info *hosts; /* only in a merged trace */
	size_t host_count;
	struct aggregate *aggregates;
	size_t aggregate_count;
	struct loss_info *losses;
	size_t loss_count;
	struct usage *usages; /* trace/usage.h; only in logs of other tools */
	size_t usage_count;
	struct flow *flows; /* likewise */
	size_t flow_count;
	struct statistic_info *statistics; /* by number */
	size_t statistic_count;
	struct stat_sample *samples; /* sorted by statistic, then time */
	size_t sample_count;
	struct note *notes; /* in the order of writing */
	size_t note_count;
	uint64_t activities;	 /* number of activities, without those of damaged blocks */
	uint64_t damaged_blocks; /* skipped blocks; final when next() has returned 0 */
	const char *format;	 /* name of the trace_format it was read with */
};

/*
 * Selects activities; a zeroed filter selects all. trace_next() applies it. A form may use it to
 * skip data, but need not.
 */
struct trace_filter {
	int64_t from_ns, to_ns; /* activities that start in [from, to); to 0 means no end */
	uint64_t layers;	/* bit per enum layer; 0 means all */
	int32_t process;	/* index + 1; 0 means all */
	int32_t rank;		/* rank + 1; 0 means all */
	const char *file;	/* glob on the whole path or the base name; NULL means all */
	int64_t min_duration_ns;
	/* The calls of all ranks that took part in this collective call, and all calls that these
	 * caused; 0 means all. */
	uint64_t collective;
};

struct trace_format {
	const char *name, *suffix, *help;
	bool (*recognize)(const unsigned char *head, size_t n); /* by the first n bytes of a file */

	/*
	 * Writing. calls is the table that activity.call indexes: the call_table of this build, or
	 * that of a trace. clock is the calibration known at the start; it is used if the trace is
	 * never finished. Text and SQLite accept nanoseconds only (0, 1, 1). After a failed call,
	 * only finish() may be called.
	 */
	int (*create)(void **writer, const char *path, const struct run_info *run,
		      const struct run_clock *clock, const struct call_info *calls,
		      size_t call_count, struct err *err);
	/*
	 * Process indices ascend from 0 and file ids from 1; each is added before the first
	 * activity that refers to it. A process may be added again to update it, e.g. its rank;
	 * parent and first_thread do not change.
	 */
	int (*add_process)(void *writer, const struct process_info *process, struct err *err);
	int (*add_file)(void *writer, file_id id, const char *path, struct err *err);
	/* Times are in ticks of the clock given to finish(). Each batch is sorted; batches may
	 * overlap. */
	int (*add_activities)(void *writer, const struct activity *batch, size_t n,
			      struct err *err);
	int (*add_aggregate)(void *writer, const struct aggregate *row, struct err *err);
	int (*add_loss)(void *writer, const struct loss_info *row, struct err *err);
	int (*add_host)(void *writer, const struct host_info *row, struct err *err);
	/* Adds a fact_statistic (numbers ascend from 0, each before its samples), fact_sample,
	 * fact_note, fact_usage or fact_flow of trace/facts.h. */
	int (*add_fact)(void *writer, const struct fact *fact, const void *row, struct err *err);
	/*
	 * Optional. Adds bytes of a saved profile (observe/profile/saved.h), which takes the place
	 * of activities. Several calls append.
	 */
	int (*add_profile)(void *writer, const void *bytes, size_t n, struct err *err);
	/* Optional. Writes all added data to the file, so that it survives a kill. */
	int (*flush)(void *writer, struct err *err);
	/* Optional, after flush(). Frees the memory that is needed only while data is added, for a
	 * process that writes many files at the same time. */
	void (*rest)(void *writer);
	/* Completes the file, syncs it to disk and frees the writer, even on failure. */
	int (*finish)(void *writer, const struct run_end *end, const struct run_clock *clock,
		      struct err *err);

	/*
	 * Reading. open() fills head, which must not be moved before close(), because next() counts
	 * damaged blocks there. next() returns up to cap activities in the order of
	 * activity_compare(), 0 at the end. Every index in an activity is valid for its table in
	 * head, even if the file is corrupt. After a failed open() the caller releases head.
	 */
	int (*open)(void **reader, const char *path, const struct trace_filter *filter,
		    struct trace_head *head, struct err *err);
	ssize_t (*next)(void *reader, struct activity *batch, size_t cap, struct err *err);
	/*
	 * Optional. A further reader of the file of `first`, which was opened without a filter and
	 * of which nothing has been read; it stays open. head is a copy of its head, with the same
	 * tables. May be called by several threads at the same time.
	 */
	int (*reopen)(void **reader, const void *first, const struct trace_filter *filter,
		      struct trace_head *head, struct err *err);
	/* Optional. Appends the bytes of the saved profile, if there is one. */
	int (*read_profile)(void *reader, struct buf *out, struct err *err);
	void (*close)(void *reader);
};

extern const struct trace_format trace_container, trace_text, trace_sqlite;
extern const struct trace_format *const trace_formats[]; /* ends with NULL */

/* Logs of other tools. They are read like traces, but not written: create() and the following
 * functions up to finish() are NULL. They are not part of trace_formats[]. */
extern const struct trace_format trace_darshan;
extern const struct trace_format *const trace_imports[]; /* ends with NULL */

const struct trace_format *trace_format_by_name(const char *name);
/* The format whose suffix the path has; NULL if there is none. */
const struct trace_format *trace_format_by_suffix(const char *path);

/* A trace opened for reading, in any form. It must not be moved while it is open. */
#define ACTIVITY_TIME_MAX (INT64_C(1) << 61) /* nanoseconds, 73 years */

struct trace {
	const struct trace_format *format;
	void *reader;
	char *path; /* that trace_open() was given; NULL after trace_reopen() */
	struct trace_head head;
	struct trace_filter filter;
	char *file_match;     /* per file: 1 if it passes filter.file; NULL without that filter */
	struct map *involved; /* per process: ids that pass filter.collective; NULL without it */
	int64_t sum_ns;	      /* of the durations so far; it never overflows */
	bool is_borrowed;     /* the tables of the head belong to another trace */
};

/* Opens a trace of any form. The filter may be NULL. On failure *trace is zeroed. */
int trace_open(struct trace *trace, const char *path, const struct trace_filter *filter,
	       struct err *err);

/*
 * Opens the file of `first` again, whose path this is. That saves the time and the memory for a
 * second head if the form can do so, because both then use the same. `first` was opened without a
 * filter and nothing was read from it; it must stay open. Several threads may do this at the same
 * time. As trace_open() otherwise.
 */
int trace_reopen(struct trace *trace, const struct trace *first, const char *path,
		 const struct trace_filter *filter, struct err *err);

/*
 * Returns up to cap activities that pass the filter, in order; 0 at the end. Times
 * are within +-ACTIVITY_TIME_MAX, and the sum of all durations does not overflow, so that readers
 * can compute with them; a trace with other times is damaged and fails with -EBADMSG.
 */
ssize_t trace_next(struct trace *trace, struct activity *batch, size_t cap, struct err *err);

void trace_close(struct trace *trace);

/* The process that made the call `id`, which `process` refers to: itself or an ancestor. */
uint32_t trace_find_owner(const struct trace_head *head, uint32_t process, uint64_t id);

/* Told how many activities of a long operation are done. Returns true to stop it: -EINTR. */
struct trace_watch {
	bool (*progress)(void *arg, size_t done, size_t total);
	void *arg;
};

/* 0, or -EINTR if the operation is to be stopped. watch may be NULL. */
int trace_watch_show(const struct trace_watch *watch, uint64_t done, uint64_t total,
		     struct err *err);

/* Copies an open, unfiltered trace to a new file of the given form. watch may be NULL. */
int trace_convert(struct trace *trace, const struct trace_format *form, const char *path,
		  const struct trace_watch *watch, struct err *err);

/* Writes the statistics, samples and notes of a head; its processes must have been added. */
int trace_copy_notes(const struct trace_head *head, const struct trace_format *form, void *writer,
		     struct err *err);

/*
 * Does the process stand for all ranks together? Logs of other tools have such an entry for what
 * they counted without regard to the rank. It has no activities.
 */
static inline bool process_is_group(const struct process_info *process)
{
	return process->rank < 0 && process->ranks > 0;
}

void run_info_release(struct run_info *run);
void process_info_release(struct process_info *process);

#endif
