/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptors that the program closes in bulk, with high numbers, and in large numbers; paths
 * relative to directories that change.
 */
#include "prog.h"

#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Opens some files, lets `closes` close all descriptors from 3 on, and continues. */
static int after(void (*closes)(void))
{
	int fd = file_make("before"), again;

	put(fd, "before\n");
	closes();
	printf("write: %zd", write(fd, "x", 1));
	printf(" %s\n", strerror(errno));
	again = file_make("after");
	printf("%s\n", again == fd ? "the same number" : "another number");
	put(again, "after\n");
	put(again, "after\n");
	close(again);
	fflush(stdout);
	return 0;
}

static void by_range(void)
{
	MUST(!close_range(3, ~0u, 0));
}

static void by_from(void)
{
	closefrom(3);
}

static void by_loop(void)
{
	for (int fd = 3; fd < 5000; fd++)
		close(fd);
}

static int range(int argc, char **argv)
{
	(void)argc, (void)argv;
	return after(by_range);
}

static int from(int argc, char **argv)
{
	(void)argc, (void)argv;
	return after(by_from);
}

static int loop(int argc, char **argv)
{
	(void)argc, (void)argv;
	return after(by_loop);
}

/* The three standard descriptors become files, as in a daemon. */
static int standard(int argc, char **argv)
{
	int fds[3];

	(void)argc, (void)argv;
	for (int i = 0; i < 3; i++)
		close(i);
	fds[0] = open("in", O_RDWR | O_CREAT, 0644);
	fds[1] = open("out", O_RDWR | O_CREAT, 0644);
	fds[2] = open("err", O_RDWR | O_CREAT, 0644);
	printf("%d %d %d\n", fds[0], fds[1], fds[2]);
	fflush(stdout);
	fprintf(stderr, "to err\n");
	put(0, "to in\n");
	return 0;
}

/* Printing to a closed standard output fails, and the exit code shows it. */
static int closed_output(int argc, char **argv)
{
	int bad, code;

	(void)argc, (void)argv;
	close(1);
	bad = printf("not read\n");
	code = fflush(stdout);
	fprintf(stderr, "%d %d %s\n", bad, code, strerror(errno));
	return code ? 16 : 0;
}

/* Closes everything, then opens a file and forks: no descriptor of the guest may appear in 0..2. */
static int all_closed(int argc, char **argv)
{
	int fd;
	pid_t pid;

	(void)argc, (void)argv;
	close_range(0, ~0u, 0);
	fd = file_make("first");
	if (fd != 0)
		_exit(20 + fd);
	put(fd, "first\n");
	pid = fork();
	if (!pid) {
		int next = file_make("second");

		put(next, "second\n");
		_exit(next);
	}
	_exit(child_code(pid));
}

static int high(int argc, char **argv)
{
	struct rlimit limit;
	int fd = file_make("high"), most, a, b;

	(void)argc, (void)argv;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (geteuid() == 0)
		limit.rlim_max = limit.rlim_max < (1u << 20) ? 1u << 20 : limit.rlim_max;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		getrlimit(RLIMIT_NOFILE, &limit);
	most = (int)(limit.rlim_cur < 1u << 20 ? limit.rlim_cur : 1u << 20) - 1;
	a = dup2(fd, most);
	MUST(a == most);
	put(a, "by dup2\n");
	b = fcntl(fd, F_DUPFD, most - 10);
	MUST(b == most - 10);
	put(b, "by fcntl\n");
	errno = 0;
	printf("dup2 -1: %d %s\n", dup2(fd, -1), strerror(errno));
	printf("dup2 huge: %d %s\n", dup2(fd, INT_MAX), strerror(errno));
	printf("write huge: %zd %s\n", write(INT_MAX, "x", 1), strerror(errno));
	printf("close -1: %d %s\n", close(-1), strerror(errno));
	printf("close min: %d %s\n", close(INT_MIN), strerror(errno));
	close(a);
	close(b);
	put(fd, "by itself\n");
	return 0;
}

/* many N: opens N files, then writes to each once. */
static int many(int argc, char **argv)
{
	long n = argc > 0 ? atol(argv[0]) : 1000;
	struct rlimit limit = { (rlim_t)n + 100, (rlim_t)n + 100 };
	int *fds = malloc((size_t)n * sizeof(*fds));
	char name[64];

	MUST(fds && !setrlimit(RLIMIT_NOFILE, &limit));
	for (long i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "d%ld/f%ld", i / 1000, i);
		if (i % 1000 == 0) {
			char dir[32];

			snprintf(dir, sizeof(dir), "d%ld", i / 1000);
			MUST(!mkdir(dir, 0755));
		}
		fds[i] = file_make(name);
	}
	for (long i = n - 1; i >= 0; i--)
		put(fds[i], "x");
	for (long i = 0; i < n; i++)
		MUST(!close(fds[i]));
	printf("%ld files\n", n);
	return 0;
}

/* Names relative to a changing directory, to an open directory, and to a link. */
static int relative(int argc, char **argv)
{
	int dir, fd, up;

	(void)argc, (void)argv;
	MUST(!mkdir("a", 0755) && !mkdir("a/b", 0755));
	dir = open("a", O_RDONLY | O_DIRECTORY);
	up = open(".", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0 && up >= 0);
	put(file_make("one"), "1");
	fd = openat(dir, "two", O_WRONLY | O_CREAT, 0644);
	MUST(fd >= 0);
	put(fd, "2");
	MUST(!chdir("a/b"));
	put(file_make("three"), "3");
	put(file_make("./../four"), "4");
	MUST(!fchdir(dir));
	put(file_make("five"), "5");
	MUST(!fchdir(up));
	put(file_make("six"), "6");
	MUST(!chdir("a"));
	if (!fork()) {
		put(file_make("seven"), "7");
		MUST(!chdir(".."));
		put(file_make("eight"), "8");
		_exit(0);
	}
	wait(NULL);
	put(file_make("nine"), "9");
	return 0;
}

/* N: chroot, with N writes before and after; names are relative to the new root then. */
static int new_root(int argc, char **argv)
{
	long n = argc > 0 ? atol(argv[0]) : 100;
	int fd, out = file_make("out");
	pid_t pid;

	MUST(!mkdir("root", 0755));
	if (chroot("root") != 0) {
		printf("chroot: %s\n", strerror(errno));
		return 17;
	}
	MUST(!chdir("/"));
	fd = file_make("/inside");
	for (long i = 0; i < n; i++)
		MUST(pwrite(fd, "x", 1, i) == 1);
	pid = fork();
	if (!pid) {
		put(out, "child\n");
		_exit(18);
	}
	printf("child %d\n", child_code(pid));
	put(out, "parent\n");
	return 0;
}

/* Descriptors made by raw system calls, and then used by calls of libc. */
static int behind(int argc, char **argv)
{
	int a = file_make("a"), b;

	(void)argc, (void)argv;
	put(a, "a");
	syscall(SYS_close, a);
	b = (int)syscall(SYS_openat, AT_FDCWD, "b", O_RDWR | O_CREAT, 0644);
	MUST(b == a);
	put(b, "b");
	close(b);
	printf("%d\n", b == a);
	return 0;
}

CASES(CASE(range), CASE(from), CASE(loop), CASE(standard), CASE(closed_output), CASE(all_closed),
      CASE(high), CASE(many), CASE(relative), CASE(new_root), CASE(behind))
