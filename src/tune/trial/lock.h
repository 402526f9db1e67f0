/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A lock that ends with its process, even if that is killed: a file that says who holds it.
 */
#ifndef SLUICE_TUNE_TRIAL_LOCK_H
#define SLUICE_TUNE_TRIAL_LOCK_H

#include <stdbool.h>

struct err;

/*
 * Takes the lock and returns its descriptor, which the caller closes. -EBUSY if another process
 * holds it; the message says which one. `what` completes "... is already running" in the message.
 */
int lock_take(const char *path, const char *what, struct err *err);

/* Takes a lock that exists. -ENOENT: there is none; -EBUSY: a process holds it. */
int lock_take_over(const char *path);

/* Does the process that took the lock live, as far as this host can tell? Its guardian may hold the
 * lock for a while after it was killed. */
bool lock_is_of_living(const char *path);

/* Who holds the lock: "process 17 on host x". The caller frees the text. */
char *lock_holder(const char *path);

#endif
