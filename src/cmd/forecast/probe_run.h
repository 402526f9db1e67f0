/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of `sluice probe run`: what it runs with, what becomes of the rows, who is asked for
 * jobs, the command beside it, and what it tells at the end.
 */
#ifndef SLUICE_CMD_FORECAST_PROBE_RUN_H
#define SLUICE_CMD_FORECAST_PROBE_RUN_H

#include <sys/types.h>

#include "cmd/forecast/probe.h"
#include "predict/forecast/probe/prober.h"
#include "predict/forecast/probe/prober_node.h"
#include "predict/forecast/site.h"

struct jobs_reader;

/* How long probes of a target took. */
struct probe_times {
	double sum_s, worst_s;
	uint64_t count;
	bool has_warned; /* that a write was not done */
};

/* Who asks the scheduler: a process of its own, as a scheduler may take minutes to answer. */
struct asker {
	const struct jobs_reader *reader; /* NULL: nobody is asked */
	uint8_t key[OWNER_KEY_BYTES];
	pid_t pid;	  /* 0: nobody is being asked */
	int words;	  /* what went wrong, from the process */
	int64_t asked_ns; /* start of the period in which it was last asked */
	uint64_t asked, failed;
	double cpu_s;
	bool has_warned;
	bool is_guess; /* its command is there, and has never answered */
};

struct running {
	struct command *command;
	const struct probe_args *args;
	char *system;
	struct site site;
	struct targets targets;
	struct prober_plan plan;
	struct prober prober;
	struct chronicle rows; /* that are not saved yet */
	uint64_t saved, lost;  /* rows */
	bool has_warned;       /* that rows cannot be saved */
	char *spool;	       /* start of the names of files that rows go to; NULL: the store */
	struct node_watch node;
	int64_t node_ns;	   /* round of the last look */
	struct probe_times *times; /* per target of the prober */
	struct asker asker;
	uint64_t rank, ranks; /* 0 of 1 where there are none */
	int64_t began_ns;     /* monotonic */
};

/* ---- probe_save.c ---- */

void probed_take(struct running *run, const struct prober_sample *sample);
/* Saves what is there; what cannot be is kept for the next time, up to a bound. */
void probed_save(struct running *run);
/* What was written today counts for the budget of today. */
void probed_spent(struct running *run);
/* --spool: a file per process in that directory, which is made. */
int probed_place(struct running *run, struct err *err);
/* Adds run->rows to the store, or to the file of that kind ("": of the writes). */
int probed_write(struct running *run, const char *kind, struct err *err);

/* ---- probe_ask.c ---- */

int asker_init(struct running *run, struct err *err);
/* Asks if it is time to, and hears of what was asked. Does not wait. */
void asker_step(struct running *run, int64_t wall_ns);
/* Waits a moment for what is being asked, then gives it up. */
void asker_stop(struct running *run);

/* ---- probe_beside.c ---- */

/* Starts the command, and confines this process to one core. 0, or an exit code. */
int beside_start(struct running *run, pid_t *pid, int *pidfd);
/* false where there is none: pidfd -1. */
bool beside_has_ended(int pidfd);
/* Waits for it, if it has not ended yet, and returns its exit code. */
int beside_end(pid_t pid);

/* ---- probe_tell.c ---- */

/* On standard error where standard output is another's. */
void running_tell(const struct running *run);
/* A line for whoever looks at a terminal. */
char *running_line(const struct running *run);

#endif
