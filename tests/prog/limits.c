/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Limits on memory and file sizes, and other users: limits that a program sets for itself also
 * apply to the guest.
 */
#include "prog.h"

#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Writes n times in each of several threads, so that the spool has to grow. */
static int file;
static long rounds;

static void *writes(void *arg)
{
	(void)arg;
	for (long i = 0; i < rounds; i++)
		MUST(pwrite(file, "x", 1, i % 100) == 1);
	return NULL;
}

static void work(long n)
{
	pthread_t threads[4];

	file = file_make("file");
	rounds = n;
	for (int i = 0; i < 4; i++)
		MUST(!pthread_create(&threads[i], NULL, writes, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* file_size BYTES N: limits the size of files; SIGXFSZ keeps its default action, which kills. */
static int file_size(int argc, char **argv)
{
	rlim_t bytes = argc > 0 ? (rlim_t)atol(argv[0]) : 1000;
	struct rlimit limit = { bytes, bytes };
	pid_t pid;

	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
	work(argc > 1 ? atol(argv[1]) : 10000);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		put(file, "child");
		_exit(3);
	}
	printf("child %d\n", child_code(pid));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execl("/bin/echo", "echo", "executed", (char *)NULL);
		_exit(127);
	}
	printf("echo %d\n", child_code(pid));
	signal(SIGXFSZ, SIG_IGN);
	errno = 0;
	printf("beyond: %zd %s\n", pwrite(file, "x", 1, (off_t)bytes), strerror(errno));
	return 0;
}

/* memory MB N: limits the address space. */
static int memory(int argc, char **argv)
{
	rlim_t bytes = (argc > 0 ? (rlim_t)atol(argv[0]) : 64) << 20;
	struct rlimit limit = { bytes, bytes };
	pid_t pid;

	MUST(!setrlimit(RLIMIT_AS, &limit));
	work(argc > 1 ? atol(argv[1]) : 100);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		put(file, "child");
		_exit(3);
	}
	printf("child %d\n", child_code(pid));
	return 0;
}

static int locked(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("mlockall %d %s\n", mlockall(MCL_CURRENT | MCL_FUTURE), strerror(errno));
	work(5000);
	printf("munlockall %d\n", munlockall());
	return 0;
}

/* drop UID N: gives up root permanently, then writes and forks. */
static int drop(int argc, char **argv)
{
	uid_t uid = argc > 0 ? (uid_t)atoi(argv[0]) : 65534;
	long n = argc > 1 ? atol(argv[1]) : 100;
	int before = file_make("before");
	pid_t pid;

	put(before, "root\n");
	MUST(!setgroups(0, NULL) && !setgid(uid) && !setuid(uid));
	MUST(setuid(0) != 0);
	for (long i = 0; i < n; i++)
		MUST(pwrite(before, "x", 1, i % 100) == 1);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		put(before, "child\n");
		_exit(4);
	}
	printf("child %d\n", child_code(pid));
	fflush(stdout);
	execl("/bin/echo", "echo", "executed", (char *)NULL);
	return 99;
}

/* no_env: clears the environment, forks, and then executes another program. */
static int no_env(int argc, char **argv)
{
	char *none[] = { NULL };

	(void)argc, (void)argv;
	put(file_make("file"), "x");
	clearenv();
	if (!fork()) {
		put(file_make("child"), "x");
		_exit(0);
	}
	wait(NULL);
	execve("/bin/echo", (char *[]){ "echo", "executed", NULL }, none);
	return 99;
}

/* busy N: N writes of 10 bytes and N/10 reads, for tests of modes, losses and counters. */
static int busy(int argc, char **argv)
{
	long n = argc > 0 ? atol(argv[0]) : 1000;
	char data[10] = "123456789";
	FILE *stream = fopen("stream", "w");

	file = file_make("file");
	MUST(stream);
	for (long i = 0; i < n; i++) {
		MUST(pwrite(file, data, sizeof(data), i * 10) == 10);
		if (i % 10 == 0)
			MUST(pread(file, data, sizeof(data), i * 10) == 10);
		MUST(fputs("line\n", stream) >= 0);
	}
	MUST(!fclose(stream));
	close(file);
	printf("%ld\n", n);
	return 0;
}

static int who(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("real %d effective %d\n", getuid() == geteuid(), geteuid() == 0);
	put(file_make("/tmp/sluice-torture-setuid"), "x");
	unlink("/tmp/sluice-torture-setuid");
	return 19;
}

CASES(CASE(file_size), CASE(memory), CASE(locked), CASE(drop), CASE(no_env), CASE(busy), CASE(who))
