/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files in memory, for readers that take a path.
 */
#ifndef SLUICE_TESTS_FUZZ_MEMORY_FILE_H
#define SLUICE_TESTS_FUZZ_MEMORY_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_PATH 64

/* Writes the bytes to a file in memory. Returns its descriptor, or -1; path receives its name. */
static inline int memory_file(char path[MEMORY_PATH], const void *bytes, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	snprintf(path, MEMORY_PATH, "/proc/self/fd/%d", fd);
	if (fd >= 0 && n && write(fd, bytes, n) != (ssize_t)n) {
		close(fd);
		return -1;
	}
	return fd;
}

#endif
