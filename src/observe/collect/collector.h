/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collector: reads the records that the processes of a run have committed to their spools,
 * sorts them, and writes the run's container while the program runs. It is single-threaded and
 * never touches the program.
 *
 * Memory: the records of a pass (PORTION_WORDS) with their sort keys, the container's block, and
 * tables of the names (NAMES_MAX), processes (PROCESSES_MAX) and handles (HANDLES_MAX) of the run.
 * What exceeds these limits is counted in the totals and noted in the trace.
 * Papers: SIOX-64.
 */
#ifndef SLUICE_OBSERVE_COLLECT_COLLECTOR_H
#define SLUICE_OBSERVE_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/spool.h"
#include "trace/format.h"

struct config;
struct err;
struct collector;
struct intake_handed;
struct intake_tap;
struct names;
struct moment;

/* A run whose processes hand over their files by descriptors: see contract/handover.h. */
struct collector_handed {
	int control;	    /* descriptor of the control page; it stays with the caller */
	const char *ledger; /* path of the ledger (ledger.h); continues the run if it exists */
	const struct moment *earlier; /* a moment long ago, by which the clock is measured */
	bool is_foreign;	      /* the processes belong to another user */
	const struct intake_tap *tap; /* copied; NULL: none */
	/* The spool with this ticket is in the trace: its files are not needed any more. */
	void (*released)(void *arg, uint64_t ticket);
	void *arg;
};

struct collector_options {
	const char *trace;     /* path of the container to write */
	const char *spool_dir; /* where to create the run's spool directory; NULL: choose one */
	const char *directory; /* the spool directory, if it exists already; it is removed at the
				  end, also if collector_open() fails */
	/* Called when a new spool directory was created, before anything else. May be NULL. */
	void (*on_directory)(void *arg, const char *directory);
	void *arg;
	uint64_t spool_bytes; /* limit of all spools of the run together */
	enum capture_mode mode;
	enum capture_clock clock;
	bool messages;	  /* also record the messages of MPI-IO; see capture/libraries/messages.h */
	const char *skip; /* names of programs not to record, separated by blanks or commas */
	const struct run_info *run;  /* copied; started_ns is filled in */
	const struct config *config; /* settings of plug-ins and statistics; NULL: use neither */
	uint64_t flight_ring;	     /* activities that the flight recorder keeps; 0: write all */
	const char *board;	/* directory of the health files, see observe/reason/health_files.h;
				   NULL: there is one node */
	const char *parameters; /* text of contract/parameters.h; NULL: none */
	const char *forbidden;	/* names as in control.forbidden; NULL: none */
	const struct advice *advice; /* for programs that ask; NULL: no opinion on anything */
	/* The list of destinations that files are placed on by their backlog, with the limits of
	 * the site; NULL: by the weights of the list. placed_place is the file system of their
	 * names; "": they are directories. */
	const char *placed, *placed_place;
	double placed_most, placed_least;
	bool parameters_shared; /* the other nodes of the job use the same parameters */
	/* NULL: processes find the spool directory. Otherwise `trace` is completed by the number of
	 * its generation, see collector_trace(). */
	const struct collector_handed *handed;
	double overhead_budget; /* share of the run time, see overhead.h; 0: no limit */
	int64_t overhead_grace_ns;
};

/* Totals of a run, during and after it. */
struct collector_totals {
	uint64_t activities;
	uint64_t lost;
	uint64_t unrecorded; /* processes that could not be recorded; known at the end */
	bool has_acted;	     /* an in-line plug-in has acted on the program; known at the end */
	uint64_t damaged_words;
	uint64_t container_bytes; /* set by collector_close() */
	uint32_t processes;
	uint64_t names_over;	   /* names of calls that are replaced by NAMES_OTHER */
	uint64_t handles_over;	   /* handles beyond the limit, whose calls lack their file */
	uint64_t spool_peak_bytes; /* largest size of all spools at any pass */
	char warnings[2048];	   /* sentences for the user, each ended by a newline */
};

/*
 * Returns the directory in which to create spool directories: spool_dir, or else one with enough
 * space.
 */
const char *collector_base(const char *spool_dir, uint64_t spool_bytes);

int collector_open(struct collector **collector, const struct collector_options *options,
		   struct err *err);

/* Path of the container that is being written. */
const char *collector_trace(const struct collector *collector);

/* Of a run that is handed over: adds a spool, or the counters of one; see intake.h. */
int collector_adopt(struct collector *collector, const struct intake_handed *handed,
		    struct err *err);
int collector_adopt_counters(struct collector *collector, uint64_t ticket, int fd);

/* Number of processes that are alive, and the error that keeps the trace from being written. */
size_t collector_live(const struct collector *collector);
const struct err *collector_error(const struct collector *collector); /* NULL: none */

/*
 * Frees the collector of a run that is handed over, and leaves trace and spools to the next one.
 * `each` gets the members and owns their descriptors; NULL: these are closed.
 */
void collector_abandon(struct collector *collector,
		       void (*each)(void *arg, const struct intake_handed *handed), void *arg);

/* Directory that processes of the run must find in SLUICE_SPOOL. Valid until collector_close(). */
const char *collector_directory(const struct collector *collector);

/* The control page of the run. Valid until collector_close(). */
const struct control *collector_control(const struct collector *collector);

/* Sentences for the user so far, each ended by a newline. The text only grows. */
const char *collector_warnings(const struct collector *collector);

/*
 * Adds a sentence without a newline to the warnings. One that begins with COLLECTOR_NOTICE is
 * information, not a warning.
 */
#define COLLECTOR_NOTICE "notice: "
void collector_warn(struct collector *collector, const char *sentence);

/* The names of all files so far. Valid until the next pass. */
const struct names *collector_names(const struct collector *collector);

/* Writes a note of this node into the trace. */
void collector_note(struct collector *collector, const struct note *note);

/*
 * Runs one pass over all spools. Returns the number of activities read; errors are kept for
 * collector_close().
 */
size_t collector_poll(struct collector *collector);

/*
 * Runs passes, and returns whether the run still has processes: those that are attached, and those
 * that may attach because they have inherited SLUICE_SPOOL.
 */
bool collector_has_processes(struct collector *collector);

/* Number of processes that became ranks of an MPI program, and of those that are still alive. */
size_t collector_ranks(const struct collector *collector);
size_t collector_live_ranks(struct collector *collector);

/*
 * Reads the rest, switches recording off in remaining processes, completes the container and
 * removes the spools. Frees the collector, also on failure. totals may be NULL.
 */
int collector_close(struct collector *collector, int exit_status, struct collector_totals *totals,
		    struct err *err);

/* Does the directory belong to a run whose collector is dead, or alive? */
bool collector_is_dead(const char *directory);
bool collector_is_alive(const char *directory);

/*
 * Completes the trace of a run whose collector died: combines what it had written with what is
 * still in the spools, and replaces the trace. A complete trace is not changed. If the trace is
 * gone, or another file has its name, the records go into a new trace, and totals->warnings says
 * so; it is in the directory `elsewhere` if the directory of the trace is gone, too. *trace
 * receives the path of the trace, which the caller frees; the directory is removed. On failure
 * everything stays as it was.
 */
int collector_recover(const char *directory, const char *elsewhere, char **trace,
		      struct collector_totals *totals, struct err *err);

#endif
