/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes and threads as /proc shows them. Used to find out whether the processes of a run are
 * still alive.
 */
#ifndef SLUICE_BASE_PROCESS_H
#define SLUICE_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start time in clock ticks since boot, which with the pid identifies a process. 0: it exited. */
uint64_t process_start(int pid);

/* Whether its first thread waits for something other than a processor or a disk. */
bool process_is_idle(int pid);

/* A descriptor that becomes readable when the process exits; -1 if the kernel has no pidfds. */
int process_pidfd(int pid);

/* Whether a thread exists. False only if it has certainly exited. */
bool process_has_thread(int pid, int tid);

/* Inode of the caller's PID namespace; 0: unknown. */
uint64_t process_namespace(void);

/* A process of another PID namespace, with its pid there (0: unknown). */
struct process_foreign {
	uint64_t namespace;
	int pid;
};

struct process_scan {
	struct process_foreign *list;
	size_t count, cap;
	uint64_t since; /* processes that started earlier are ignored; as process_start() */
	bool blind;	/* some processes of the user could not be inspected */
};

/* Lists the visible processes of all PID namespaces but `own`. */
void process_scan(struct process_scan *scan, uint64_t own);
void process_scan_release(struct process_scan *scan);

/* False only if the process has certainly exited. */
bool process_scan_has(const struct process_scan *scan, uint64_t namespace, int pid);

/* Whether a visible process was started with this variable, given as "NAME=VALUE". */
bool process_exists_with(const char *variable);

/* Closes all files but those in the list, and opens /dev/null as the standard files. */
void process_close_files(const int *keep, size_t count);

/*
 * Removes a private directory (base/trusted.h) and the files in it, but no subdirectories. Does
 * nothing with a directory of another user or a symbolic link. The file `last` (NULL: none) is
 * removed after all others, so if the process is killed, what needs that file can continue.
 */
void process_remove_spool(const char *path, const char *last);

#endif
