/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams whose buffer a parameter may change.
 */
#include "prog.h"

#include <stdio_ext.h>

#define LINES 20000

static FILE *stream_open(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);

	MUST(f);
	return f;
}

static void lines_write(FILE *f)
{
	for (int i = 0; i < LINES; i++)
		MUST(fprintf(f, "line %d\n", i) > 0);
}

static void lines_check(const char *path)
{
	FILE *f = stream_open(path, "r");
	char line[32], expected[32];

	for (int i = 0; i < LINES; i++) {
		snprintf(expected, sizeof(expected), "line %d\n", i);
		MUST(fgets(line, sizeof(line), f) && strcmp(line, expected) == 0);
	}
	MUST(fgetc(f) == EOF && fclose(f) == 0);
}

/* lines: writes and reads lines, more streams than the guest has buffers for, and again. */
static int lines(int argc, char **argv)
{
	static FILE *many[300];
	char name[32];

	(void)argc;
	(void)argv;
	for (int round = 0; round < 2; round++) {
		FILE *f = stream_open("lines", "w");

		lines_write(f);
		MUST(fclose(f) == 0);
		lines_check("lines");
		for (int i = 0; i < 300; i++) {
			snprintf(name, sizeof(name), "many%d", i);
			many[i] = stream_open(name, "w");
			MUST(fputs("text", many[i]) >= 0);
		}
		for (int i = 0; i < 300; i++)
			MUST(fclose(many[i]) == 0);
	}
	printf("written\n");
	return 0;
}

/* own: the program's own setvbuf is kept, also after data was written; freopen keeps working. */
static int own(int argc, char **argv)
{
	static char buffer[1000];
	FILE *f = stream_open("own", "w");

	(void)argc;
	(void)argv;
	MUST(setvbuf(f, buffer, _IOFBF, sizeof(buffer)) == 0);
	printf("%zu\n", __fbufsize(f));
	lines_write(f);
	MUST(fclose(f) == 0);
	lines_check("own");
	f = stream_open("own", "w");
	MUST(setvbuf(f, NULL, _IONBF, 0) == 0);
	lines_write(f);
	MUST((f = freopen("own2", "w", f)) && fputs("x", f) >= 0 && fclose(f) == 0);
	lines_check("own");
	f = stream_open("left", "w");
	/* It is written at exit. */
	MUST(fputs("left open", f) >= 0);
	return 0;
}

/* special: what is not a regular file keeps its buffer. */
static int special(int argc, char **argv)
{
	FILE *f = stream_open("/dev/null", "w");

	(void)argc;
	(void)argv;
	MUST(fputs("x", f) >= 0 && fclose(f) == 0);
	printf("done\n");
	return 0;
}

CASES(CASE(lines), CASE(own), CASE(special))
