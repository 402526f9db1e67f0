/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kills the process when it gives a trace its name: if the file $KILLED_BY exists, the next
 * rename() to a name that ends with .sluice ends with SIGKILL, before or after it is done, as the
 * file says. The file is removed first.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*rename_call)(const char *, const char *);

/* The first letter of the file; 0 if there is none. */
static char take_order(void)
{
	const char *file = getenv("KILLED_BY");
	char letter = 0;
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return 0;
	if (read(fd, &letter, 1) != 1 || unlink(file) != 0)
		letter = 0;
	close(fd);
	return letter;
}

int rename(const char *from, const char *to)
{
	rename_call next = (rename_call)dlsym(RTLD_NEXT, "rename");
	size_t n = strlen(to);
	char order = n > 7 && !strcmp(to + n - 7, ".sluice") ? take_order() : 0;
	int r;

	if (order == 'b')
		kill(getpid(), SIGKILL);
	r = next(from, to);
	if (order == 'a')
		kill(getpid(), SIGKILL);
	return r;
}
