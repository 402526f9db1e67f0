/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Simulates a liblustreapi before 2.7, which can set the first target of a file only. Requests are
 * logged to STANDIN_LOG.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int llapi_file_create(const char *name, unsigned long long size, int offset, int count,
		      int pattern);

int llapi_file_create(const char *name, unsigned long long size, int offset, int count, int pattern)
{
	const char *slash = strrchr(name, '/'), *path = getenv("STANDIN_LOG");
	int log = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
	int fd = open(name, O_WRONLY | O_CREAT | O_NOCTTY | O_ASYNC, 0644);

	if (fd < 0)
		return -errno;
	close(fd);
	if (log >= 0) {
		dprintf(log, "old %s %llu %d %d %d\n", slash ? slash + 1 : name, size, offset,
			count, pattern);
		close(log);
	}
	return 0;
}
