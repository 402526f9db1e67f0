/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waits for the output of a command that popen starts, and writes a little to a file.
 */
#include "prog.h"

int main(void)
{
	FILE *pipe = popen("sleep 1; echo hi", "r"), *file = fopen("file", "w");
	char text[16];

	MUST(pipe && file && fgets(text, sizeof(text), pipe));
	MUST(fputs(text, file) >= 0 && !fclose(file));
	MUST(pclose(pipe) == 0);
	return 0;
}
