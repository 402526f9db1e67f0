/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collector: takes what the processes of a run have committed to their spools, puts it in
 * order, and writes the run's container while the program goes on. Single-threaded; never touches
 * the program.
 *
 * Memory: 64 KiB per chunk looked at in a pass and at most PASS_CHUNKS of them, the container's
 * block, and what the run has distinct: files, processes and open handles.
 */
#ifndef SLUICE_OBSERVE_COLLECT_COLLECTOR_H
#define SLUICE_OBSERVE_COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"
#include "contract/spool.h"

struct config;
struct err;
struct collector;

struct collector_options {
	const char *trace;     /* path of the container to write */
	const char *spool_dir; /* where to make the run's spool directory; NULL chooses */
	const char *directory; /* the spool directory itself, if it is made already; it is removed
				  at the end, also of a failed open */
	uint64_t spool_bytes;  /* bound of all spools of the run together */
	enum capture_mode mode;
	enum capture_clock clock;
	bool messages;	  /* record those of MPI-IO, too; see capture/libraries/messages.h */
	const char *skip; /* program names to leave alone, separated by blanks or commas */
	const struct run_info *run;  /* copied; started_ns is filled in */
	const struct config *config; /* of plug-ins and all that watches; NULL: nobody does */
	uint64_t flight_ring;	/* activities that a flight recorder keeps; 0: all are written */
	const char *board;	/* see observe/reason/board.h; NULL: there is one node */
	const char *parameters; /* text of contract/parameters.h; NULL: none */
	bool parameters_shared; /* the other nodes of the job have the same */
	double overhead_budget; /* share of the run time, see overhead.h; 0: no limit */
	int64_t overhead_grace_ns;
};

/* What is known about a run while it goes on and when it is over. */
struct collector_totals {
	uint64_t activities;
	uint64_t lost;
	uint64_t damaged_words;
	uint64_t container_bytes; /* after collector_close() */
	uint32_t processes;
	uint64_t spool_peak_bytes; /* most space that the spools took at any pass */
	char warnings[2048];	   /* sentences for the user, each ended by a newline */
};

/* Where spool directories are to be made: spool_dir, else what has room. */
const char *collector_base(const char *spool_dir, uint64_t spool_bytes);

int collector_open(struct collector **collector, const struct collector_options *options,
		   struct err *err);

/* Directory that processes of the run must find in SLUICE_SPOOL. Valid until close. */
const char *collector_directory(const struct collector *collector);

/* What the user must hear so far: sentences, each ended by a newline. Only ever added to. */
const char *collector_warnings(const struct collector *collector);

/*
 * Adds to them: one sentence, without a newline. What begins with COLLECTOR_NOTICE is good to know,
 * and no warning.
 */
#define COLLECTOR_NOTICE "notice: "
void collector_warn(struct collector *collector, const char *sentence);

/* A note for the trace, of this node. */
void collector_note(struct collector *collector, const struct note *note);

/* One pass over all spools. Returns the number of activities taken; trouble is kept for close. */
size_t collector_poll(struct collector *collector);

/* How many processes are attached and not known to have ended. */
size_t collector_live(const struct collector *collector);

/* How many of its processes have ever been known to be ranks of an MPI program, and still live. */
size_t collector_ranks(const struct collector *collector);
size_t collector_live_ranks(struct collector *collector);

/*
 * Takes the rest, switches remaining processes off, completes the container and removes the spools.
 * Frees the collector, also on failure. totals may be NULL.
 */
int collector_close(struct collector *collector, int exit_status, struct collector_totals *totals,
		    struct err *err);

/* Is the directory a run's, and its collector gone, or at work? */
bool collector_is_dead(const char *directory);
bool collector_is_alive(const char *directory);

/*
 * Completes the trace of a run whose collector died: what it had written and what is still in the
 * spools, together in the trace's own place. *trace gets its path, the caller's to free; the
 * directory is removed. On failure everything stays as it was.
 */
int collector_recover(const char *directory, char **trace, struct collector_totals *totals,
		      struct err *err);

#endif
