/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define READ_BYTES 16384
#define FILE_MODE 0666 /* as fopen() creates files: the umask decides */

int file_read_all(struct buf *buf, const char *path, size_t max_bytes, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t total = 0;

	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	for (;;) {
		ssize_t n;

		buf_reserve(buf, READ_BYTES);
		n = read(fd, buf->data + buf->len, READ_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, errno, "%s: cannot read: %s", path, strerror(errno));
		buf->len += (size_t)n;
		buf->data[buf->len] = 0;
		total += (size_t)n;
		if (!n)
			return 0;
		if (max_bytes && total > max_bytes)
			return err_set(err, EFBIG, "%s: larger than the limit of %zu bytes", path,
				       max_bytes);
	}
}

void file_draft_init(struct file_draft *draft, const char *path)
{
	draft->path = xstrdup(path);
	draft->temporary = xprintf("%s.%d.tmp", path, (int)getpid());
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
	AUTO_CLOSE int fd = open(draft->temporary, O_RDWR | O_CLOEXEC);

	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		return err_set(err, errno, "%s: cannot write: %s", draft->temporary,
			       strerror(errno));
	return 0;
}

int file_draft_commit(struct file_draft *draft, struct err *err)
{
	int r = draft_sync(draft, err);

	if (!r && rename(draft->temporary, draft->path) < 0)
		r = err_set(err, errno, "%s: cannot rename to %s: %s", draft->temporary,
			    draft->path, strerror(errno));
	if (r < 0)
		unlink(draft->temporary);
	draft_release(draft);
	return r;
}

void file_draft_discard(struct file_draft *draft)
{
	if (draft->temporary)
		unlink(draft->temporary);
	draft_release(draft);
}

static int write_bytes(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_file(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
	int r = fd < 0 ? -errno : write_bytes(fd, bytes, n);

	if (fd >= 0 && close(fd) < 0 && !r)
		r = -errno;
	return r;
}

static bool is_special_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

int file_write_all(const char *path, const void *bytes, size_t n, struct err *err)
{
	struct file_draft draft = { 0 };
	int r;

	if (is_special_file(path)) {
		r = write_file(path, bytes, n);
	} else {
		file_draft_init(&draft, path);
		r = write_file(draft.temporary, bytes, n);
		if (!r)
			return file_draft_commit(&draft, err);
		file_draft_discard(&draft);
	}
	return r < 0 ? err_set(err, -r, "%s: cannot write: %s", path, strerror(-r)) : 0;
}

const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
