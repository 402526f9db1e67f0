/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @prepare
 * @also shell
 * @disk
 * @attempts 20
 * @only
 * @set SLUICE_FINDINGS_TIME_PERCENT=15
 * @set SLUICE_STATS_PERIOD=100ms
 */
#include "paced.h"

/* A file that is not in the page cache, without read-ahead of the kernel, and some computing. */
static void program(void)
{
	const off_t all = 64 * MIB, bytes = 64 * KIB;
	struct pace pace;
	int fd;

	if (prepares) {
		fd = file_of(0);
		for (off_t at = 0; at < all; at += (off_t)sizeof(block))
			MUST(write(fd, block, sizeof(block)) == sizeof(block));
		MUST(fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
		return;
	}
	pace = pace_begin("pace.c");
	fd = open(path, O_RDONLY);
	MUST(fd >= 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) == 0);
	for (off_t at = 0; at < all; at += bytes) {
#ifdef FIX
		off_t offset = at + 128 * bytes;
#include FIX
#endif
		paced_read(&pace, fd, (size_t)bytes, at);
	}
	close(fd);
	pace_end(&pace);
}
