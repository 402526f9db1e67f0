/* SPDX-License-Identifier: BSD-3-Clause
 *
 * I/O before main, after main, and in libraries while they are loaded and unloaded.
 */
#include "prog.h"

#include <dlfcn.h>

static void note(const char *text)
{
	int fd = open("notes", O_WRONLY | O_CREAT | O_APPEND, 0644);

	MUST(fd >= 0);
	put(fd, text);
	MUST(!close(fd));
}

/* The loader runs .preinit_array before the constructors of all libraries. */
static void preinit(void)
{
	note("preinit\n");
}

__attribute__((section(".preinit_array"), used)) static void (*preinit_entry)(void) = preinit;

__attribute__((constructor(101))) static void constructor_first(void)
{
	note("constructor\n");
}

__attribute__((destructor(101))) static void destructor_last(void)
{
	note("destructor\n");
}

static void at_exit(void)
{
	note("atexit\n");
}

static int plain(int argc, char **argv)
{
	FILE *left_open = fopen("flushed", "w");

	(void)argc, (void)argv;
	MUST(left_open && fputs("at exit\n", left_open) >= 0);
	atexit(at_exit);
	note("main\n");
	return 21;
}

static int quick(int argc, char **argv)
{
	(void)argc, (void)argv;
	at_quick_exit(at_exit);
	note("main\n");
	quick_exit(22);
}

/* load LIBRARY N: loads and unloads it N times; it does I/O in its constructor and destructor. */
static int load(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;

	for (int i = 0; i < n; i++) {
		void *library = dlopen(argv[0], RTLD_NOW | RTLD_LOCAL);
		int (*call)(int) = library ? (int (*)(int))dlsym(library, "plugin_call") : NULL;

		if (!call) {
			fprintf(stderr, "%s\n", dlerror());
			return 98;
		}
		printf("%d\n", call(i));
		MUST(!dlclose(library));
		note("closed\n");
	}
	return 0;
}

CASES(CASE(plain), CASE(quick), CASE(load))
