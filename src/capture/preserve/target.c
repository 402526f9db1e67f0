/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/preserve/target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "capture/apply/rules.h"
#include "capture/libraries/wrapper_helpers.h"
#include "capture/record/kernel.h"

#define LINKS_MAX 40 /* as in the kernel */
#define DELETED " (deleted)"
#define LOOKUPS 8

/* The kernel's path of an open file or directory. */
static bool read_path(long fd, char path[TARGET_PATH_BYTES])
{
	char link[64] = "/proc/self/fd/";
	long n;

	rules_put_number(link + strlen(link), (uint64_t)fd);
	n = kernel_call(SYS_readlinkat, AT_FDCWD, link, path, TARGET_PATH_BYTES - 1);
	if (n <= 0 || path[0] != '/')
		return false;
	path[n] = 0;
	return true;
}

/* Does the kernel's path end like that of a deleted name, and is there no such file? */
static bool is_deleted(const struct target *target)
{
	size_t n = strlen(target->path), suffix = strlen(DELETED);
	struct stat st;

	if (n <= suffix || strcmp(target->path + n - suffix, DELETED) != 0)
		return false;
	return kernel_call(SYS_newfstatat, AT_FDCWD, target->path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	       st.st_dev != target->st.st_dev || st.st_ino != target->st.st_ino;
}

enum target_result target_find_open(struct target *target, int fd)
{
	bool has_path = read_path(fd, target->path);

	/* Only after the path, because another process may delete the file in between. */
	if (kernel_call(SYS_fstat, fd, &target->st) != 0)
		return TARGET_IMPOSSIBLE;
	/* Pipes and sockets have no path. */
	if (!has_path)
		return S_ISREG(target->st.st_mode) ? TARGET_FAILED : TARGET_IMPOSSIBLE;
	/* It may have other names. */
	if (is_deleted(target))
		return target->st.st_nlink ? TARGET_FAILED : TARGET_IMPOSSIBLE;
	target->exists = true;
	target->device = target->st.st_dev;
	return TARGET_FOUND;
}

static enum target_result find_existing(struct target *target, int directory, const char *path,
					bool follow)
{
	int flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
	long fd = kernel_call(SYS_openat, directory, path, flags);
	enum target_result result;

	if (fd < 0)
		return fd == -ENFILE || fd == -EMFILE || fd == -ENOMEM ? TARGET_FAILED
								       : TARGET_IMPOSSIBLE;
	result = target_find_open(target, (int)fd);
	kernel_call(SYS_close, fd);
	return result;
}

/* The length of a path without slashes at its end. */
static size_t trimmed_length(const char *path)
{
	size_t n = strnlen(path, TARGET_PATH_BYTES);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return n;
}

/* Opens the directory that holds the name; *name becomes the last component of n bytes. */
static long open_parent(struct target *target, int directory, const char *path, const char **name,
			size_t *n)
{
	size_t end = trimmed_length(path), from = end;

	while (from && path[from - 1] != '/')
		from--;
	*name = path + from;
	*n = end - from;
	if (end >= TARGET_PATH_BYTES)
		return -ENAMETOOLONG;
	memcpy(target->path, from ? path : ".", from ? from : 1);
	target->path[from ? from : 1] = 0;
	return kernel_call(SYS_openat, directory, target->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The path of a name that does not exist in an open directory. */
static enum target_result name_in(struct target *target, long parent, const char *name, size_t n)
{
	size_t used;

	if (kernel_call(SYS_fstat, parent, &target->st) != 0 || !read_path(parent, target->path))
		return TARGET_FAILED;
	target->device = target->st.st_dev;
	used = strlen(target->path);
	if (!n || used + n + 2 > TARGET_PATH_BYTES)
		return TARGET_IMPOSSIBLE;
	if (used > 1)
		target->path[used++] = '/';
	memmove(target->path + used, name, n);
	target->path[used + n] = 0;
	return TARGET_FOUND;
}

/* Reads the link at the path found so far, if it is one. */
static bool read_link(struct target *target)
{
	long n = kernel_call(SYS_readlinkat, AT_FDCWD, target->path, target->link,
			     TARGET_PATH_BYTES - 1);

	if (n > 0)
		target->link[n] = 0;
	return n > 0;
}

/* A name that does not exist, or the target of a link that does not exist. */
static enum target_result find_absent(struct target *target, int directory, const char *path,
				      bool follow)
{
	enum target_result result = TARGET_FAILED;

	for (unsigned i = 0; i < LINKS_MAX; i++) {
		const char *name;
		size_t n;
		long parent = open_parent(target, directory, path, &name, &n);

		if (i)
			kernel_call(SYS_close, directory);
		if (parent < 0)
			return TARGET_IMPOSSIBLE;
		result = name_in(target, parent, name, n);
		if (result != TARGET_FOUND || !follow || !read_link(target)) {
			kernel_call(SYS_close, parent);
			return result;
		}
		directory = (int)parent;
		path = target->link;
	}
	kernel_call(SYS_close, directory);
	return TARGET_IMPOSSIBLE;
}

enum target_result target_find(struct target *target, int directory, const char *path, bool follow)
{
	enum target_result result = TARGET_FAILED;

	target->exists = false;
	/* No call has accepted the path yet, so it is probed. */
	if (!path_bytes(path, EINVAL))
		return TARGET_IMPOSSIBLE;
	/* If the name is deleted meanwhile, it is looked up again. */
	for (int i = 0; i < LOOKUPS; i++) {
		result = find_existing(target, directory, path, follow);
		if (result != TARGET_FAILED)
			break;
	}
	return result == TARGET_IMPOSSIBLE ? find_absent(target, directory, path, follow) : result;
}
