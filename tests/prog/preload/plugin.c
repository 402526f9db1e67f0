/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library that does I/O when it is loaded and unloaded, for dlopen or preloading.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int plugin_call(int n);

static void note(const char *text)
{
	int fd = open("plugin.notes", O_WRONLY | O_CREAT | O_APPEND, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) < 0)
		_exit(90);
}

__attribute__((constructor)) static void comes(void)
{
	note("comes\n");
}

__attribute__((destructor)) static void goes(void)
{
	FILE *f = fopen("plugin.stream", "a");

	note("goes\n");
	if (!f || fputs("goes\n", f) < 0 || fclose(f) != 0)
		_exit(91);
}

int plugin_call(int n)
{
	note("call\n");
	return n + 1;
}
