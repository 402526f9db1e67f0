/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

/* Was the file removed before it was locked? Its former holder removes it. */
static bool is_removed(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

/* Opens and locks the file. */
static int try_lock(const char *path, int flags)
{
	for (;;) {
		int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600), code;

		if (fd < 0)
			return -errno;
		code = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
		if (!code && !is_removed(fd))
			return fd;
		close(fd);
		if (code)
			return code == EWOULDBLOCK ? -EBUSY : -code;
	}
}

int lock_take_over(const char *path)
{
	return try_lock(path, 0);
}

bool lock_is_of_living(const char *path)
{
	AUTO_FREE char *holder = lock_holder(path);
	char host[256] = "", named[256] = "";
	int pid = 0;

	gethostname(host, sizeof(host) - 1);
	if (sscanf(holder, "process %d on host %255s", &pid, named) != 2 || strcmp(host, named))
		return true;
	return kill(pid, 0) == 0 || errno != ESRCH;
}

char *lock_holder(const char *path)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char text[512] = "";

	if (!f || !fgets(text, sizeof(text), f))
		return xstrdup("another process");
	text[strcspn(text, "\n")] = 0;
	return xstrdup(text);
}

int lock_take(const char *path, const char *what, struct err *err)
{
	char host[256] = "", text[512];
	int fd = try_lock(path, O_CREAT), n;

	if (fd == -EBUSY) {
		AUTO_FREE char *holder = lock_holder(path);

		return err_set(err, EBUSY, "%s is already running: %s; wait for it or stop it",
			       what, holder);
	}
	if (fd < 0)
		return err_set(err, -fd, "%s: %s", path, strerror(-fd));
	gethostname(host, sizeof(host) - 1);
	n = snprintf(text, sizeof(text), "process %d on host %s\n", (int)getpid(), host);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n) {
		close(fd);
		return err_set(err, ENOSPC, "%s: cannot be written", path);
	}
	return fd;
}
