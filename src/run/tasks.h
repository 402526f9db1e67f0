/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that Slurm starts. srun passes its environment to its tasks, but the spool directory
 * that it names exists only on the node of `sluice run`. So `sluice run -- srun ./app` executes
 * `srun sluice run -- ./app`: each node has its own collector, and the last one merges the traces
 * (observe/job/parts.h). If a node has no `sluice`, its tasks run unrecorded.
 */
#ifndef SLUICE_RUN_TASKS_H
#define SLUICE_RUN_TASKS_H

#include <stddef.h>

#include "base/buf.h"

struct trace_head;

/* How the tasks of a command are recorded; zeroed: it starts none. */
struct tasks {
	/* As launch_move_command() takes them; at 0: the tasks cannot record themselves. */
	size_t at;
	struct buf prefix;
	char *warning; /* a sentence: why tasks run unrecorded; or NULL */
};

void tasks_init(struct tasks *tasks, char *const *argv);
void tasks_release(struct tasks *tasks);

/*
 * A command that starts no tasks itself may be a script that does. If the trace of its run has
 * processes of srun, but none that one of Slurm's daemons can have started on this node, the result
 * is a sentence about them, which the caller frees; else NULL.
 */
char *tasks_find_missing(char *const *argv, const struct trace_head *head);

#endif
