/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns spools into a trace: reads the committed records pass by pass, sorts and resolves them, and
 * passes them to a writer. Spools are found in the directory of a run, or are handed over by their
 * processes (intake_adopt()). The collector uses it for living processes, and recover.c for the
 * spools that a dead collector left behind. collector.c, intake.c, final_account.c, accounts.c,
 * launches.c, control_page.c and overhead.c implement one collector together.
 */
#ifndef SLUICE_OBSERVE_COLLECT_INTAKE_H
#define SLUICE_OBSERVE_COLLECT_INTAKE_H

#include "base/err.h"
#include "base/map.h"
#include "observe/collect/accounts.h"
#include "observe/collect/collector.h"
#include "observe/collect/drain.h"
#include "observe/collect/launches.h"
#include "observe/collect/order.h"
#include "observe/collect/portion.h"
#include "observe/collect/resolve.h"
#include "trace/format.h"

struct flight;
struct watcher;

/* Limit of processes of a run. Further ones are not recorded, but counted. */
#define PROCESSES_MAX 65536

/* Limit of threads of a run whose kernel's ids are noted, without the first ones of processes. */
#define THREADS_NOTED_MAX 65536

/* One process of the run whose spool is open. */
struct member {
	struct spool spool; /* first member: a struct spool * of ours is a struct member * */
	uint32_t number;    /* of the spool in the run */
	uint32_t index;	    /* index in the trace */
	int32_t parent;	    /* index of the process it was forked from; -1: none */
	int32_t rank;	    /* rank last written to the trace */
	bool replaced;	    /* exec replaced the image: a newer spool has the same process */
	bool ended;	    /* the process is gone; closed once nothing is pending */
	int counters;	    /* descriptor of its counters; -1: look for the file */
	int32_t process;    /* its pid as this process sees it; 0: unknown */
	uint64_t ticket;    /* of whoever handed the spool over */
	size_t pending;	    /* sequences found in the last pass */
};

/* A spool that a process has handed over. */
struct intake_handed {
	int spool;	 /* descriptors */
	int counters;	 /* -1: none */
	uint32_t number; /* of the spool in the run, as the process says */
	int32_t process; /* pid of the process, as the kernel says; 0: unknown */
	uint64_t ticket; /* for the caller */
};

/* Sees what is written. */
struct intake_tap {
	void (*file)(void *arg, file_id id, const char *path);		       /* may be NULL */
	void (*activities)(void *arg, const struct activity *batch, size_t n); /* may be NULL */
	void *arg;
};

struct intake {
	const char *directory; /* borrowed, like host; NULL: spools are handed over */
	const char *host;
	struct control
		*control;      /* receives the progress of a pass, for recovery; NULL: not needed */
	struct ledger *ledger; /* the same, if the run can be continued; NULL: it cannot */
	const char *container; /* path of the trace, with a ledger */
	struct intake_tap tap;
	const struct trace_format *form;
	void *writer;
	struct err error;	/* the first write error; nothing is written after it */
	struct run_clock clock; /* converts ticks of process starts and counters */
	bool in_ns;		/* write activities in ns by that clock instead of ticks */
	struct resolver *resolver;
	struct member **members; /* those whose spool is open, in order of attachment */
	size_t member_count, member_cap;
	uint32_t process_count;	     /* processes in the trace */
	struct map numbers;	     /* number of a spool + 1 -> index of its process + 1 */
	struct map threads;	     /* process and thread that were noted */
	struct map images;	     /* process -> the member of its newest spool */
	size_t ended_ranks;	     /* processes with a rank that have ended */
	struct spool_header *header; /* buffer for the copy of a header */
	const struct process_info
		*known;	   /* processes that an earlier collector announced; borrowed */
	bool *known_taken; /* their spool was found */
	size_t known_count;
	uint64_t skip;	 /* number of records of the next pass that are in the trace already */
	int64_t last_ns; /* latest end of an activity; only with in_ns */
	struct pending *pending;
	size_t pending_count, pending_cap;
	struct portion portion;
	bool progress;	    /* the last pass consumed something */
	uint64_t now_ticks; /* time of the last pass; 0: unknown */
	struct order order;
	struct activity *batch;
	size_t batch_count;
	struct flight
		*flight; /* holds activities until an anomaly; NULL: they are written at once */
	struct accounts accounts;
	struct launches launches; /* counts processes that could not be recorded */
	struct watcher *watcher;  /* receives everything that is written; NULL: no watcher */
	uint64_t *released;	  /* tickets of members that have ended since intake_commit() */
	size_t released_count, released_cap;
	struct collector_totals totals;
};

void intake_init(struct intake *in, const char *directory, const char *host);
void intake_release(struct intake *in); /* does not free the writer */

/*
 * Opens the new spools in the directory. Returns the number of those that need no further attempt:
 * the opened ones, and those that cannot be read, which are counted as unrecorded. A spool for
 * which there is no memory or no descriptor now is tried again, until `last`.
 */
size_t intake_find(struct intake *in, bool last);

/*
 * Adds a spool that was handed over, and takes its descriptors on success. -EEXIST: its number is
 * known.
 */
int intake_adopt(struct intake *in, const struct intake_handed *handed, struct err *err);

/* The member has created its counters after it was adopted. Takes the descriptor on success. */
int intake_adopt_counters(struct intake *in, uint64_t ticket, int fd);

/* With a ledger: what was written so far is valid, also if this process dies. */
void intake_commit(struct intake *in);

/* Makes room for processes of an existing trace, which keep their indices. The array is borrowed.
 */
void intake_set_known(struct intake *in, const struct process_info *known, size_t count);

/* Reads the process's measurements into a buffer that is valid until the next call. */
const struct spool_header *intake_header(struct intake *in, const struct member *m);

/* At the end: writes the number of processes that could not be recorded into the trace. */
void intake_unrecorded(struct intake *in);

/* Updates processes in the trace that have learned their rank. Returns the number of ranks. */
size_t intake_ranks(struct intake *in);

/*
 * Reads what was committed up to `now` in ticks, if it is `due` or fills a block. The records are
 * in the file before their chunks are returned. Returns the number of activities.
 */
size_t intake_pass(struct intake *in, uint64_t now, bool due);

/*
 * Finishes a process: writes its losses and counters, removes its files and frees the member.
 * Returns the number of its chunks.
 */
uint32_t intake_end(struct intake *in, struct member *m);

/* Passes resolved activities to the writer; times must be in the writer's unit. */
void intake_write(struct intake *in, const struct activity *batch, size_t n);

/* Writes the activities that the flight recorder holds. */
void intake_ship(struct intake *in);

/* Writes a statistic, a sample or a note into the trace. */
void intake_fact(struct intake *in, const struct fact *fact, const void *row);

/* Notes that the writer failed, if the result is negative; after the first time nothing is written.
 */
void intake_note_failure(struct intake *in, int result, const struct err *err);

/*
 * Converts a number of ticks to nanoseconds. The largest result is HEAD_TIME_MAX, because a program
 * may have overwritten the number, and readers refuse larger ones with all rows around them.
 */
int64_t intake_ns(const struct run_clock *clock, uint64_t ticks);

#endif
