/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All ways to create a process, and how a child uses its parent's descriptors.
 */
#include "prog.h"

#include <ftw.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>

extern char **environ;

/* The parent writes twice and the child three times to the same open file, and once to its own. */
static int plain(int argc, char **argv)
{
	int log = file_make("log");
	pid_t pid;

	(void)argc, (void)argv;
	put(log, "p1\n");
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		int own = file_make("own");

		put(log, "c1\n");
		put(log, "c2\n");
		put(log, "c3\n");
		put(own, "own\n");
		close(own);
		close(log);
		_exit(3);
	}
	printf("child %d\n", child_code(pid));
	put(log, "p2\n");
	close(log);
	return 0;
}

static atomic_bool stop;

static void *writer(void *arg)
{
	int fd = *(int *)arg;

	while (!stop)
		MUST(pwrite(fd, "x", 1, 0) == 1);
	return NULL;
}

static void *forker(void *arg)
{
	int fd = *(int *)arg;

	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (!pid) {
			for (int j = 0; j < 100; j++)
				MUST(pwrite(fd, "y", 1, 1 + i) == 1);
			_exit(i);
		}
		printf("child %d\n", child_code(pid));
	}
	return NULL;
}

/* A thread forks while four others are writing. */
static int in_thread(int argc, char **argv)
{
	int fd = file_make("busy");
	pthread_t threads[5];

	(void)argc, (void)argv;
	for (int i = 0; i < 4; i++)
		MUST(!pthread_create(&threads[i], NULL, writer, &fd));
	MUST(!pthread_create(&threads[4], NULL, forker, &fd));
	pthread_join(threads[4], NULL);
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	close(fd);
	return 0;
}

/* Four generations; each writes to the files of all its ancestors and to its own. */
static int generations(int argc, char **argv)
{
	char name[] = "gen0";
	int fds[4], depth;

	(void)argc, (void)argv;
	for (depth = 0; depth < 4; depth++) {
		pid_t pid;

		name[3] = (char)('0' + depth);
		fds[depth] = file_make(name);
		for (int i = 0; i <= depth; i++)
			put(fds[i], name);
		if (depth == 3)
			break;
		pid = fork();
		MUST(pid >= 0);
		if (pid) {
			int code = child_code(pid);

			for (int i = 0; i <= depth; i++)
				put(fds[i], "!");
			_exit(code + 1);
		}
	}
	_exit(10);
}

/* Forks by system calls, so that no atfork handlers run. */
static int raw(int argc, char **argv)
{
	int log = file_make("log");
	pid_t pid;

	(void)argc, (void)argv;
	put(log, "p1\n");
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	MUST(pid >= 0);
	if (!pid) {
		put(log, "c1\n");
		put(log, "c2\n");
		_exit(4);
	}
	printf("child %d\n", child_code(pid));
	put(log, "p2\n");
	return 0;
}

static int visited_fd, visited_writes;

static int visit(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	pid_t pid;

	(void)path, (void)st, (void)flag, (void)ftw;
	pid = fork();
	MUST(pid >= 0);
	for (int i = 0; !pid && i < visited_writes; i++)
		put(visited_fd, "visit\n");
	if (!pid)
		return 5; /* the child returns from nftw, which only the parent has called */
	printf("child %d\n", child_code(pid));
	put(visited_fd, "parent\n");
	return 6;
}

/* inside_call N: the child returns from a library call that its parent has entered, after N writes
 * inside it. */
static int inside_call(int argc, char **argv)
{
	int r;

	visited_writes = argc > 0 ? atoi(argv[0]) : 0;
	visited_fd = file_make("visited");
	fflush(stdout);
	r = nftw(".", visit, 4, FTW_PHYS);
	for (int i = 0; i < 5; i++)
		put(visited_fd, r == 5 ? "child\n" : "again\n");
	fflush(stdout);
	_exit(r);
}

static int pty(int argc, char **argv)
{
	int master, out = file_make("out");
	char text[64];
	ssize_t n, got = 0;
	pid_t pid = forkpty(&master, NULL, NULL, NULL);

	(void)argc, (void)argv;
	MUST(pid >= 0);
	if (!pid) {
		put(1, "hello\n");
		put(out, "child\n");
		_exit(7);
	}
	while (got < (ssize_t)sizeof(text) &&
	       (n = read(master, text + got, sizeof(text) - (size_t)got)) > 0)
		got += n;
	put(out, "parent\n");
	printf("child %d, %zd bytes\n", child_code(pid), got);
	return 0;
}

/* The child closes and replaces its copies and calls _exit; those of the parent stay unchanged. */
static int vfork_exit(int argc, char **argv)
{
	int log = file_make("log"), other = file_make("other");
	pid_t pid;

	(void)argc, (void)argv;
	put(log, "p1\n");
	pid = vfork();
	MUST(pid >= 0);
	if (!pid) {
		close(log);
		dup2(other, log);
		if (write(log, "into other\n", 11) != 11)
			_exit(1);
		close(other);
		_exit(8);
	}
	printf("child %d\n", child_code(pid));
	put(log, "p2\n");
	put(other, "o1\n");
	return 0;
}

static int vfork_exec(int argc, char **argv)
{
	int log = file_make("log"), other = file_make("other");
	pid_t pid;

	(void)argc, (void)argv;
	put(log, "p1\n");
	pid = vfork();
	MUST(pid >= 0);
	if (!pid) {
		dup2(other, 1);
		close(log);
		execl("/bin/echo", "echo", "from the child", (char *)NULL);
		_exit(127);
	}
	printf("child %d\n", child_code(pid));
	put(log, "p2\n");
	put(other, "o1\n");
	return 0;
}

/* A child of vfork calls vfork itself, and closes descriptors after its own child has ended. */
static int vfork_twice(int argc, char **argv)
{
	int log = file_make("log");
	pid_t pid;

	(void)argc, (void)argv;
	pid = vfork();
	MUST(pid >= 0);
	if (!pid) {
		volatile pid_t inner = vfork();
		int status = 0;

		if (!inner)
			_exit(2);
		waitpid(inner, &status, 0);
		close(log);
		_exit(WEXITSTATUS(status) + 1);
	}
	printf("child %d\n", child_code(pid));
	put(log, "p1\n");
	return 0;
}

/* vfork in a loop, with programs that exist and programs that do not. */
static int vfork_many(int argc, char **argv)
{
	int log = file_make("log"), codes = 0;

	(void)argc, (void)argv;
	for (int i = 0; i < 100; i++) {
		pid_t pid = vfork();

		MUST(pid >= 0);
		if (!pid) {
			close(log);
			execl(i % 2 ? "/bin/true" : "/nonexistent/x", "x", (char *)NULL);
			_exit(9);
		}
		codes += child_code(pid);
		put(log, "p");
	}
	printf("codes %d\n", codes);
	return 0;
}

static int spawn(int argc, char **argv)
{
	int log = file_make("log");
	posix_spawn_file_actions_t actions;
	char *arguments[] = { "sh", "-c", "echo spawned; exec 1>&-; exit 5", NULL };
	pid_t pid;

	(void)argc, (void)argv;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "spawned", O_WRONLY | O_CREAT, 0644);
	posix_spawn_file_actions_addclose(&actions, log);
	MUST(posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, environ) == 0);
	printf("child %d\n", child_code(pid));
	posix_spawn_file_actions_destroy(&actions);
	printf("missing: %d\n",
	       posix_spawn(&pid, "/nonexistent/x", NULL, NULL, arguments, environ));
	put(log, "p1\n");
	return 0;
}

static int shells(int argc, char **argv)
{
	int log = file_make("log"), status;
	char text[64] = "";
	FILE *pipe;

	(void)argc, (void)argv;
	fflush(stdout);
	status = system("echo from system; exit 6");
	printf("system %d\n", WEXITSTATUS(status));
	pipe = popen("echo from popen; exit 7", "r");
	MUST(pipe && fgets(text, sizeof(text), pipe));
	printf("popen %s", text);
	status = pclose(pipe);
	printf("pclose %d\n", WEXITSTATUS(status));
	pipe = popen("cat >piped", "w");
	MUST(pipe && fputs("into popen\n", pipe) >= 0);
	status = pclose(pipe);
	printf("pclose %d\n", WEXITSTATUS(status));
	put(log, "p1\n");
	return 0;
}

/* chain N: writes a file and calls exec on itself N times; a failing exec changes nothing. */
static int chain(int argc, char **argv)
{
	int left = argc > 0 ? atoi(argv[0]) : 0;
	char name[16], number[16];
	int fd;

	snprintf(name, sizeof(name), "link%d", left);
	fd = file_make(name);
	put(fd, "before\n");
	execl("/nonexistent/x", "x", (char *)NULL);
	printf("%d: %s\n", left, strerror(errno));
	fflush(stdout);
	put(fd, "after\n");
	if (!left)
		return 11;
	snprintf(number, sizeof(number), "%d", left - 1);
	execl("/proc/self/exe", "forks", "chain", number, (char *)NULL);
	return 99;
}

/* The parent closes a descriptor after the fork; the child uses it after opening many other files.
 */
static int old_descriptor(int argc, char **argv)
{
	int rounds = argc > 0 ? atoi(argv[0]) : 70000;
	int log = file_make("log");
	pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid) {
		for (int i = 0; i < rounds; i++)
			close(open("/dev/null", O_RDONLY));
		put(log, "late\n");
		_exit(0);
	}
	close(log);
	printf("child %d\n", child_code(pid));
	return 0;
}

/* Many short-lived children, one after the other: no resource may leak. */
static int many(int argc, char **argv)
{
	int n = argc > 0 ? atoi(argv[0]) : 300, codes = 0, log = file_make("log");

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (!pid) {
			put(log, "c");
			_exit(1);
		}
		codes += child_code(pid);
	}
	printf("codes %d\n", codes);
	return 0;
}

/* outlive MS: a grandchild continues to write after its parent has ended. */
static int outlive(int argc, char **argv)
{
	int ms = argc > 0 ? atoi(argv[0]) : 300, log = file_make("log");
	pid_t pid = fork();

	MUST(pid >= 0);
	if (pid)
		return 0;
	setsid();
	freopen("/dev/null", "w", stdout);
	freopen("/dev/null", "w", stderr);
	for (int i = 0; i < ms / 10; i++) {
		put(log, "x");
		pause_ms(10);
	}
	put(log, "end");
	_exit(0);
}

/* outlive_late MS: the same, but Sluice does not see the fork, and the first call comes late. */
static int outlive_late(int argc, char **argv)
{
	int ms = argc > 0 ? atoi(argv[0]) : 300, log = file_make("log");
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	MUST(pid >= 0);
	if (pid)
		return 0;
	pause_ms(ms);
	put(log, "end");
	_exit(0);
}

CASES(CASE(plain), CASE(in_thread), CASE(generations), CASE(raw), CASE(inside_call), CASE(pty),
      CASE(vfork_exit), CASE(vfork_exec), CASE(vfork_twice), CASE(vfork_many), CASE(spawn),
      CASE(shells), CASE(chain), CASE(old_descriptor), CASE(many), CASE(outlive),
      CASE(outlive_late))
