/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waits until another process waits, so that programs need not guess how long that takes.
 */
#ifndef SLUICE_TESTS_ASLEEP_H
#define SLUICE_TESTS_ASLEEP_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The state of the process as proc(5) names it; 0: unknown. Makes no call that is recorded. */
static inline char process_state(pid_t pid)
{
	char name[32], text[512], *end;
	long fd, n;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	fd = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
	if (fd < 0)
		return 0;
	n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

/* Waits until the process sleeps, for example in a call that waits for a lock. */
static inline void await_sleep(pid_t pid)
{
	while (process_state(pid) != 'S')
		usleep(1000);
}

#endif
