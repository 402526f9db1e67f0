/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's host of in-line plug-ins (include/sluice/plugin.h): starts those that the control
 * page names, tells them of calls right after they end, asks them for hints, and keeps account.
 * Guest.
 *
 * Wrappers call inline_after() only if frame_watched() is true: a call that no plug-in wants costs
 * one test. Hooks run outside our own code (level is that of the
 * call), so signal handlers are recorded as anywhere. They run once the call's record is published,
 * with the call made current again: what they call is recorded beneath it. hooking.at bars the way
 * to further hooks meanwhile, also for handlers that interrupt one.
 *
 * Accounts are kept per thread and added to those of the spool after 1, 2, 4, ... 64, 64 hooks,
 * when the thread ends and when the process exits: they lack at most the last 63 of a thread that
 * was killed.
 *
 * Over the budget: time alone does not tell a slow hook from a thread that was put aside in the
 * midst of it. So the first time makes the plug-in a suspect: its next INLINE_SUSPECT_CALLS hooks
 * are watched exactly, at the price of some system calls, and one that exceeds the budget by itself
 * is its last.
 */
#ifndef SLUICE_CAPTURE_INLINE_HOST_H
#define SLUICE_CAPTURE_INLINE_HOST_H

#include <sluice/plugin.h>

#include "capture/inline/after.h"
#include "capture/record/frame.h"

#define INLINE_SUSPECT_CALLS 1000
#define INLINE_FLUSH_CALLS 64

#pragma GCC visibility push(hidden)

/* Those that need no library; ends with NULL. */
extern const struct sluice_plugin *const inline_builtin[];

/*
 * When the process has joined a run: starts the plug-ins that are built in, and libraries if they
 * are loaded already, as in a forked child. Signals are held.
 */
void inline_start(void);

/* From our constructor, after inline_start(): loads and starts libraries. Once per image. */
void inline_load(void);

/* In a forked child: forgets the parent's plug-ins, but keeps their libraries loaded. */
void inline_forget(struct self *s);

/*
 * Asks the plug-ins in their order until one has an opinion; *by is its number in the control page.
 * False, and the answer is empty, if none has. From inside a wrapper, before the real call.
 */
bool inline_suggest(struct frame *f, const struct sluice_query *query, struct sluice_answer *answer,
		    unsigned *by);

/* Counts something that a plug-in's answer has brought about. */
void inline_acted(unsigned plugin, unsigned acts);

/* Adds what the thread has in its accounts to those of the spool. */
void inline_flush(struct self *s);

#pragma GCC visibility pop

#endif
