/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs in-line plug-ins (include/sluice/plugin.h) inside the program: starts those that the control
 * page names, calls their hooks right after the calls that they want, asks them for hints, and
 * accounts for their time. Guest.
 *
 * Wrappers call inline_after() only if frame_watched() is true: a call that no plug-in wants costs
 * one test. Hooks run outside the guest's critical sections (level is that of the call), so
 * signal handlers are recorded as usual. They run after the call's record is published, with the
 * call made current again, so that calls of a hook become its children. While hooks.at is set, no
 * further hooks are called in the thread, also not by signal handlers.
 *
 * Each thread counts its hook calls and adds them to the spool's header after 1, 2, 4, ... 64, 64
 * calls, when the thread ends and when the process exits. If a thread is killed, at most its last
 * 63 hook calls are missing.
 *
 * A hook that exceeds the budget may be slow, or its thread may have been preempted meanwhile. So
 * the first time only makes the plug-in a suspect: for its next INLINE_SUSPECT_CALLS hook calls the
 * CPU time and the preemptions of the thread are read, which takes some system calls. A hook that
 * then exceeds the budget by itself switches the plug-in off.
 * Papers: SIOX-27.
 */
#ifndef SLUICE_CAPTURE_INLINE_HOST_H
#define SLUICE_CAPTURE_INLINE_HOST_H

#include <sluice/plugin.h>

#include "capture/inline/after.h"
#include "capture/record/frame.h"

#define INLINE_SUSPECT_CALLS 1000
#define INLINE_FLUSH_CALLS 64

#pragma GCC visibility push(hidden)

/* The plug-ins that are built into the guest; ends with NULL. */
extern const struct sluice_plugin *const inline_builtin[];

/*
 * When the process has joined a run: starts the built-in plug-ins, and in a forked child also those
 * whose libraries are loaded already. Signals are blocked.
 */
void inline_start(void);

/* From the constructor, after inline_start(): loads libraries and starts their plug-ins. */
void inline_load(void);

/* In a forked child: forgets the parent's plug-ins, but keeps their libraries loaded. */
void inline_forget(struct self *s);

/* The process is sealed (record/sandbox.h): all plug-ins stop. Makes no system call. */
void inline_stop(void);

/*
 * Asks the plug-ins in their order until one has an answer; *by is its index in the control page.
 * False, and the answer is empty, if none has. To be called in a wrapper before the real call.
 */
bool inline_suggest(struct frame *f, const struct sluice_query *query, struct sluice_answer *answer,
		    unsigned *by);

/* The index of a plug-in in the control page; CONTROL_PLUGINS: it is not enabled. */
unsigned inline_index(const struct control *control, const char *name);

/* Counts actions that a plug-in's answer has caused. */
void inline_acted(unsigned plugin, unsigned acts);

/* Adds the thread's hook calls since the last flush to the spool's header. */
void inline_flush(struct self *s);

#pragma GCC visibility pop

#endif
