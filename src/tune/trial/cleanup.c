/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "params/tunable.h"

#define OWN_NAME "sluice-tune-"
/* The creator of a younger directory may not have locked it yet. */
#define OWN_AGE_S 60

/* False if there is no such file, or its file system has no birth times. */
static bool read_birth(const char *path, struct statx *st)
{
	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, st) ==
		       0 &&
	       st->stx_mask & STATX_BTIME;
}

/* Never 0, which stands for unknown. */
static uint64_t device_number(const struct statx *st)
{
	return ((uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor) + 1;
}

/* Reads the clock of the file system that probably holds the program's files: a server has a clock
 * of its own. */
static void read_local_clock(struct cleanup *cleanup)
{
	char probe[] = "./.sluice-tune-XXXXXX";
	AUTO_CLOSE int fd = mkostemp(probe, O_CLOEXEC);
	struct statx st;

	if (fd < 0)
		return;
	if (read_birth(probe, &st)) {
		cleanup->here = device_number(&st);
		cleanup->since_here.tv_sec = st.stx_btime.tv_sec;
		cleanup->since_here.tv_nsec = st.stx_btime.tv_nsec;
	}
	unlink(probe);
}

void cleanup_begin(struct cleanup *cleanup)
{
	*cleanup = (struct cleanup){ 0 };
	read_local_clock(cleanup);
	clock_gettime(CLOCK_REALTIME, &cleanup->since);
}

void cleanup_release(struct cleanup *cleanup)
{
	for (size_t i = 0; i < cleanup->file_count; i++)
		free(cleanup->files[i]);
	free(cleanup->files);
	*cleanup = (struct cleanup){ 0 };
}

void cleanup_add_file(struct cleanup *cleanup, const char *path)
{
	if (path[0] != '/')
		return;
	cleanup->files = xgrow(cleanup->files, &cleanup->file_cap, cleanup->file_count + 1,
			       sizeof(*cleanup->files));
	cleanup->files[cleanup->file_count++] = xstrdup(path);
}

bool cleanup_has_file(const struct cleanup *cleanup, const char *path)
{
	for (size_t i = 0; i < cleanup->file_count; i++)
		if (strcmp(cleanup->files[i], path) == 0)
			return true;
	return false;
}

static bool is_after(const struct statx_timestamp *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && (long)a->tv_nsec > b->tv_nsec);
}

/* In doubt the answer is no: in the same tick of the clock, or on a server whose clock is unknown.
 */
static bool is_new(const struct cleanup *cleanup, const char *path)
{
	struct statx st;

	if (!read_birth(path, &st) || !S_ISREG(st.stx_mode))
		return false;
	if (device_number(&st) == cleanup->here)
		return is_after(&st.stx_btime, &cleanup->since_here);
	return filesystem_of(path) == FILESYSTEM_LOCAL && is_after(&st.stx_btime, &cleanup->since);
}

bool cleanup_has_new(const struct cleanup *cleanup)
{
	for (size_t i = 0; i < cleanup->file_count; i++)
		if (is_new(cleanup, cleanup->files[i]))
			return true;
	return false;
}

/* Did a runner that was killed leave it? */
static bool is_stale(const char *directory)
{
	AUTO_FREE char *lock = place_join(directory, "lock");
	AUTO_CLOSE int fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       st.st_mtime + OWN_AGE_S < time(NULL) && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void remove_stale_directories(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AUTO_FREE char *path = place_join(base, entry->d_name);

		if (strncmp(entry->d_name, OWN_NAME, strlen(OWN_NAME)) == 0 && is_stale(path))
			file_remove_tree(path);
	}
	if (dir)
		closedir(dir);
}

char *cleanup_make_directory(const char *base, int *lock, struct err *err)
{
	char *path = xprintf("%s/" OWN_NAME "XXXXXX", base);
	AUTO_FREE char *name = NULL;

	remove_stale_directories(base);
	if (mkdtemp(path)) {
		name = place_join(path, "lock");
		*lock = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) == 0)
			return path;
	}
	err_set(err, errno, "cannot create %s: %s", path, strerror(errno));
	free(path);
	return NULL;
}
