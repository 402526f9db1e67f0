/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the in-line plug-ins of a run fared in its processes: summed up as the processes end, told in
 * notes at the end of the run.
 */
#ifndef SLUICE_OBSERVE_COLLECT_ACCOUNTS_H
#define SLUICE_OBSERVE_COLLECT_ACCOUNTS_H

#include "trace/format.h"
#include "contract/spool.h"

#define ACCOUNTS_STATES (PLUGIN_SLOW + 1)

struct account {
	uint64_t calls, acts, ticks;
	uint64_t worst_ticks;
	uint32_t processes[ACCOUNTS_STATES]; /* by enum plugin_state: so many of them */
	int32_t process[ACCOUNTS_STATES];    /* the last of these */
	uint32_t reason;		     /* of the last that failed */
};

struct accounts {
	struct account list[CONTROL_PLUGINS]; /* as in the control page */
};

/* A process has ended; index is its number in the trace. */
void accounts_add(struct accounts *accounts, const struct spool_header *header, uint32_t index);

/*
 * What became of them. acts names what a plug-in's acts are, by the name in the control page; NULL:
 * just that. clock tells what a tick is worth. Texts of notes are the callee's for the call only.
 */
struct accounts_tell {
	const char *host;
	const struct run_clock *clock;
	const char *(*acts)(const char *name);
	void *arg;
	void (*note)(void *arg, const struct note *note);
};

void accounts_tell(const struct accounts *accounts, const struct control *control,
		   const struct accounts_tell *to);

#endif
