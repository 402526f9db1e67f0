/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is still there: processes and threads as the kernel shows them, and the directory they leave
 * behind.
 */
#ifndef SLUICE_OBSERVE_COLLECT_LIFE_H
#define SLUICE_OBSERVE_COLLECT_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start time of a process in clock ticks since boot: with the pid it is unique. 0 when it is gone.
 */
uint64_t life_start(int pid);

/* A descriptor that is readable once the child has ended; -1 where the kernel has no such thing. */
int life_pidfd(int pid);

/* False only if the thread is certainly gone. */
bool life_thread(int pid, int tid);

/* Inode of our pid namespace; 0 where unknown. */
uint64_t life_namespace(void);

/* The processes of other pid namespaces that we can see, by the number they have in there. */
struct life_foreign {
	uint64_t namespace;
	int pid;
};

struct life_scan {
	struct life_foreign *list;
	size_t count, cap;
	uint64_t since; /* who started before is none of ours; as life_start() tells it */
	bool blind;	/* there are some of ours that we may not look at */
};

/* Looks at all processes, those of our own namespace left out. */
void life_scan(struct life_scan *scan, uint64_t own);
void life_scan_release(struct life_scan *scan);

/* False only if there is certainly no such process. */
bool life_scan_has(const struct life_scan *scan, uint64_t namespace, int pid);

/* Unlinks the files of a spool directory and the directory itself. */
void life_directory_remove(const char *path);

#endif
