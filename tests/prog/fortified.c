/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Built with _FORTIFY_SOURCE: the calls below become __read_chk, __open_2, __isoc99_fscanf and
 * similar functions.
 */
#include "prog.h"

#include <sys/socket.h>

int main(int argc, char **argv)
{
	char text[64], path[64];
	volatile size_t size =
		(size_t)argc * 10; /* unknown to the compiler, so that the checks remain */
	int fds[2], fd;
	FILE *f;

	(void)argv;
	fd = file_make("file");
	put(fd, "0123456789abcdefghij\n");
	close(fd);
	fd = open("file", argc ? O_RDONLY : O_WRONLY);
	MUST(fd >= 0);
	MUST(read(fd, text, size) == (ssize_t)size);
	MUST(pread(fd, text, size, 1) == (ssize_t)size);
	close(fd);
	MUST(readlink("/proc/self/exe", path, size) == (ssize_t)size);
	MUST(getcwd(path, sizeof(path) * (size_t)argc) || errno == ERANGE);
	f = fopen("file", "r+");
	MUST(f && fread(text, 1, size, f) == size);
	MUST(fgets(text, (int)size, f));
	MUST(fprintf(f, "%d\n", argc) > 0);
	rewind(f);
	MUST(fscanf(f, "%10s", text) == 1);
	MUST(!fclose(f));
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	MUST(send(fds[0], "0123456789", 10, 0) == 10);
	MUST(recv(fds[1], text, size, 0) == 10);
	printf("%zu %.10s\n", size, text);
	dprintf(1, "%d\n", argc);
	fflush(stdout);
	if (argc > 1) { /* calls __read_chk; `size` hides the overflow from the compiler */
		/* More bytes than fit: libc must still detect it and abort. */
		char small[8];

		MUST(read(open("file", O_RDONLY), small, size * 5) >= 0);
		printf("%d\n", small[0]);
	}
	return 0;
}
