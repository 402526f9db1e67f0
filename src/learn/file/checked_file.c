/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/file/checked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/trusted.h"
#include "learn/file/blob.h"

#define CHECKSUM_BYTES 8
#define FILE_BYTES_MAX ((size_t)1 << 32)

void checked_file_begin(struct buf *buf, const struct checked_file_kind *kind,
			checked_file_describe *tell, const void *arg)
{
	AUTO_FREE char *schema = xprintf("%s/%u", kind->schema, kind->version);
	char *text = NULL;
	size_t n = 0;
	FILE *out = xmemstream(&text, &n);
	struct json json;

	json_start(&json, out, schema);
	tell(arg, &json);
	json_end(&json);
	fclose(out);
	buf_add(buf, text, n);
	free(text);
}

void checked_file_end(struct buf *buf)
{
	blob_put_u64(buf, XXH64(buf->data, buf->len, 0));
}

/* The beginning of such a file; the version number follows. */
static char *format_magic(const struct checked_file_kind *kind)
{
	return xprintf("{\"schema\": \"%s/", kind->schema);
}

/* Checks the frame of a file and finds its numbers. */
static int open_frame(const struct checked_file_kind *kind, const char *name, const void *data,
		      size_t n, struct blob *numbers, struct err *err)
{
	AUTO_FREE char *magic = format_magic(kind);
	size_t start = strlen(magic);
	const char *bytes = data, *end = memchr(bytes, '\n', n);
	unsigned long version = 0;
	struct blob tail;

	if (n < start || memcmp(bytes, magic, start) != 0)
		return err_set(err, EBADMSG, "%s is not a %s", name, kind->what);
	for (size_t i = start; i < n && bytes[i] >= '0' && bytes[i] <= '9' && version < 1000000;
	     i++)
		version = 10 * version + (unsigned long)(bytes[i] - '0');
	if (version > kind->version)
		return err_set(
			err, EPROTONOSUPPORT,
			"%s was written by a later version of Sluice (format version %lu; this "
			"one reads up to %u): update Sluice, or %s",
			name, version, kind->version, kind->again);
	blob_init(&tail, n < CHECKSUM_BYTES ? bytes : bytes + n - CHECKSUM_BYTES,
		  n < CHECKSUM_BYTES ? 0 : CHECKSUM_BYTES);
	if (!end || version < 1 || blob_take_u64(&tail) != XXH64(bytes, n - CHECKSUM_BYTES, 0))
		return err_set(err, EBADMSG,
			       "%s is damaged or incomplete (wrong checksum): copy it "
			       "again, or %s",
			       name, kind->again);
	/* The end of the line may be inside the checksum. */
	if ((size_t)(end + 1 - bytes) + CHECKSUM_BYTES > n)
		return err_set(err, EBADMSG, "%s is damaged: %s", name, kind->again);
	blob_init(numbers, end + 1, n - CHECKSUM_BYTES - (size_t)(end + 1 - bytes));
	return 0;
}

int checked_file_parse(const struct checked_file_kind *kind, const char *name, const void *bytes,
		       size_t n, void *made, struct err *err)
{
	AUTO_FREE void *draft = xcalloc(1, kind->bytes);
	struct err inner = { 0 };
	struct blob numbers;
	int r = open_frame(kind, name, bytes, n, &numbers, err);

	if (r < 0)
		return r;
	r = kind->take(draft, &numbers, &inner);
	if (r >= 0 && (!blob_ok(&numbers) || numbers.at != numbers.end))
		r = err_set(&inner, EBADMSG, "its size is wrong");
	if (r < 0) {
		kind->release(draft);
		return err_set(err, -r, "%s cannot be used (%s): %s", name,
			       inner.code ? inner.text : "it is damaged", kind->again);
	}
	memcpy(made, draft, kind->bytes);
	return 0;
}

bool checked_file_probe(const struct checked_file_kind *kind, const char *path)
{
	AUTO_FREE char *magic = format_magic(kind);
	AUTO_CLOSE int fd = trusted_open_file(AT_FDCWD, path, O_RDONLY, TRUSTED_PROVIDED, NULL);
	AUTO_FREE char *start = xcalloc(1, strlen(magic));

	return fd >= 0 && read(fd, start, strlen(magic)) == (ssize_t)strlen(magic) &&
	       memcmp(start, magic, strlen(magic)) == 0;
}

static int write_all(int fd, const char *bytes, size_t n)
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

static int write_draft(const char *draft, const struct buf *buf)
{
	int fd = trusted_create_file(AT_FDCWD, draft, NULL);
	int r = fd < 0 ? fd : write_all(fd, buf->data, buf->len);

	if (fd >= 0 && close(fd) != 0 && r >= 0)
		r = -errno;
	return r;
}

int checked_file_write(const struct buf *buf, const char *path, struct err *err)
{
	AUTO_FREE char *draft = xprintf("%s.new-%d", path, (int)getpid());
	int r = write_draft(draft, buf);

	if (r >= 0 && rename(draft, path) != 0)
		r = -errno;
	if (r < 0) {
		if (r != -EEXIST)
			unlink(draft);
		return err_set(err, -r, "%s: %s", path, strerror(-r));
	}
	return 0;
}

int checked_file_read(struct buf *buf, const struct checked_file_kind *kind, const char *path,
		      struct err *err)
{
	int r = trusted_read_file(buf, path, FILE_BYTES_MAX, err);

	return r == -EFBIG
		       ? err_set(err, EFBIG, "%s is not a %s: it is too large", path, kind->what)
		       : r;
}

int checked_file_load(const struct checked_file_kind *kind, const char *path, void *made,
		      struct err *err)
{
	AUTO_BUF struct buf buf = { 0 };
	int r = checked_file_read(&buf, kind, path, err);

	return r < 0 ? r : checked_file_parse(kind, path, buf_text(&buf), buf.len, made, err);
}
