/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

struct piece {
	off_t offset;
};

static __attribute__((unused)) int compare_offsets(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void program(void)
{
	enum { PIECE = 128 * KIB };
	struct piece pieces[101];
	size_t count = sizeof(pieces) / sizeof(*pieces);
	int fd = file_of((off_t)count * PIECE);

	for (size_t i = 0; i < count; i++)
		pieces[i].offset = (off_t)((i * 37 + i * i % 5 * 8) % count * PIECE);
#ifdef FIX
#include FIX
#endif
	for (size_t i = 0; i < count; i++)
		MUST(pread(fd, block, PIECE, pieces[i].offset) == PIECE);
}
