/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that start others in every way, and processes that lose records for a given reason.
 */
#include "prog.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static const char *path;
static char *arguments[] = { "x", NULL };

static void by_execve(void)
{
	execve(path, arguments, environ);
}

static void by_execv(void)
{
	execv(path, arguments);
}

static void by_execvp(void)
{
	execvp(path, arguments);
}

static void by_execvpe(void)
{
	execvpe(path, arguments, environ);
}

static void by_execl(void)
{
	execl(path, "x", "1", "2", (char *)NULL);
}

static void by_execlp(void)
{
	execlp(path, "x", (char *)NULL);
}

static void by_execle(void)
{
	execle(path, "x", "1", (char *)NULL, environ);
}

static void by_fexecve(void)
{
	fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environ);
}

static void by_execveat(void)
{
	execveat(AT_FDCWD, path, arguments, environ, 0);
}

/* The name is looked up in the directory of the program. */
static void by_search(void)
{
	char *slash = strrchr(path, '/');

	*slash = 0;
	setenv("PATH", path, 1);
	execlp(slash + 1, "x", (char *)NULL);
}

/* After attempts that fail, and that must not be counted. */
static void by_second_try(void)
{
	errno = 0;
	MUST(execv("/nonexistent/program", arguments) == -1 && errno == ENOENT);
	MUST(execl("/dev/null", "x", (char *)NULL) == -1 && errno == EACCES);
	execv(path, arguments);
}

static void start(const char *how, void (*begin)(void))
{
	pid_t pid = fork();

	MUST(pid >= 0);
	if (!pid) {
		begin();
		_exit(97);
	}
	printf("%s %d\n", how, child_code(pid));
	fflush(stdout);
}

/* each PROGRAM: starts the program 14 times. */
static int each(int argc, char **argv)
{
	pid_t pid;

	MUST(argc == 1);
	path = argv[0];
	start("execve", by_execve);
	start("execv", by_execv);
	start("execvp", by_execvp);
	start("execvpe", by_execvpe);
	start("execl", by_execl);
	start("execlp", by_execlp);
	start("execle", by_execle);
	start("fexecve", by_fexecve);
	start("execveat", by_execveat);
	start("search", by_search);
	start("second try", by_second_try);
	pid = vfork();
	if (!pid) {
		execv(path, arguments);
		_exit(97);
	}
	printf("vfork %d\n", child_code(pid));
	MUST(posix_spawn(&pid, path, NULL, NULL, arguments, environ) == 0);
	printf("posix_spawn %d\n", child_code(pid));
	MUST(posix_spawnp(&pid, path, NULL, NULL, arguments, environ) == 0);
	printf("posix_spawnp %d\n", child_code(pid));
	MUST(posix_spawn(&pid, "/nonexistent", NULL, NULL, arguments, environ) == ENOENT);
	return 0;
}

/* shells: two shells that libc starts without the variables of the run. */
static int shells(int argc, char **argv)
{
	FILE *pipe;

	(void)argc, (void)argv;
	clearenv();
	printf("system %d\n", system("exit 3") >> 8);
	pipe = popen("exit 4", "r");
	MUST(pipe);
	printf("popen %d\n", pclose(pipe) >> 8);
	return 0;
}

static void write_often(long n)
{
	int fd = file_make("file");

	for (long i = 0; i < n; i++)
		MUST(pwrite(fd, "x", 1, i % 100) == 1);
	close(fd);
	printf("%ld\n", n);
}

/* memory N: the address space is used up, then N writes. */
static int memory(int argc, char **argv)
{
	struct rlimit limit;
	long pages;
	FILE *statm = fopen("/proc/self/statm", "r");

	MUST(argc == 1 && statm && fscanf(statm, "%ld", &pages) == 1);
	fclose(statm);
	printf("%s", "");
	limit.rlim_cur = limit.rlim_max = (rlim_t)(pages + 16) * (rlim_t)sysconf(_SC_PAGESIZE);
	MUST(!setrlimit(RLIMIT_AS, &limit));
	write_often(atol(argv[0]));
	return 0;
}

/* sandbox N: a seccomp filter lets opening and allocating fail with EPERM, then N writes. */
static int sandbox(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };
	int fd = file_make("file");

	MUST(argc == 1);
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 77;
	for (long i = 0; i < atol(argv[0]); i++)
		MUST(pwrite(fd, "x", 1, i % 100) == 1);
	return 0;
}

CASES(CASE(each), CASE(shells), CASE(memory), CASE(sandbox))
