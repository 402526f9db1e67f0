/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"

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

static bool is_this_host(const char *named)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return strcmp(host, named) == 0;
}

bool lock_is_of_living(const char *path)
{
	AUTO_FREE char *holder = lock_holder(path);
	char named[256] = "";
	int pid = 0;

	if (sscanf(holder, "process %d on host %255s", &pid, named) != 2 || !is_this_host(named))
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

void lock_describe(int lock, int64_t subject)
{
	struct stat st;

	/* A lock without it is still a lock. */
	if (fstat(lock, &st) == 0 && st.st_size > 0 && lseek(lock, 0, SEEK_END) > 0)
		dprintf(lock, "tuning %" PRId64 "\n", subject);
}

static bool has_flock(int pid, const char *descriptor)
{
	AUTO_FREE char *path = xprintf("/proc/%d/fdinfo/%s", pid, descriptor);
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "lock:", 5) == 0 && strstr(line, "FLOCK"))
			return true;
	return false;
}

/* Does one of the open files of the process hold a lock on this file? The kernel shows the files of
 * a process to its own user and to root only. */
static bool process_has_lock(int pid, const struct stat *locked)
{
	AUTO_FREE char *path = xprintf("/proc/%d/fd", pid);
	DIR *dir = opendir(path);
	const struct dirent *item;
	bool found = false;
	struct stat st;

	while (dir && !found && (item = readdir(dir)))
		found = item->d_name[0] != '.' && fstatat(dirfd(dir), item->d_name, &st, 0) == 0 &&
			st.st_dev == locked->st_dev && st.st_ino == locked->st_ino &&
			has_flock(pid, item->d_name);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_of_user(int pid)
{
	AUTO_FREE char *path = xprintf("/proc/%d", pid);
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

void lock_process_release(struct lock_process *process)
{
	if (process->pidfd >= 0)
		close(process->pidfd);
	process->pidfd = -1;
}

int lock_find_process(const char *path, struct lock_process *process)
{
	AUTO_FCLOSE FILE *f = fopen(path, "re");
	struct lock_process found = { .pidfd = -1 };
	struct stat locked;
	char line[64];

	if (!f || fstat(fileno(f), &locked) != 0 ||
	    fscanf(f, "process %d on host %255s ", &found.pid, found.host) != 2 || found.pid <= 1)
		return -ESRCH;
	if (fgets(line, sizeof(line), f) && strncmp(line, "tuning ", 7) == 0)
		found.subject = strtoll(line + 7, NULL, 10);
	if (is_this_host(found.host)) {
		/* Before the checks: then they are about the process of the descriptor, even if the
		 * number is used again. */
		found.pidfd = process_pidfd(found.pid);
		found.is_here = is_of_user(found.pid) && process_has_lock(found.pid, &locked);
		if (!found.is_here) {
			lock_process_release(&found);
			return -ESRCH;
		}
	}
	*process = found;
	return 0;
}
