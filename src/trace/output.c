/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/trusted.h"
#include "trace/format.h"

bool trace_is_trace(const char *path)
{
	unsigned char head[64];
	struct stat st;
	struct trace trace;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return false;
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, sizeof(head)) : -1;
	close(fd);
	if (n <= 0)
		return false;
	if (trace_container.recognize(head, (size_t)n))
		return true;
	/* Other programs write text and SQLite files, too: only a complete trace is ours. */
	if (trace_open(&trace, path, NULL, NULL) < 0)
		return false;
	trace_close(&trace);
	return true;
}

/* An empty file of the user, as mktemp(1) creates it, holds nothing that could be lost. */
static bool may_be_replaced(const char *path, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       (!st->st_size || trace_is_trace(path));
}

int trace_output_check(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) != 0 || may_be_replaced(path, &st))
		return 0;
	return err_set(err, EEXIST,
		       "%s: exists and is not a trace of yours, so it is not replaced; remove it "
		       "or choose another name",
		       path);
}

/* An old trace is removed instead of truncated, because another process may be reading it. */
int trace_output_create(const char *path, struct err *err)
{
	int r = trace_output_check(path, err);

	if (r < 0)
		return r;
	unlink(path);
	return trusted_create_file(AT_FDCWD, path, err);
}

int trace_output_draft(struct file_draft *draft, const char *path, struct err *err)
{
	int r = trace_output_check(path, err);

	if (r < 0)
		return r;
	file_draft_init(draft, path);
	r = trusted_create_file(AT_FDCWD, draft->temporary, err);
	if (r >= 0)
		return r;
	free(draft->temporary); /* not ours to remove */
	draft->temporary = NULL;
	file_draft_discard(draft);
	return r;
}
