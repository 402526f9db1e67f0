/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/table/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/file.h"

/* Writes to fd and closes it. "T" in the mode makes zlib write without compression. */
static int write_descriptor(int fd, bool gzip, export_fill *fill, const void *arg)
{
	gzFile file = gzdopen(fd, gzip ? "w" : "wT");
	int code, r;

	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	gzbuffer(file, 1 << 16);
	errno = 0;
	fill(file, arg);
	gzerror(file, &code);
	r = gzclose(file);
	if (code == Z_OK && r == Z_OK)
		return 0;
	return errno ? -errno : -EIO;
}

/* Creates a temporary file next to path, unless path is a device or a pipe. */
static int open_draft(const char *path, struct file_draft *draft)
{
	struct stat status;
	int fd;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
	} else {
		file_draft_init(draft, path);
		fd = open(draft->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0666);
	}
	return fd < 0 ? -errno : fd;
}

int export_write(const char *path, export_fill *fill, const void *arg, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	size_t n = strlen(path);
	struct file_draft draft = { 0 };
	int r = standard ? dup(STDOUT_FILENO) : open_draft(path, &draft);

	if (r >= 0)
		r = write_descriptor(r, n > 3 && strcmp(path + n - 3, ".gz") == 0, fill, arg);
	if (r >= 0)
		return draft.path ? file_draft_commit(&draft, err) : 0;
	file_draft_discard(&draft);
	return err_set(err, -r, "%s: cannot write: %s", standard ? "standard output" : path,
		       strerror(-r));
}
