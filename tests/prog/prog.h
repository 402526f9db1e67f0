/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the test programs. A program contains several cases; its first argument names the one
 * to run. The output of a case must be the same in every run, because the tests compare it with and
 * without capturing.
 */
#ifndef SLUICE_TESTS_PROG_H
#define SLUICE_TESTS_PROG_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Checks a precondition of the case. */
#define MUST(condition)                                                                    \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, \
				strerror(errno));                                          \
			_exit(99);                                                         \
		}                                                                          \
	} while (0)

/* Marks signal handlers: qemu-user 7.2 calls them with a misaligned stack. */
#ifdef __x86_64__
#define HANDLER __attribute__((force_align_arg_pointer))
#else
#define HANDLER
#endif

struct prog_case {
	const char *name;
	int (*run)(int argc, char **argv); /* arguments after the name */
};

#define CASES(...)                                                                        \
	int main(int argc, char **argv)                                                   \
	{                                                                                 \
		static const struct prog_case cases[] = { __VA_ARGS__ };                  \
                                                                                          \
		for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) \
			if (!strcmp(cases[i].name, argv[1]))                              \
				return cases[i].run(argc - 2, argv + 2);                  \
		fprintf(stderr, "%s: no such case\n", argv[0]);                           \
		return 98;                                                                \
	}

#define CASE(function)              \
	{                           \
#function, function \
	}

static inline int file_make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	MUST(fd >= 0);
	return fd;
}

static inline void put(int fd, const char *text)
{
	MUST(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

/* Waits for a child and returns its exit code, or 128 plus the signal. */
static inline int child_code(pid_t pid)
{
	int status;

	MUST(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static inline void pause_ms(int ms)
{
	usleep((useconds_t)ms * 1000);
}

#endif
