/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes come in chunks; a cell is collected in a text of its own, so that a chunk may end anywhere.
 */
#include "learn/table/cells.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"

enum {
	CHUNK_BYTES = 1 << 16,
	CELL_BYTES_MAX = 1 << 20, /* more is a quote that does not end, or no CSV at all */
};

#define FAIL(cells, code, ...) ((cells)->failure = err_set((cells)->err, code, __VA_ARGS__))

/* ---- bytes ---- */

/* zlib calls it a buffer error when the file ends inside the compressed data. */
static void gzip_fail(struct cells *cells)
{
	int saved = errno, code;
	const char *text = gzerror(cells->file, &code);

	if (code == Z_BUF_ERROR)
		FAIL(cells, EBADMSG, "%s: the gzip data ends too early: the file is cut off",
		     cells->name);
	else if (code == Z_ERRNO)
		FAIL(cells, saved ? saved : EIO, "%s: cannot read: %s", cells->name,
		     strerror(saved ? saved : EIO));
	else if (code != Z_OK)
		FAIL(cells, EBADMSG, "%s: the gzip data is damaged: %s", cells->name, text);
}

static bool chunk_read(struct cells *cells)
{
	int n;

	if (!cells->file || cells->failure)
		return false;
	errno = 0;
	n = gzread(cells->file, cells->buffer, CHUNK_BYTES);
	if (n <= 0)
		gzip_fail(cells);
	cells->at = cells->buffer;
	cells->end = cells->buffer + (n > 0 ? n : 0);
	return n > 0;
}

/* -1 at the end, or where reading fails. */
static inline int byte_peek(struct cells *cells)
{
	if (cells->at == cells->end && !chunk_read(cells))
		return -1;
	return (unsigned char)*cells->at;
}

static inline int byte_take(struct cells *cells)
{
	int byte = byte_peek(cells);

	cells->at += byte >= 0;
	return byte;
}

/* ---- opening ---- */

/* What cannot be read twice is put where it can. */
static int spool(int fd, int *spooled)
{
	AUTO_FREE char *chunk = xmalloc(CHUNK_BYTES);
	AUTO_FCLOSE FILE *file = tmpfile();
	ssize_t n;

	if (!file)
		return -errno;
	while ((n = read(fd, chunk, CHUNK_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (fwrite(chunk, 1, (size_t)n, file) != (size_t)n)
			return -errno;
	}
	if (fflush(file) != 0)
		return -errno;
	rewind(file);
	*spooled = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
	return *spooled < 0 ? -errno : 0;
}

static int descriptor_open(const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
			  : open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	int spooled = -1, r;

	if (fd < 0 || fstat(fd, &status) != 0 || S_ISREG(status.st_mode))
		return fd < 0 ? -errno : fd;
	r = S_ISDIR(status.st_mode) ? -EISDIR : spool(fd, &spooled);
	close(fd);
	return r < 0 ? r : spooled;
}

/* Which of them the first line has most of; blanks only where there is nothing else. */
static char separator_guess(const char *at, const char *end)
{
	static const char candidates[] = ",;\t";
	size_t counts[3] = { 0 }, best = 0;
	bool quoted = false, blank = false;

	for (; at < end && (quoted || (*at != '\n' && *at != '\r')); at++) {
		const char *found = *at ? strchr(candidates, *at) : NULL;

		quoted ^= *at == '"';
		blank |= *at == ' ' && !quoted;
		if (found && !quoted)
			counts[found - candidates]++;
	}
	for (size_t i = 1; i < 3; i++) {
		if (counts[i] > counts[best])
			best = i;
	}
	return counts[best] || !blank ? candidates[best] : ' ';
}

static void beginning_read(struct cells *cells)
{
	cells->line = 1;
	byte_peek(cells);
	if (cells->end - cells->at >= 3 && memcmp(cells->at, "\xef\xbb\xbf", 3) == 0)
		cells->at += 3;
	cells->separator = separator_guess(cells->at, cells->end);
}

int cells_open(struct cells *cells, const char *path, struct err *err)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	int fd = descriptor_open(path);

	if (fd < 0)
		return err_set(err, -fd, "%s: cannot read: %s", name, strerror(-fd));
	*cells = (struct cells){ .name = name, .err = err };
	cells->file = gzdopen(fd, "r");
	if (!cells->file) {
		close(fd);
		return err_set(err, ENOMEM, "%s: cannot read: %s", name, strerror(ENOMEM));
	}
	gzbuffer(cells->file, CHUNK_BYTES);
	cells->buffer = xmalloc(CHUNK_BYTES);
	cells->at = cells->end = cells->buffer;
	beginning_read(cells);
	return 0;
}

void cells_parse(struct cells *cells, const char *name, const char *text, size_t n, struct err *err)
{
	*cells = (struct cells){ .name = name, .err = err, .memory = text, .memory_bytes = n };
	cells->at = text;
	cells->end = text + n;
	beginning_read(cells);
}

void cells_close(struct cells *cells)
{
	if (cells->file)
		gzclose(cells->file);
	free(cells->buffer);
	free(cells->text);
	*cells = (struct cells){ 0 };
}

int cells_rewind(struct cells *cells)
{
	if (cells->file && gzrewind(cells->file) != 0)
		return FAIL(cells, EIO, "%s: cannot be read a second time", cells->name);
	cells->at = cells->file ? cells->buffer : cells->memory;
	cells->end = cells->file ? cells->buffer : cells->memory + cells->memory_bytes;
	beginning_read(cells);
	return cells->failure;
}

/* ---- cells ---- */

/* The line end after a row: LF, CRLF or CR. */
static void line_end_take(struct cells *cells)
{
	int byte = byte_take(cells);

	if (byte == '\r' && byte_peek(cells) == '\n')
		byte_take(cells);
	cells->line++;
}

static inline bool line_ends(int byte)
{
	return byte < 0 || byte == '\n' || byte == '\r';
}

static inline bool blank_is(const struct cells *cells, int byte)
{
	return byte == ' ' || (byte == '\t' && cells->separator != '\t');
}

static void blanks_skip(struct cells *cells)
{
	while (blank_is(cells, byte_peek(cells)))
		byte_take(cells);
}

int cells_row(struct cells *cells)
{
	int byte;

	for (;;) {
		blanks_skip(cells);
		byte = byte_peek(cells);
		if (byte != '\n' && byte != '\r')
			break;
		line_end_take(cells);
	}
	cells->row_line = cells->line;
	return cells->failure ? cells->failure : byte >= 0;
}

static inline int cell_put(struct cells *cells, int byte)
{
	if (!byte)
		return FAIL(cells, EINVAL, "%s:%zu: holds a zero byte: this is not CSV",
			    cells->name, cells->line);
	if (cells->len == CELL_BYTES_MAX)
		return FAIL(cells, EINVAL, "%s:%zu: a cell of more than 1 MiB: is a '\"' missing?",
			    cells->name, cells->row_line);
	if (cells->len + 2 > cells->text_cap)
		cells->text = xgrow(cells->text, &cells->text_cap, cells->len + 2, 1);
	cells->text[cells->len++] = (char)byte;
	return 0;
}

static int quoted_read(struct cells *cells)
{
	size_t line = cells->line;
	int byte;

	for (byte_take(cells);;) {
		byte = byte_take(cells);
		if (byte < 0)
			return cells->failure ? cells->failure
					      : FAIL(cells, EINVAL,
						     "%s:%zu: the '\"' on this line has no end",
						     cells->name, line);
		if (byte == '"') {
			if (byte_peek(cells) != '"')
				break;
			byte_take(cells);
		}
		cells->line += byte == '\n';
		if (cell_put(cells, byte) < 0)
			return cells->failure;
	}
	blanks_skip(cells);
	byte = byte_peek(cells);
	/* A blank that separates has just been skipped. */
	if (line_ends(byte) || byte == cells->separator || cells->separator == ' ')
		return 0;
	return FAIL(cells, EINVAL,
		    "%s:%zu: text after the closing '\"': a quote inside quotes is written twice",
		    cells->name, cells->line);
}

static int plain_read(struct cells *cells)
{
	int byte;

	while (!line_ends(byte = byte_peek(cells)) && byte != cells->separator) {
		cells->at++;
		if (cell_put(cells, byte) < 0)
			return cells->failure;
	}
	while (cells->len && blank_is(cells, cells->text[cells->len - 1]))
		cells->len--;
	return cells->failure;
}

int cells_next(struct cells *cells)
{
	int r;

	cells->text = xgrow(cells->text, &cells->text_cap, 1, 1);
	cells->len = 0;
	blanks_skip(cells);
	cells->quoted = byte_peek(cells) == '"';
	r = cells->quoted ? quoted_read(cells) : plain_read(cells);
	if (r < 0)
		return r;
	cells->text[cells->len] = 0;
	if (cells->separator == ' ')
		blanks_skip(cells);
	r = byte_peek(cells);
	if (cells->failure)
		return cells->failure;
	if (line_ends(r)) {
		line_end_take(cells);
		return CELLS_LAST;
	}
	if (cells->separator != ' ')
		byte_take(cells);
	return CELLS_MORE;
}
