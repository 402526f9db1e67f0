/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "capture/record/kernel.h"

#define OTHERS_ACCESS (S_IRWXG | S_IRWXO)
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static bool is_own(const struct stat *st)
{
	return st->st_uid == (uid_t)kernel_call(SYS_geteuid);
}

/* Is it the file with this id? Sets the id if it is unknown. */
static bool id_matches(struct file_id *id, const struct stat *st)
{
	if (!id->inode)
		*id = (struct file_id){ st->st_dev, st->st_ino };
	return id->device == st->st_dev && id->inode == st->st_ino;
}

long directory_open(const char *path, struct file_id *id)
{
	long fd = kernel_call(SYS_openat, AT_FDCWD, path,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return fd;
	if (kernel_call(SYS_fstat, fd, &st) == 0 && is_own(&st) && !(st.st_mode & OTHERS_ACCESS) &&
	    id_matches(id, &st))
		return fd;
	kernel_call(SYS_close, fd);
	return -EPERM;
}

/* Users may search it and create files, but not list it. */
long directory_open_shared(const char *path, struct file_id *id, uint32_t owner)
{
	long fd = kernel_call(SYS_openat, AT_FDCWD, path,
			      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return fd;
	if (kernel_call(SYS_fstat, fd, &st) == 0 && (st.st_uid == owner || st.st_uid == 0) &&
	    (st.st_mode & S_ISVTX || !(st.st_mode & OTHERS_WRITE)) && id_matches(id, &st))
		return fd;
	kernel_call(SYS_close, fd);
	return -EPERM;
}

/*
 * Allocates space in a file before it is mapped, so that a full disk fails here instead of raising
 * SIGBUS later. Fails if the process's limit on file sizes would raise SIGXFSZ. Returns 0 or an
 * error number.
 */
static int file_allocate(long fd, uint64_t offset, uint64_t bytes)
{
	struct rlimit limit;
	long r = kernel_call(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit);

	if (r == 0 && offset + bytes > limit.rlim_cur)
		return EFBIG;
	if (r == 0)
		r = kernel_call(SYS_fallocate, fd, 0, offset, bytes);
	return (int)-r;
}

/* Allocates this part of the file and maps it. */
static void *map_allocated(long fd, uint64_t offset, size_t bytes, int *error)
{
	void *mapped = NULL;

	*error = file_allocate(fd, offset, bytes);
	if (!*error)
		mapped = kernel_map(bytes, MAP_SHARED, fd, offset);
	if (!*error && !mapped)
		*error = ENOMEM;
	return mapped;
}

/* Opens a regular file of this user in the directory. */
static long file_open(long directory, const char *name, int flags, struct stat *st)
{
	long fd = kernel_call(SYS_openat, directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags,
			      S_IRUSR | S_IWUSR);

	if (fd < 0)
		return fd;
	if (kernel_call(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode) && is_own(st))
		return fd;
	kernel_call(SYS_close, fd);
	return -EPERM;
}

void *file_map(long directory, const char *name, size_t bytes)
{
	void *mapped = NULL;
	struct stat st;
	long fd = file_open(directory, name, 0, &st);

	if (fd < 0)
		return NULL;
	if ((uint64_t)st.st_size >= bytes)
		mapped = kernel_map(bytes, MAP_SHARED, fd, 0);
	kernel_call(SYS_close, fd);
	return mapped;
}

void *file_create(long directory, const char *name, size_t bytes, struct file_id *id, int *error)
{
	void *mapped;
	struct stat st;
	long fd = file_open(directory, name, O_CREAT | O_EXCL, &st);

	*error = (int)-fd;
	if (fd < 0)
		return NULL;
	*id = (struct file_id){ st.st_dev, st.st_ino };
	mapped = map_allocated(fd, 0, bytes, error);
	if (!mapped)
		kernel_call(SYS_unlinkat, directory, name, 0);
	kernel_call(SYS_close, fd);
	return mapped;
}

long file_reopen(long directory, const char *name, const struct file_id *id)
{
	struct stat st;
	long fd = file_open(directory, name, 0, &st);

	if (fd < 0 || !id || (id->device == st.st_dev && id->inode == st.st_ino))
		return fd;
	kernel_call(SYS_close, fd);
	return -ENOENT;
}

void *file_extend(long directory, const char *name, const struct file_id *id, uint64_t offset,
		  size_t bytes, int *error)
{
	long fd = file_reopen(directory, name, id);
	void *mapped;

	*error = (int)-fd;
	if (fd < 0)
		return NULL;
	mapped = map_allocated(fd, offset, bytes, error);
	kernel_call(SYS_close, fd);
	return mapped;
}

size_t file_read(long directory, const char *name, char *text, size_t size)
{
	long fd = kernel_call(SYS_openat, directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	size_t used = 0;
	long n;

	text[0] = 0;
	if (fd < 0)
		return 0;
	while (used < size - 1 && (n = kernel_call(SYS_read, fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	kernel_call(SYS_close, fd);
	text[used] = 0;
	return used;
}

bool file_is_trusted_code(const char *path)
{
	struct stat st;

	return kernel_call(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == 0 || is_own(&st)) && !(st.st_mode & OTHERS_WRITE);
}
