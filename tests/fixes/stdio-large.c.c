/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	FILE *stream = fopen(path, "w");
	const size_t bytes = MIB;

	MUST(stream);
	for (int i = 0; i < 17; i++) {
#ifdef FIX
#include FIX
#else
		MUST(fwrite(block, 1, bytes, stream) == bytes);
#endif
	}
	MUST(fclose(stream) == 0);
}
