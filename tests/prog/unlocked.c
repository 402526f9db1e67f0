/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads and writes by getc_unlocked and putc_unlocked, which are macros here, alone and mixed with
 * functions. Prints the bytes that each case moves.
 */
#include "prog.h"

#include <string.h>

static FILE *must_open(const char *path, const char *mode)
{
	FILE *f = fopen(path, mode);

	MUST(f);
	return f;
}

static long copy_rest(FILE *in, FILE *out)
{
	long n = 0;

	for (int c; (c = getc_unlocked(in)) != EOF; n++)
		putc_unlocked(c, out);
	return n;
}

/* Macros and functions on the same two streams. The macros come first: what they take before the
 * first call of libc cannot be seen. */
static long copy_mixed(FILE *in, FILE *out)
{
	char block[3000];
	long n = 0;

	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 1000; k++, n++)
			putc_unlocked(getc_unlocked(in), out);
		MUST(fread(block, 1, sizeof(block), in) == sizeof(block));
		MUST(fwrite(block, 1, sizeof(block), out) == sizeof(block));
		n += (long)sizeof(block);
		MUST(fputc(fgetc(in), out) != EOF);
		MUST(fgets(block, 50, in) && fputs(block, out) >= 0);
		n += 1 + (long)strlen(block);
	}
	return n + copy_rest(in, out);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "copy";
	FILE *in = must_open("in", "r"), *out = must_open("out", "w");
	long n = 0;

	if (!strcmp(what, "copy")) {
		n = copy_rest(in, out);
	} else if (!strcmp(what, "mixed")) {
		n = copy_mixed(in, out);
	} else if (!strcmp(what, "some")) { /* neither to the end of the file nor a full buffer */
		for (; n < 100; n++)
			putc_unlocked(getc_unlocked(in), out);
	} else { /* to stdout, which libc flushes at exit */
		for (int c; (c = getc_unlocked(in)) != EOF; n++)
			putchar_unlocked(c);
		return 0;
	}
	MUST(!fclose(in) && !fclose(out));
	printf("%ld\n", n);
	return 0;
}
