/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles signals on an alternate stack that is as small as the machine allows, plus what the guest
 * may need: 2 KiB. Below it is a page that cannot be accessed.
 */
#include "prog.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#define GUEST_BYTES 2048
/* For the handler itself and for the functions of libc that it calls. */
#define HANDLER_BYTES 512

static volatile sig_atomic_t handled;

HANDLER static void handle(int signal)
{
	int saved = errno, fd = open("file", O_CREAT | O_WRONLY | O_TRUNC, 0644);

	(void)signal;
	if (fd >= 0 && write(fd, "hello", 5) == 5 && ftruncate(fd, 2) == 0 && close(fd) == 0)
		handled++;
	/* A descriptor that no recorded call has opened. */
	lseek(2, 0, SEEK_CUR);
	unlink("file");
	errno = saved;
}

/* The stack ends at the top of its last page, and the page below it cannot be accessed. */
static void stack_set(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
	char *base = mmap(NULL, room + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = base + page, .ss_size = bytes };

	MUST(base != MAP_FAILED && mprotect(base + page, room, PROT_READ | PROT_WRITE) == 0);
	MUST(sigaltstack(&stack, NULL) == 0);
}

/* The bytes of the kernel's frame, and a margin for the handler. */
static size_t needed_bytes(void)
{
	size_t least = getauxval(AT_MINSIGSTKSZ);

	return (least ? least : (size_t)MINSIGSTKSZ) + HANDLER_BYTES + GUEST_BYTES;
}

static void raise_many(int times)
{
	for (int i = 0; i < times; i++)
		raise(SIGUSR1);
}

/* signals: the first call of a child is in the handler, so it joins the run on this stack */
static int signals(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
	pid_t child;

	(void)argc;
	(void)argv;
	stack_set(needed_bytes());
	MUST(sigaction(SIGUSR1, &action, NULL) == 0);
	raise_many(3000);
	child = fork();
	MUST(child >= 0);
	if (child == 0) {
		raise_many(3000);
		_exit(handled == 6000 ? 0 : 1);
	}
	printf("child %d, handled %d\n", child_code(child), (int)handled);
	return 0;
}

CASES(CASE(signals))
