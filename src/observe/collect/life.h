/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is still there: processes and threads as the kernel shows them, and the directory they leave
 * behind.
 */
#ifndef SLUICE_OBSERVE_COLLECT_LIFE_H
#define SLUICE_OBSERVE_COLLECT_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* Start time of a process in clock ticks since boot: with the pid it is unique. 0 when it is gone.
 */
uint64_t life_start(int pid);

/* False only if the thread is certainly gone. */
bool life_thread(int pid, int tid);

/* Inode of our pid namespace; 0 where unknown. */
uint64_t life_namespace(void);

/* Unlinks the files of a spool directory and the directory itself. */
void life_directory_remove(const char *path);

#endif
