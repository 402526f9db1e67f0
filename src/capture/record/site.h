/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Joins the run that the site's policy provides for a process that was not started by `sluice run`,
 * and hands its spool to the daemon (contract/policy.h, contract/handover.h). Guest.
 *
 * Without a policy page, all of this is one system call that fails. The daemon is never waited for,
 * and no descriptor stays open: files are opened again by their names when they are needed, so a
 * program that closes all descriptors does no harm.
 *
 * A process that starts in a sandbox (sandbox.h) does not join: nothing tells which system calls
 * are allowed there.
 */
#ifndef SLUICE_CAPTURE_RECORD_SITE_H
#define SLUICE_CAPTURE_RECORD_SITE_H

#include <stdbool.h>

#include "capture/record/capture.h"

#pragma GCC visibility push(hidden)

/*
 * Decides by the policy, and maps the control page of the run, which it creates if there is none.
 * NULL: the process is not to be recorded. Sets members of *m.
 */
struct control *site_find_control(struct membership *m);

/*
 * Maps a file of the site read-only, of which *bytes bytes are needed and max are allowed; *bytes
 * becomes its size. Like the policy page, it must be provided by root or the site. NULL if there is
 * none. For one thread before the gate opens, or one that has the process for itself.
 */
const void *site_map_file(const char *name, uint64_t *bytes, uint64_t max);

/* Has the daemon completed the trace of the run? Then nobody reads another spool. */
bool site_is_closed(const struct membership *m);

/* Writes what names of this process's files begin with; "" if it was started by `sluice run`. */
char *site_put_prefix(const struct membership *m, char *name);

/* Passes descriptors of the files to the daemon. Does nothing if the site does not record. */
void site_hand_over(struct membership *m);

/* The same, if the daemon has asked for it since. Cheap otherwise. */
void site_follow(struct membership *m);

/* In a forked child: forgets what other threads of the parent were doing. */
void site_forget(void);

/* Would the site record this program in the same run? True if it was started by `sluice run`. */
bool site_includes(const struct membership *m, const char *program);

#pragma GCC visibility pop

#endif
