/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts the processes of a run that could not be recorded. Processes announce the programs that
 * they start (contract/launch.h). A program that joins the run creates a spool; one that does not,
 * although its process has ended, is unrecorded, and its executable file shows why.
 *
 * A pass of the collector calls, in this order:
 *
 *   launches_check()     which announced processes have ended
 *   launches_joined()    for each spool that was found
 *   launches_settle()    reads new notes, and decides about processes that had ended before
 *
 * A process that had ended in the first step has created its spool before the second, so that no
 * process is counted too early, however slow the machine is.
 */
#ifndef SLUICE_OBSERVE_COLLECT_LAUNCHES_H
#define SLUICE_OBSERVE_COLLECT_LAUNCHES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/map.h"
#include "contract/spool.h"

struct note;
struct launch_waiting;
struct launch_count;

struct launches {
	struct control *control; /* NULL: nothing to read */
	bool is_blind; /* does not open files that processes name: they belong to another user */
	struct launch_waiting *waiting; /* programs that have not joined yet */
	size_t waiting_count, waiting_cap;
	struct map joined; /* when the latest image of a process has joined, in ticks */
	struct map kinds;  /* enum elf_kind + 1 by hash of a path */
	struct launch_count *counts;
	size_t count_count, count_cap;
	uint32_t seen;	     /* claims of entries when all notes had been read */
	uint64_t unrecorded; /* sum of the counts */
	uint64_t unchecked;  /* launches that could not be followed */
};

void launches_release(struct launches *launches);

void launches_check(struct launches *launches);
void launches_joined(struct launches *launches, const struct spool_header *header);
void launches_settle(struct launches *launches);

/* Number of announced programs that may be about to join. */
size_t launches_starting(const struct launches *launches);

/* At the end of the run: decides about all programs that have not joined. */
void launches_finish(struct launches *launches);

/* Counts processes that are known to be unrecorded. program may be "". */
void launches_count(struct launches *launches, enum loss_cause cause, const char *program,
		    uint64_t processes);

/* Counts a process with a spool that cannot be read. */
void launches_unreadable(struct launches *launches, int32_t pid, enum loss_cause cause);

/* Passes the counts as notes to `write`; their texts are valid during the call only. */
void launches_report(const struct launches *launches, const char *host, void *arg,
		     void (*write)(void *arg, const struct note *note));

/*
 * Announces the program that a process is about to execute in the run of this spool directory.
 * Without such a run, nothing happens.
 */
void launches_announce(const char *directory, pid_t pid, const char *program);

/* Withdraws what was announced for the calling process, which could not execute its program. */
void launches_withdraw(const char *directory);

#endif
