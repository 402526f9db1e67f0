/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	const size_t bytes = 6000000, ranks = 2;
	int rank = rank_fork(), fd = open(path, O_WRONLY | O_CREAT, 0644);
#ifdef FIX
#include FIX
	size_t piece = 25 * 4096;
#else
	size_t share = bytes / ranks, piece = 100000;
#endif

	MUST(fd >= 0);
	for (size_t done = 0; done < share; done += piece) {
		size_t n = share - done < piece ? share - done : piece;

		MUST(pwrite(fd, block, n, (off_t)(rank * share + done)) == (ssize_t)n);
	}
	rank_join(rank);
}
