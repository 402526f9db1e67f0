/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The conditions of a run, as far as its trace knows them: the build of the program, its arguments,
 * ranks, parameters, variables that libraries heed, machine, file system. Two runs of a program
 * that behave differently are explained by those that differ.
 */
#ifndef SLUICE_OBSERVE_COMPARE_CONDITIONS_H
#define SLUICE_OBSERVE_COMPARE_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>

struct trace_head;

struct condition {
	const char *kind; /* "program", "ranks", "parameters", "environment", "machine", ... */
	char *name;	  /* "binary", "OMP_NUM_THREADS" */
	char *value;
	/* If only one of two runs has it, the other one does not know it, rather than lacks it. */
	bool needs_both;
};

struct conditions {
	struct condition *list; /* in the order in which they are shown */
	size_t count, cap;
	bool is_described; /* the trace has notes of the program (NOTE_PROGRAM) */
};

void conditions_init(struct conditions *conditions, const struct trace_head *head);
void conditions_release(struct conditions *conditions);

/* The value of a NOTE_PROGRAM note; NULL: the trace does not know it. Belongs to the head. */
const char *conditions_fact(const struct trace_head *head, const char *name);

/* Calls visit() for each condition that differs; a value is NULL if the run does not have it. */
typedef void (*conditions_visit)(void *arg, const struct condition *condition, const char *before,
				 const char *after);
void conditions_compare(const struct conditions *before, const struct conditions *after,
			conditions_visit visit, void *arg);

#endif
