/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A lock that ends with its process, even if that is killed: a file that says who holds it.
 */
#ifndef SLUICE_TUNE_TRIAL_LOCK_H
#define SLUICE_TUNE_TRIAL_LOCK_H

#include <stdbool.h>
#include <stdint.h>

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

/* Adds to a lock that was taken what its holder works on, for lock_find_process(). */
void lock_describe(int lock, int64_t subject);

/* The process that holds a lock, as another process sees it. */
struct lock_process {
	int pid;
	bool is_here;	 /* on this host, and of this user */
	int pidfd;	 /* refers to that process for ever; -1: elsewhere, or an old kernel */
	int64_t subject; /* of lock_describe(); 0: none yet */
	char host[256];
};

/*
 * Finds the process that holds the lock. On this host, it is one that verifiably has the lock now:
 * the kernel says so. On another host, it is the one that the file names. Takes no lock itself, so
 * it disturbs nobody. -ESRCH: there is none, or it belongs to another user. lock_process_release()
 * closes the descriptor.
 */
int lock_find_process(const char *path, struct lock_process *process);
void lock_process_release(struct lock_process *process);

#endif
