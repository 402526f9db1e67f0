/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads bytes in chunks. A cell is collected in a buffer of its own, so that a chunk may end
 * anywhere.
 */
#include "learn/table/csv_cells.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

enum {
	CHUNK_BYTES = 1 << 16,
	/* A longer cell means an unclosed quote, or a file that is not CSV. */
	CELL_BYTES_MAX = 1 << 20,
};

#define FAIL(cells, code, ...) ((cells)->failure = err_set((cells)->err, code, __VA_ARGS__))

/* zlib reports a buffer error if the file ends inside the compressed data. */
static void report_gzip_error(struct csv_cells *cells)
{
	int saved = errno, code;
	const char *text = gzerror(cells->file, &code);

	if (code == Z_BUF_ERROR)
		FAIL(cells, EBADMSG, "%s: the gzip data is truncated", cells->name);
	else if (code == Z_ERRNO)
		FAIL(cells, saved ? saved : EIO, "%s: cannot read: %s", cells->name,
		     strerror(saved ? saved : EIO));
	else if (code != Z_OK)
		FAIL(cells, EBADMSG, "%s: the gzip data is damaged: %s", cells->name, text);
}

static bool read_chunk(struct csv_cells *cells)
{
	int n;

	if (!cells->file || cells->failure)
		return false;
	errno = 0;
	n = gzread(cells->file, cells->buffer, CHUNK_BYTES);
	if (n <= 0)
		report_gzip_error(cells);
	cells->at = cells->buffer;
	cells->end = cells->buffer + (n > 0 ? n : 0);
	return n > 0;
}

/* Returns -1 at the end of the input or on failure. */
static inline int peek_byte(struct csv_cells *cells)
{
	if (cells->at == cells->end && !read_chunk(cells))
		return -1;
	return (unsigned char)*cells->at;
}

static inline int take_byte(struct csv_cells *cells)
{
	int byte = peek_byte(cells);

	cells->at += byte >= 0;
	return byte;
}

/* Copies input that cannot be read twice to a temporary file. */
static int spool_input(int fd, int *spooled)
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

/* Standard input may be a pipe; a file must be a regular one. */
static int open_input(const char *path, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : file_open(path, err);
	struct stat status;
	int spooled = -1, r;

	if (!standard || (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
		return fd;
	r = fd < 0 ? -errno : spool_input(fd, &spooled);
	if (fd >= 0)
		close(fd);
	if (r < 0)
		return err_set(err, -r, "standard input: cannot read: %s", strerror(-r));
	return spooled;
}

/* Returns the separator that occurs most often in the first line; blanks if there is no other. */
static char guess_separator(const char *at, const char *end)
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

static void read_beginning(struct csv_cells *cells)
{
	cells->line = 1;
	peek_byte(cells);
	if (cells->end - cells->at >= 3 && memcmp(cells->at, "\xef\xbb\xbf", 3) == 0)
		cells->at += 3;
	cells->separator = guess_separator(cells->at, cells->end);
}

int csv_cells_open(struct csv_cells *cells, const char *path, struct err *err)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	int fd = open_input(path, err);

	if (fd < 0)
		return fd;
	*cells = (struct csv_cells){ .name = name, .err = err };
	cells->file = gzdopen(fd, "r");
	if (!cells->file) {
		close(fd);
		return err_set(err, ENOMEM, "%s: cannot read: %s", name, strerror(ENOMEM));
	}
	gzbuffer(cells->file, CHUNK_BYTES);
	cells->buffer = xmalloc(CHUNK_BYTES);
	cells->at = cells->end = cells->buffer;
	read_beginning(cells);
	return 0;
}

void csv_cells_parse(struct csv_cells *cells, const char *name, const char *text, size_t n,
		     struct err *err)
{
	*cells = (struct csv_cells){ .name = name, .err = err, .memory = text, .memory_bytes = n };
	cells->at = text;
	cells->end = text + n;
	read_beginning(cells);
}

void csv_cells_close(struct csv_cells *cells)
{
	if (cells->file)
		gzclose(cells->file);
	free(cells->buffer);
	free(cells->text);
	*cells = (struct csv_cells){ 0 };
}

int csv_cells_rewind(struct csv_cells *cells)
{
	if (cells->file && gzrewind(cells->file) != 0)
		return FAIL(cells, EIO, "%s: cannot rewind the file", cells->name);
	cells->at = cells->file ? cells->buffer : cells->memory;
	cells->end = cells->file ? cells->buffer : cells->memory + cells->memory_bytes;
	read_beginning(cells);
	return cells->failure;
}

/* Reads a line end: LF, CRLF or CR. */
static void take_line_end(struct csv_cells *cells)
{
	int byte = take_byte(cells);

	if (byte == '\r' && peek_byte(cells) == '\n')
		take_byte(cells);
	cells->line++;
}

static inline bool is_line_end(int byte)
{
	return byte < 0 || byte == '\n' || byte == '\r';
}

static inline bool is_blank(const struct csv_cells *cells, int byte)
{
	return byte == ' ' || (byte == '\t' && cells->separator != '\t');
}

static void skip_blanks(struct csv_cells *cells)
{
	while (is_blank(cells, peek_byte(cells)))
		take_byte(cells);
}

int csv_cells_row(struct csv_cells *cells)
{
	int byte;

	for (;;) {
		skip_blanks(cells);
		byte = peek_byte(cells);
		if (byte != '\n' && byte != '\r')
			break;
		take_line_end(cells);
	}
	cells->row_line = cells->line;
	return cells->failure ? cells->failure : byte >= 0;
}

static inline int append_byte(struct csv_cells *cells, int byte)
{
	if (!byte)
		return FAIL(cells, EINVAL, "%s:%zu: zero byte; this is not a CSV file", cells->name,
			    cells->line);
	if (cells->len == CELL_BYTES_MAX)
		return FAIL(cells, EINVAL,
			    "%s:%zu: a cell is longer than 1 MiB; check for a missing '\"'",
			    cells->name, cells->row_line);
	if (cells->len + 2 > cells->text_cap)
		cells->text = xgrow(cells->text, &cells->text_cap, cells->len + 2, 1);
	cells->text[cells->len++] = (char)byte;
	return 0;
}

static int read_quoted(struct csv_cells *cells)
{
	size_t line = cells->line;
	int byte;

	for (take_byte(cells);;) {
		byte = take_byte(cells);
		if (byte < 0)
			return cells->failure ? cells->failure
					      : FAIL(cells, EINVAL, "%s:%zu: unterminated '\"'",
						     cells->name, line);
		if (byte == '"') {
			if (peek_byte(cells) != '"')
				break;
			take_byte(cells);
		}
		cells->line += byte == '\n';
		if (append_byte(cells, byte) < 0)
			return cells->failure;
	}
	skip_blanks(cells);
	byte = peek_byte(cells);
	/* The blank that separates cells was skipped just now. */
	if (is_line_end(byte) || byte == cells->separator || cells->separator == ' ')
		return 0;
	return FAIL(cells, EINVAL,
		    "%s:%zu: text after the closing '\"'; write a quote inside quotes twice",
		    cells->name, cells->line);
}

static int read_plain(struct csv_cells *cells)
{
	int byte;

	while (!is_line_end(byte = peek_byte(cells)) && byte != cells->separator) {
		cells->at++;
		if (append_byte(cells, byte) < 0)
			return cells->failure;
	}
	while (cells->len && is_blank(cells, cells->text[cells->len - 1]))
		cells->len--;
	return cells->failure;
}

int csv_cells_next(struct csv_cells *cells)
{
	int r;

	cells->text = xgrow(cells->text, &cells->text_cap, 1, 1);
	cells->len = 0;
	skip_blanks(cells);
	cells->quoted = peek_byte(cells) == '"';
	r = cells->quoted ? read_quoted(cells) : read_plain(cells);
	if (r < 0)
		return r;
	cells->text[cells->len] = 0;
	if (cells->separator == ' ')
		skip_blanks(cells);
	r = peek_byte(cells);
	if (cells->failure)
		return cells->failure;
	if (is_line_end(r)) {
		take_line_end(cells);
		return CSV_CELLS_LAST;
	}
	if (cells->separator != ' ')
		take_byte(cells);
	return CSV_CELLS_MORE;
}
