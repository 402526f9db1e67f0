/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Accesses a file by POSIX and by streams. Linked with and without the wrappers.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1, copy;
	char text[16] = "";
	FILE *stream;
	void *map;

	if (fd < 0 || write(fd, "0123456789", 10) != 10 || pwrite(fd, "x", 1, 4095) != 1)
		return 1;
	copy = dup(fd);
	if (lseek(copy, 2, SEEK_SET) != 2 || read(copy, text, 4) != 4 || fsync(fd) != 0)
		return 1;
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || munmap(map, 4096) != 0 || close(copy) != 0 || close(fd) != 0)
		return 1;
	stream = fopen(argv[1], "r+");
	if (!stream || fread(text, 1, 10, stream) != 10 || fseek(stream, 0, SEEK_END) != 0 ||
	    fprintf(stream, "%s %d\n", "formatted", 7) != 12 || fclose(stream) != 0)
		return 1;
	return open("/nonexistent/file", O_RDONLY) >= 0 || unlink(argv[1]) != 0;
}
