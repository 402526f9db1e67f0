/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is still there: processes and threads as the kernel shows them, and the directory they leave
 * behind.
 */
#ifndef SLUICE_BASE_PROCESS_H
#define SLUICE_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start time of a process in clock ticks since boot: with the pid it is unique. 0 when it is gone.
 */
uint64_t process_start(int pid);

/* A descriptor that is readable once the child has ended; -1 where the kernel has no such thing. */
int process_pidfd(int pid);

/* False only if the thread is certainly gone. */
bool process_thread(int pid, int tid);

/* Inode of our pid namespace; 0 where unknown. */
uint64_t process_namespace(void);

/* The processes of other pid namespaces that we can see, by the number they have in there. */
struct process_foreign {
	uint64_t namespace;
	int pid;
};

struct process_scan {
	struct process_foreign *list;
	size_t count, cap;
	uint64_t since; /* who started before is none of ours; as process_start() tells it */
	bool blind;	/* there are some of ours that we may not look at */
};

/* Looks at all processes, those of our own namespace left out. */
void process_scan(struct process_scan *scan, uint64_t own);
void process_scan_release(struct process_scan *scan);

/* False only if there is certainly no such process. */
bool process_scan_has(const struct process_scan *scan, uint64_t namespace, int pid);

/* Unlinks the files of a spool directory and the directory itself. */
void process_directory_remove(const char *path);

#endif
