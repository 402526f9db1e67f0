/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that give up system calls by seccomp. Each case does its I/O in the sandbox and prints
 * how often errno was changed by a call that succeeded.
 */
#include "prog.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define UNUSUAL 4242
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int null;

/* Leaves the sandbox by the one call that strict mode allows. */
static void leave(int code)
{
	syscall(SYS_exit, code);
}

/* Enough calls to fill several chunks of the spool. */
static long write_many(long calls)
{
	long changed = 0;

	errno = UNUSUAL;
	for (long i = 0; i < calls; i++) {
		MUST(write(null, "x", 1) == 1);
		changed += errno != UNUSUAL;
		errno = UNUSUAL;
	}
	return changed;
}

static void report(long changed)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "alive, errno changed %ld times\n", changed);

	MUST(write(1, text, (size_t)n) == n);
}

/* Allows these calls; every other one ends in `action`. */
static struct sock_fprog *filter_build(uint32_t action, const int *allowed, size_t count)
{
	static struct sock_filter code[64];
	static struct sock_fprog program = { .filter = code };
	unsigned n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < count; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (uint32_t)allowed[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	program.len = (unsigned short)n;
	return &program;
}

static const int worker_calls[] = { SYS_read,  SYS_write,	 SYS_close, SYS_exit,
				    SYS_futex, SYS_rt_sigreturn, SYS_brk,   SYS_exit_group };

static uint32_t action_of(const char *name)
{
	if (strcmp(name, "allow") == 0)
		return SECCOMP_RET_ALLOW;
	if (strcmp(name, "kill") == 0)
		return SECCOMP_RET_KILL_PROCESS;
	return SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA);
}

/* strict */
static int strict(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	null = open("/dev/null", O_WRONLY);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
	report(write_many(5000));
	leave(3);
	return 99;
}

/* filter kill|error prctl|syscall: installs the filter by this function */
static int filter(int argc, char **argv)
{
	struct sock_fprog *program;

	MUST(argc == 2);
	program = filter_build(action_of(argv[0]), worker_calls, COUNT(worker_calls));
	null = open("/dev/null", O_WRONLY);
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (strcmp(argv[1], "prctl") == 0)
		MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == 0);
	else
		MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) == 0);
	report(write_many(20000));
	/* A descriptor that no recorded call has opened. */
	MUST(write(2, "", 0) == 0);
	/* A call that the filter rejects: EPERM, or death. */
	if (open("/dev/null", O_RDONLY) < 0)
		report(errno == EPERM ? 1 : -1);
	leave(4);
	return 99;
}

static pthread_barrier_t barrier;

static void *write_in_thread(void *arg)
{
	long changed;

	(void)arg;
	pthread_barrier_wait(&barrier); /* before the filter is installed */
	pthread_barrier_wait(&barrier); /* after */
	changed = write_many(20000);
	return (void *)changed;
}

/* threads: the filter applies to all threads at once; some have not made a call before */
static int threads(int argc, char **argv)
{
	static const int allowed[] = { SYS_read,    SYS_write,	       SYS_close,
				       SYS_exit,    SYS_futex,	       SYS_brk,
				       SYS_munmap,  SYS_exit_group,    SYS_rt_sigreturn,
				       SYS_madvise, SYS_rt_sigprocmask };
	pthread_t ids[4];
	long changed = 0;

	(void)argc;
	(void)argv;
	null = open("/dev/null", O_WRONLY);
	MUST(!pthread_barrier_init(&barrier, NULL, COUNT(ids) + 1));
	for (size_t i = 0; i < COUNT(ids); i++)
		MUST(!pthread_create(&ids[i], NULL, write_in_thread, NULL));
	pthread_barrier_wait(&barrier);
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
		     filter_build(SECCOMP_RET_KILL_PROCESS, allowed, COUNT(allowed))) == 0);
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < COUNT(ids); i++) {
		void *in_thread = NULL;

		pthread_join(ids[i], &in_thread);
		changed += (long)in_thread;
	}
	report(changed);
	_exit(5);
}

/* forks: a child inherits the filter; its death would be seen in its code */
static int forks(int argc, char **argv)
{
	static const int allowed[] = { SYS_read,	 SYS_write, SYS_close, SYS_exit,
				       SYS_exit_group,	 SYS_clone, SYS_wait4, SYS_set_robust_list,
				       SYS_rt_sigreturn, SYS_brk,   SYS_futex, SYS_rt_sigprocmask };
	pid_t child;
	char code;

	(void)argc;
	(void)argv;
	null = open("/dev/null", O_WRONLY);
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
		   filter_build(SECCOMP_RET_KILL_PROCESS, allowed, COUNT(allowed))) == 0);
	child = fork();
	MUST(child >= 0);
	report(write_many(3000));
	if (child == 0)
		_exit(6);
	code = (char)('0' + child_code(child) % 10);
	put(1, code == '6' ? "child 6\n" : "child died\n");
	_exit(7);
}

/* denies ACTION PROGRAM [ARGUMENT]...: starts a program that must not make some calls of the guest
 */
static int denies(int argc, char **argv)
{
	static const int denied[] = { SYS_fallocate, SYS_readlinkat, SYS_getppid, SYS_getcwd };
	static struct sock_filter code[2 * COUNT(denied) + 2];
	struct sock_fprog program = { .filter = code };
	unsigned n = 0;

	MUST(argc >= 2);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT(denied); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (uint32_t)denied[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action_of(argv[0]));
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	execvp(argv[1], argv + 1);
	return 99;
}

/* clock: the program gives up the CPU's counter */
static int clock_lost(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	null = open("/dev/null", O_WRONLY);
	put(1, "start\n");
#ifdef __x86_64__
	MUST(prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0);
#endif
	report(write_many(100));
	_exit(8);
}

/* failed: a filter that the kernel rejects changes nothing */
static int failed(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	null = open("/dev/null", O_WRONLY);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == -1 && errno == EFAULT);
	MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1 && errno == EFAULT);
	MUST(syscall(SYS_getpid) == getpid());
	MUST(syscall(SYS_write, -1, "", 0) == -1 && errno == EBADF);
	report(write_many(20000));
	return 0;
}

CASES(CASE(strict), CASE(filter), CASE(threads), CASE(forks), CASE(denies), CASE(clock_lost),
      CASE(failed))
