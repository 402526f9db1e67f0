/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @prepare
 * @disk
 * @attempts 20
 * @with strided-reads
 * @leaves strided-reads
 * @set SLUICE_FINDINGS_TIME_PERCENT=15
 * @set SLUICE_STATS_PERIOD=100ms
 */
#include "paced.h"

/*
 * A file that is not in the page cache, and some computing. Every second piece is read, so that the
 * kernel does not read ahead, but the plug-in does.
 */
static void program(void)
{
	const off_t all = 128 * MIB, bytes = 64 * KIB;
	struct pace pace;
	int fd;

	if (prepares) {
		fd = file_of(0);
		for (off_t at = 0; at < all; at += (off_t)sizeof(block))
			MUST(write(fd, block, sizeof(block)) == sizeof(block));
		MUST(fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
		return;
	}
	pace = pace_begin("pace.sluice");
	fd = open(path, O_RDONLY);
	MUST(fd >= 0);
	for (off_t at = 0; at < all; at += 2 * bytes)
		paced_read(&pace, fd, (size_t)bytes, at);
	close(fd);
	pace_end(&pace);
}
