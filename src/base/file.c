/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define READ_BYTES 16384
#define FILE_MODE 0666 /* as fopen() creates files: the umask decides */

int file_check_status(const struct stat *st, const char *path, struct err *err)
{
	const char *kind = S_ISFIFO(st->st_mode)   ? "FIFO"
			   : S_ISSOCK(st->st_mode) ? "socket"
						   : "device";

	if (S_ISREG(st->st_mode) || (S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3)))
		return 0;
	if (S_ISDIR(st->st_mode))
		return err_set(err, EISDIR, "%s: is a directory", path);
	return err_set(err, EINVAL, "%s: is a %s; only regular files are read", path, kind);
}

static int check_kind(const char *path, struct err *err)
{
	struct stat st;

	return stat(path, &st) == 0 ? file_check_status(&st, path, err) : 0;
}

int file_open(const char *path, struct err *err)
{
	/* Without O_NONBLOCK, open() would wait for the writer of a FIFO. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r, code = errno;
	struct stat st;

	if (fd < 0) {
		/* A socket cannot be opened at all. */
		if (code == ENXIO && check_kind(path, err) < 0)
			return -EINVAL;
		return err_set(err, code, "%s: %s", path, strerror(code));
	}
	r = fstat(fd, &st) < 0 ? err_set(err, errno, "%s: %s", path, strerror(errno))
			       : file_check_status(&st, path, err);
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

FILE *file_open_stream(const char *path, struct err *err)
{
	int fd = file_open(path, err);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !stream) {
		err_set(err, errno, "%s: %s", path, strerror(errno));
		close(fd);
	}
	return stream;
}

int file_read_open(struct buf *buf, int fd, const char *name, size_t max_bytes, struct err *err)
{
	size_t total = 0;

	for (;;) {
		ssize_t n;

		buf_reserve(buf, READ_BYTES);
		n = read(fd, buf->data + buf->len, READ_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, errno, "%s: cannot read: %s", name, strerror(errno));
		buf->len += (size_t)n;
		buf->data[buf->len] = 0;
		total += (size_t)n;
		if (!n)
			return 0;
		if (max_bytes && total > max_bytes)
			return err_set(err, EFBIG, "%s: larger than the limit of %zu bytes", name,
				       max_bytes);
	}
}

int file_read_all(struct buf *buf, const char *path, size_t max_bytes, struct err *err)
{
	AUTO_CLOSE int fd = file_open(path, err);

	return fd < 0 ? fd : file_read_open(buf, fd, path, max_bytes, err);
}

int file_read_input(struct buf *buf, size_t max_bytes, struct err *err)
{
	return file_read_open(buf, STDIN_FILENO, "standard input", max_bytes, err);
}

/* Other users must not be able to guess the name. */
void file_draft_init(struct file_draft *draft, const char *path)
{
	uint32_t random = 0;

	(void)!getrandom(&random, sizeof(random), 0);
	draft->path = xstrdup(path);
	draft->temporary = xprintf("%s.%d-%08" PRIx32 ".tmp", path, (int)getpid(), random);
}

static void draft_release(struct file_draft *draft)
{
	free(draft->path);
	free(draft->temporary);
	*draft = (struct file_draft){ 0 };
}

/* fsync() fails with EINVAL on files that cannot be synchronized, such as pipes. */
static int draft_sync(const struct file_draft *draft, struct err *err)
{
	AUTO_CLOSE int fd = open(draft->temporary, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		return err_set(err, errno, "%s: cannot write: %s", draft->temporary,
			       strerror(errno));
	return 0;
}

int file_rename_new(const char *from, const char *to)
{
	struct stat st;

	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* The file system cannot exclude that the name appears between these two calls. */
	if (lstat(to, &st) == 0)
		return -EEXIST;
	return rename(from, to) == 0 ? 0 : -errno;
}

static int draft_commit(struct file_draft *draft, bool replace, struct err *err)
{
	int r = draft_sync(draft, err), renamed = 0;

	if (!r && replace)
		renamed = rename(draft->temporary, draft->path) == 0 ? 0 : -errno;
	else if (!r)
		renamed = file_rename_new(draft->temporary, draft->path);
	if (renamed < 0)
		r = err_set(err, -renamed, "%s: cannot rename to %s: %s", draft->temporary,
			    draft->path, strerror(-renamed));
	if (r < 0)
		unlink(draft->temporary);
	draft_release(draft);
	return r;
}

int file_draft_commit(struct file_draft *draft, struct err *err)
{
	return draft_commit(draft, true, err);
}

int file_draft_commit_new(struct file_draft *draft, struct err *err)
{
	return draft_commit(draft, false, err);
}

void file_draft_discard(struct file_draft *draft)
{
	if (draft->temporary)
		unlink(draft->temporary);
	draft_release(draft);
}

int file_write_fd(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_file(const char *path, int flags, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, FILE_MODE);
	int r = fd < 0 ? -errno : file_write_fd(fd, bytes, n);

	if (fd >= 0 && close(fd) < 0 && !r)
		r = -errno;
	return r;
}

/*
 * A link must be the user's own or root's, as /dev/stdout: another user could let it point to any
 * file of the user.
 */
static bool is_special_file(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
		return false;
	return !S_ISLNK(st.st_mode) || st.st_uid == geteuid() || st.st_uid == 0;
}

int file_write_all(const char *path, const void *bytes, size_t n, struct err *err)
{
	struct file_draft draft = { 0 };
	int r;

	if (is_special_file(path)) {
		r = write_file(path, O_TRUNC, bytes, n);
	} else {
		file_draft_init(&draft, path);
		r = write_file(draft.temporary, O_CREAT | O_EXCL | O_NOFOLLOW, bytes, n);
		if (!r)
			return file_draft_commit(&draft, err);
		file_draft_discard(&draft);
	}
	return r < 0 ? err_set(err, -r, "%s: cannot write: %s", path, strerror(-r)) : 0;
}

int file_write_new(const char *path, const void *bytes, size_t n, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE), r;

	if (fd < 0)
		return err_set(err, errno, "%s: cannot create: %s", path, strerror(errno));
	r = file_write_fd(fd, bytes, n);
	if (close(fd) < 0 && !r)
		r = -errno;
	if (!r)
		return 0;
	unlink(path);
	return err_set(err, -r, "%s: cannot write: %s", path, strerror(-r));
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	remove(path);
	return 0;
}

void file_remove_tree(const char *directory)
{
	nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
