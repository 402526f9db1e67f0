/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	enum { PIECE = 64 * KIB, PIECES = 40 };
	off_t bytes_per_rank = PIECES * PIECE;
	int rank = rank_fork(), fd = open(path, O_WRONLY | O_CREAT, 0644);
#ifdef FIX
#include FIX
	off_t step = PIECE;
#else
	off_t first = rank * PIECE, step = 2 * PIECE;
#endif

	MUST(fd >= 0);
	for (off_t i = 0; i * PIECE < bytes_per_rank; i++)
		MUST(pwrite(fd, block, PIECE, first + i * step) == PIECE);
	rank_join(rank);
}
