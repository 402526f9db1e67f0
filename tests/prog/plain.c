/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A few calls of each kind. Also linked statically, and made set-user-id by the tests.
 */
#include "prog.h"

int main(int argc, char **argv)
{
	FILE *f = fopen("plain.stream", "w");
	char text[16] = "";
	int fd = file_make("plain.file");

	MUST(f && fputs("stream\n", f) >= 0 && !fclose(f));
	put(fd, "file\n");
	MUST(lseek(fd, 0, SEEK_SET) == 0 && read(fd, text, sizeof(text)) == 5);
	close(fd);
	printf("%s%s", argc > 1 ? argv[1] : "", text);
	fprintf(stderr, "to stderr\n");
	return 23;
}
