/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Accounts of the in-line plug-ins of a run: added up as processes end, and written as notes at the
 * end of the run.
 */
#ifndef SLUICE_OBSERVE_COLLECT_ACCOUNTS_H
#define SLUICE_OBSERVE_COLLECT_ACCOUNTS_H

#include "contract/spool.h"
#include "trace/format.h"

#define ACCOUNTS_STATES (PLUGIN_SLOW + 1)

struct account {
	uint64_t calls, acts, ticks;
	uint64_t worst_ticks;
	uint32_t processes[ACCOUNTS_STATES]; /* number of processes by enum plugin_state */
	int32_t process[ACCOUNTS_STATES];    /* the last of these processes */
	uint32_t reason; /* errno of the last process in which the plug-in failed to start */
};

struct accounts {
	struct account list[CONTROL_PLUGINS]; /* in the order of the control page */
};

/* Adds a process that has ended. header is a copy; index is its number in the trace. */
void accounts_add(struct accounts *accounts, const struct spool_header *header, uint32_t index);

/*
 * Where accounts_report() sends its notes. `acts` returns what a plug-in's actions are called, by
 * its name in the control page; NULL: "acts". clock converts ticks. The texts of notes are valid
 * during the call only.
 */
struct accounts_output {
	const char *host;
	const struct run_clock *clock;
	uint64_t budget_ticks; /* of the control page */
	uint32_t hint_changes; /* by the plug-in history, of open files */
	const char *(*acts)(const char *name);
	void *arg;
	void (*note)(void *arg, const struct note *note);
};

/* plugins is a copy of those in the control page, which guests can overwrite. */
void accounts_report(const struct accounts *accounts,
		     const struct control_plugin plugins[CONTROL_PLUGINS],
		     const struct accounts_output *to);

#endif
