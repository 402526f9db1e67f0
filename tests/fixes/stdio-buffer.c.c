/* SPDX-License-Identifier: BSD-3-Clause */
#include "fix.h"

static void program(void)
{
	FILE *stream = fopen(path, "w");

	MUST(stream);
#ifdef FIX
#include FIX
#endif
	for (int i = 0; i < 17 * 1100; i++)
		MUST(fwrite(block, 1, 1000, stream) == 1000);
	MUST(fclose(stream) == 0);
}
