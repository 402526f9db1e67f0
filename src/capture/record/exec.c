/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wraps the functions that start programs. Inside libc they call each other by internal names, so
 * each of them needs a wrapper. Those with a list of arguments put it into an array on the stack,
 * as libc does.
 */
#include "capture/record/exec.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/launch.h"

/* The real functions that the wrappers call: result, name, parameters. */
#define EXEC_LIST(X)                                                                            \
	X(execve, (const char *path, char *const argv[], char *const envp[]))                   \
	X(execv, (const char *path, char *const argv[]))                                        \
	X(execvp, (const char *file, char *const argv[]))                                       \
	X(execvpe, (const char *file, char *const argv[], char *const envp[]))                  \
	X(fexecve, (int fd, char *const argv[], char *const envp[]))                            \
	X(execveat,                                                                             \
	  (int directory, const char *path, char *const argv[], char *const envp[], int flags)) \
	X(posix_spawn,                                                                          \
	  (pid_t * pid, const char *path, const posix_spawn_file_actions_t *acts,               \
	   const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]))        \
	X(posix_spawnp,                                                                         \
	  (pid_t * pid, const char *file, const posix_spawn_file_actions_t *acts,               \
	   const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]))        \
	X(system, (const char *command))

#ifdef SLUICE_LINKED

#define WRAPPER(name) EXPORT __wrap_##name
#define DECLARE(name, parameters)            \
	extern int __real_##name parameters; \
	int __wrap_##name parameters;
EXEC_LIST(DECLARE)
int __wrap_execl(const char *path, const char *arg, ...);
int __wrap_execlp(const char *file, const char *arg, ...);
int __wrap_execle(const char *path, const char *arg, ...);
#define REAL(name) __real_##name

void exec_resolve(void *(*find)(const char *name))
{
	(void)find;
}

#else

#define WRAPPER(name) EXPORT name
#define MEMBER(name, parameters) int(*name) parameters;
static struct {
	EXEC_LIST(MEMBER)
} real;

/* The next definition of the function; a call before exec_resolve() has run resolves all of them.
 */
#define REAL(name) (real.name ? real.name : (exec_resolve(real_find), real.name))

/* For a libc that lacks the function. */
static int execveat_by_number(int directory, const char *path, char *const argv[],
			      char *const envp[], int flags)
{
	long r = kernel_call(SYS_execveat, directory, path, argv, envp, flags);

	errno = (int)-r;
	return -1;
}

#define RESOLVE(name, parameters) *(void **)&real.name = find(#name);

void exec_resolve(void *(*find)(const char *name))
{
	int saved = errno;

	EXEC_LIST(RESOLVE)
	if (!real.execveat)
		real.execveat = execveat_by_number;
	errno = saved;
}

#endif

/* Calls the real function after announcing the program; withdraws that if the function returns. */
#define EXEC(launch, call)                                \
	do {                                              \
		bool announced = launch_begin(&(launch)); \
		int ret;                                  \
                                                          \
		if (announced)                            \
			launch_exec(&(launch));           \
		ret = (call);                             \
		if (announced)                            \
			launch_withdraw(&(launch));       \
		return ret;                               \
	} while (0)

int WRAPPER(execve)(const char *path, char *const argv[], char *const envp[])
{
	struct launch l = { .directory = AT_FDCWD, .path = path, .envp = envp };

	EXEC(l, REAL(execve)(path, argv, envp));
}

int WRAPPER(execv)(const char *path, char *const argv[])
{
	struct launch l = { .directory = AT_FDCWD, .path = path, .envp = environ };

	EXEC(l, REAL(execv)(path, argv));
}

int WRAPPER(execvp)(const char *file, char *const argv[])
{
	struct launch l = {
		.directory = AT_FDCWD, .path = file, .searched = true, .envp = environ
	};

	EXEC(l, REAL(execvp)(file, argv));
}

int WRAPPER(execvpe)(const char *file, char *const argv[], char *const envp[])
{
	struct launch l = { .directory = AT_FDCWD, .path = file, .searched = true, .envp = envp };

	EXEC(l, REAL(execvpe)(file, argv, envp));
}

int WRAPPER(fexecve)(int fd, char *const argv[], char *const envp[])
{
	struct launch l = { .directory = fd, .path = "", .envp = envp };

	EXEC(l, REAL(fexecve)(fd, argv, envp));
}

int WRAPPER(execveat)(int directory, const char *path, char *const argv[], char *const envp[],
		      int flags)
{
	struct launch l = { .directory = directory, .path = path, .envp = envp };

	EXEC(l, REAL(execveat)(directory, path, argv, envp, flags));
}

/* The number of arguments in a list that begins with `first` and ends with NULL. */
static size_t count_arguments(const char *first, va_list *rest)
{
	size_t n = 0;

	for (const char *arg = first; arg; arg = va_arg(*rest, const char *))
		n++;
	return n;
}

/* Copies the list and its end; the array has room for both. The caller reads on behind the end,
 * so the list is passed by address: whether a va_list is copied depends on the architecture. */
static void copy_arguments(char **argv, const char *first, va_list *rest)
{
	const char *arg = first;

	for (; arg; arg = va_arg(*rest, const char *))
		*argv++ = (char *)arg;
	*argv = NULL;
}

/*
 * Declares argv with the arguments from `arg` on, and the list, which is behind them. A macro
 * because the array has to be in the frame of the caller.
 */
#define ARGUMENTS(argv, arg)                                                  \
	char **(argv);                                                        \
	va_list list;                                                         \
                                                                              \
	va_start(list, arg);                                                  \
	(argv) = alloca((count_arguments(arg, &list) + 1) * sizeof(*(argv))); \
	va_end(list);                                                         \
	va_start(list, arg);                                                  \
	copy_arguments(argv, arg, &list)

int WRAPPER(execl)(const char *path, const char *arg, ...)
{
	struct launch l = { .directory = AT_FDCWD, .path = path, .envp = environ };

	ARGUMENTS(argv, arg);
	va_end(list);
	EXEC(l, REAL(execv)(path, argv));
}

int WRAPPER(execlp)(const char *file, const char *arg, ...)
{
	struct launch l = {
		.directory = AT_FDCWD, .path = file, .searched = true, .envp = environ
	};

	ARGUMENTS(argv, arg);
	va_end(list);
	EXEC(l, REAL(execvp)(file, argv));
}

/* The environment follows the end of the arguments. */
int WRAPPER(execle)(const char *path, const char *arg, ...)
{
	struct launch l = { .directory = AT_FDCWD, .path = path };

	ARGUMENTS(argv, arg);
	l.envp = va_arg(list, char *const *);
	va_end(list);
	EXEC(l, REAL(execve)(path, argv, l.envp));
}

/* Announces a program that posix_spawn() has started. */
#define SPAWN(launch, function, path, pid, ...)                      \
	do {                                                         \
		bool announced = launch_begin(&(launch));            \
		pid_t child = 0;                                     \
		int ret = REAL(function)(&child, path, __VA_ARGS__); \
                                                                     \
		if (announced && !ret)                               \
			launch_spawned(&(launch), child);            \
		if ((pid) && !ret)                                   \
			*(pid) = child;                              \
		return ret;                                          \
	} while (0)

int WRAPPER(posix_spawn)(pid_t *pid, const char *path, const posix_spawn_file_actions_t *acts,
			 const posix_spawnattr_t *attributes, char *const argv[],
			 char *const envp[])
{
	struct launch l = { .directory = AT_FDCWD, .path = path, .envp = envp };

	SPAWN(l, posix_spawn, path, pid, acts, attributes, argv, envp);
}

int WRAPPER(posix_spawnp)(pid_t *pid, const char *file, const posix_spawn_file_actions_t *acts,
			  const posix_spawnattr_t *attributes, char *const argv[],
			  char *const envp[])
{
	struct launch l = { .directory = AT_FDCWD, .path = file, .searched = true, .envp = envp };

	SPAWN(l, posix_spawnp, file, pid, acts, attributes, argv, envp);
}

int WRAPPER(system)(const char *command)
{
	if (command)
		launch_shell();
	return REAL(system)(command);
}
