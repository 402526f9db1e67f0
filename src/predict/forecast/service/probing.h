/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collects probe data: runs rounds of writes (probe/prober.h) until it is stopped, asks the
 * scheduler for running jobs, and saves the rows to the store or to a spool file. It may probe
 * alone, as one of many MPI ranks, or while a command runs.
 *
 * Ranks agree on the times of rounds through the wall clock. There are no MPI calls, because a
 * collective call would let one rank with a hanging target block all others.
 *
 * Nothing here prints: callbacks report warnings and progress, and struct probing holds the facts.
 * Used from one thread. A process may run one command (options.command) at a time, because signal
 * handlers need a global variable.
 */
#ifndef SLUICE_PREDICT_FORECAST_SERVICE_PROBING_H
#define SLUICE_PREDICT_FORECAST_SERVICE_PROBING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "predict/forecast/jobs/owner.h"
#include "predict/forecast/probe/prober.h"
#include "predict/forecast/probe/prober_node.h"
#include "predict/forecast/service/probing_rank.h"

struct err;
struct jobs_reader;
struct probing;
struct site;

#define PROBING_LAST_CPU (-1)

struct probing_options {
	const char *system;	 /* name that rows are stored under */
	const struct site *site; /* its targets are used if `targets` is empty; its job reader */
	const char *site_name;	 /* for messages */
	const char *store_path;
	const char *spool_dir;	    /* write rows to a file in this directory; NULL: to the store */
	const char *const *targets; /* "[NAME=]PLACE" */
	size_t target_count;
	/* Byte limits apply to all ranks together; probing_init() sets the slice of targets. */
	struct prober_plan plan;
	int64_t jobs_every_ns; /* interval of job snapshots; 0: none */
	int64_t duration_ns;   /* 0: until *stop is set or the command exits */
	uint64_t rank, ranks;  /* 0 of 1 without MPI */
	bool is_all_to_all;    /* every rank probes every target; otherwise they are divided */
	char *const *command;  /* probe while this command runs; NULL: no command */
	int cpu;	       /* CPU to probe on while the command runs, or PROBING_LAST_CPU */
	const volatile sig_atomic_t *stop; /* the run ends soon after this becomes nonzero */
	void (*on_warning)(void *arg, const char *text); /* a complete message, no newline */
	void (*on_step)(void *arg, const struct probing *probing); /* for a progress display */
	void *arg;
};

/* Durations of the completed probes of a target. */
struct probing_times {
	double sum_s, worst_s;
	uint64_t count;
	bool has_warned; /* a failed write of this target was reported */
};

/* Queries to the scheduler. They run in a child process, since an answer can take minutes. */
struct probing_jobs {
	bool is_wanted;			  /* any scheduler is asked */
	const struct jobs_reader *reader; /* of [jobs]; NULL: that one is not asked */
	uint8_t key[OWNER_KEY_BYTES];
	pid_t pid;	  /* the child process, 0 if no query is in progress */
	int error_pipe;	  /* the child writes an error message to it */
	int64_t asked_ns; /* start of the period of the latest query */
	uint64_t asked, failed;
	double cpu_s;
	bool has_warned;
	bool is_guess; /* the reader was detected, and its command has not succeeded so far */
};

struct probing {
	struct probing_options options;
	struct targets targets;
	struct prober prober;
	struct probing_times *times; /* per target */
	struct probing_jobs jobs;
	struct chronicle rows; /* not saved yet */
	uint64_t saved, lost;  /* rows */
	bool has_unsaved;      /* the latest attempt to save rows failed */
	char *spool;	       /* path prefix of the spool files; NULL: rows go to the store */
	struct node_watch node;
	int64_t node_ns;  /* round of the latest node state */
	int64_t began_ns; /* monotonic */
	pid_t command;	  /* 0: not running */
	int command_exit; /* exit code of the command, 128 + N after signal N */
};

/*
 * Checks the options and resolves the targets without accessing storage. Returns -EINVAL if an
 * option is wrong. Strings and pointers of the options must outlive the probing.
 */
int probing_init(struct probing *probing, const struct probing_options *options, struct err *err);
void probing_release(struct probing *probing);

/*
 * Probes until the duration is over, *stop is set or the command exits. Without a command, returns
 * -errno if the probes cannot start. With a command, failures of the probes are only warnings, and
 * the result is negative only if the command cannot be started; command_exit is set in any case,
 * and this process stays confined to one CPU at low priority.
 * Afterwards prober, times, saved, lost and jobs describe the run.
 */
int probing_run(struct probing *probing, struct err *err);

/* CPU seconds of this process, its workers and the job queries; the command is not included. */
double probing_cpu_s(const struct probing *probing);
int64_t probing_elapsed_ns(const struct probing *probing);

/* True if writes were due and none of them completed. */
bool probing_has_no_data(const struct probing *probing);

#endif
