/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that must fail, with invalid and unreadable arguments. Prints each result and errno.
 */
#include "prog.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define SHOW(call)                                                    \
	do {                                                          \
		long r_;                                              \
		errno = 0;                                            \
		r_ = (long)(call);                                    \
		printf("%s = %ld, %s\n", #call, r_, strerror(errno)); \
	} while (0)

#define BAD ((void *)(uintptr_t)1)

/* volatile, so that the compiler does not warn about or optimize invalid arguments. */
static void *volatile bad = BAD;
static void *volatile null = NULL;
static volatile int minus = -1, lots = 100000;

static void descriptors(int fd)
{
	struct iovec vector = { bad, 10 }, *vectors = bad;
	char c;

	SHOW(write(fd, bad, 100));
	SHOW(write(-1, "x", 1));
	SHOW(write(1000, "x", 1));
	SHOW(read(fd, bad, 100));
	SHOW(read(-1, &c, 1));
	SHOW(pread(fd, &c, 1, -5));
	SHOW(pwrite(fd, "x", 1, -5));
	SHOW(pwrite(fd, bad, 5, 0));
	SHOW(writev(fd, &vector, 1));
	SHOW(writev(fd, vectors, 1));
	SHOW(readv(fd, vectors, 2));
	SHOW(readv(fd, &vector, minus));
	SHOW(writev(fd, &vector, lots));
	SHOW(preadv(fd, vectors, 1, 0));
	SHOW(pwritev(fd, vectors, 1, 0));
	SHOW(lseek(fd, -1, SEEK_SET));
	SHOW(lseek(fd, 0, 77));
	SHOW(lseek(-1, 0, SEEK_SET));
	SHOW(close(-1));
	SHOW(close(1000));
	SHOW(dup(-1));
	SHOW(dup2(-1, 5));
	SHOW(dup3(fd, fd, 0));
	SHOW(fcntl(-1, F_GETFL));
	SHOW(fcntl(fd, 9999, 0));
	SHOW(fcntl(fd, F_GETLK, bad));
	SHOW(fsync(-1));
	SHOW(ftruncate(fd, -1));
	SHOW(fstat(fd, bad));
	SHOW(fstat(-1, null));
	SHOW(sendfile(fd, fd, bad, 10));
	SHOW(copy_file_range(fd, bad, fd, bad, 10, 0));
	SHOW(fallocate(fd, 0, -1, 10));
	SHOW(posix_fallocate(fd, -1, 10));
	SHOW(posix_fadvise(-1, 0, 0, 0));
	SHOW(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	SHOW(mmap(NULL, 4096, PROT_READ, MAP_SHARED, -1, 0) == MAP_FAILED);
	SHOW(munmap(bad, 1));
	SHOW(msync(bad, 1, 0));
	SHOW(pipe(bad));
	SHOW(socketpair(1, 1, 0, bad));
	SHOW(recvmsg(fd, bad, 0));
	SHOW(sendmsg(fd, bad, 0));
	SHOW(recv(fd, bad, 1, 0));
}

static void paths(int fd)
{
	char *long_path = malloc(10000), *edge;
	struct stat st;
	char page[64];

	memset(long_path, 'a', 9999);
	long_path[9999] = 0;
	/* A name that ends at the end of mapped memory, and one that is not terminated there. */
	edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(edge + 4096, 4096);
	memset(edge, 'b', 4096);
	SHOW(open(bad, O_RDONLY));
	SHOW(open(null, O_RDONLY));
	SHOW(open("", O_RDONLY));
	SHOW(open(long_path, O_RDONLY));
	SHOW(open(edge + 4000, O_RDONLY));
	edge[4095] = 0;
	SHOW(open(edge + 4000, O_RDONLY));
	SHOW(open(edge, O_RDONLY));
	SHOW(open("/nonexistent/x", O_RDONLY));
	SHOW(open("/", O_WRONLY));
	SHOW(open(bad, O_RDONLY | O_CREAT | 077777777, 0));
	SHOW(openat(-1, bad, O_RDONLY));
	SHOW(openat(-1, "x", O_RDONLY));
	SHOW(openat(fd, "x", O_RDONLY));
	SHOW(stat(null, &st));
	SHOW(stat(bad, &st));
	SHOW(stat(".", bad));
	SHOW(lstat(edge + 4000, &st));
	SHOW(fstatat(-1, bad, &st, 0));
	SHOW(access(bad, 0));
	SHOW(access(null, 0));
	SHOW(unlink(bad));
	SHOW(unlink(long_path));
	SHOW(rename(bad, "x"));
	SHOW(rename("x", bad));
	SHOW(link("x", null));
	SHOW(symlink(null, "x"));
	SHOW(mkdir(bad, 0));
	SHOW(mkdir("/", 0));
	SHOW(rmdir(long_path));
	SHOW(chmod(bad, 0));
	SHOW(truncate(bad, 0));
	SHOW(truncate("/nonexistent", -1));
	SHOW(readlink(bad, page, sizeof(page)));
	SHOW(readlink("/proc/self/exe", bad, 10));
	SHOW(chdir(bad));
	SHOW(chdir("/nonexistent"));
	SHOW(opendir("/nonexistent") != NULL);
	SHOW(opendir("") != NULL);
}

static void streams(void)
{
	FILE *f;
	char line[8];

	SHOW(fopen("/nonexistent/x", "r") != NULL);
	SHOW(fopen("x", "nonsense") != NULL);
	SHOW(fopen(bad, "r") != NULL);
	SHOW(fdopen(-1, "r") != NULL);
	SHOW(fdopen(1000, "r") != NULL);
	f = fopen("/dev/full", "w");
	MUST(f);
	SHOW(fputs("text", f));
	SHOW(fflush(f));
	SHOW(fclose(f));
	f = fopen("/dev/null", "r");
	MUST(f);
	SHOW(fputs("text", f));
	SHOW(fputc('c', f));
	SHOW(fprintf(f, "%d", 1));
	SHOW(fwrite("x", 1, 1, f));
	SHOW(ferror(f));
	SHOW(fgets(line, sizeof(line), f) != NULL);
	SHOW(fgetc(f));
	SHOW(fseek(f, -1, SEEK_SET));
	SHOW(fclose(f));
	SHOW(popen("true", "nonsense") != NULL);
}

static int all(int argc, char **argv)
{
	int fd = file_make("file");

	(void)argc, (void)argv;
	put(fd, "some text");
	descriptors(fd);
	paths(fd);
	streams();
	/* Calls that succeed leave errno unchanged. */
	errno = 1234;
	put(fd, "more");
	printf("good ");
	close(dup(fd));
	fflush(stdout);
	printf("%d\n", errno);
	return 0;
}

/* A write to a pipe without a reader: SIGPIPE kills the process, or the call returns an error. */
static int broken_pipe(int argc, char **argv)
{
	int fds[2];

	MUST(!pipe(fds));
	close(fds[0]);
	if (argc && !strcmp(argv[0], "ignore")) {
		sigset_t set;

		sigemptyset(&set);
		sigaddset(&set, SIGPIPE);
		sigprocmask(SIG_BLOCK, &set, NULL);
	}
	SHOW(write(fds[1], "x", 1));
	return 0;
}

CASES(CASE(all), CASE(broken_pipe))
