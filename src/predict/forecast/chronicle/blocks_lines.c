/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/chronicle/blocks_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

enum {
	CHUNK_BYTES = 1 << 16,
	LINE_BYTES_MAX = 1 << 20, /* far more than any valid line has */
};

int lines_open(struct lines *lines, const char *path, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? dup(STDIN_FILENO) : file_open(path, err);

	*lines = (struct lines){ .name = standard ? "standard input" : path };
	if (fd < 0 && standard)
		return err_set(err, errno, "%s: %s", lines->name, strerror(errno));
	if (fd < 0)
		return fd == -EISDIR ? err_set(err, EISDIR,
					       "%s: is a directory; name the files in it", path)
				     : fd;
	lines->file = gzdopen(fd, "r");
	if (!lines->file) {
		close(fd);
		return err_set(err, ENOMEM, "%s: cannot read", lines->name);
	}
	gzbuffer(lines->file, CHUNK_BYTES);
	lines->chunk = xmalloc(CHUNK_BYTES);
	return 0;
}

void lines_parse(struct lines *lines, const char *name, const char *text, size_t bytes)
{
	*lines = (struct lines){ .name = name, .at = text, .end = text + bytes };
}

void lines_close(struct lines *lines)
{
	if (lines->file)
		gzclose(lines->file);
	free(lines->chunk);
	buf_release(&lines->line);
	*lines = (struct lines){ 0 };
}

/* zlib reports Z_BUF_ERROR if the file ends within the compressed data. */
static int report_read_error(struct lines *lines, struct err *err)
{
	int saved = errno, code;
	const char *text = gzerror(lines->file, &code);

	if (code == Z_OK)
		return 0;
	if (code == Z_BUF_ERROR) {
		lines->is_broken = true;
		return 0;
	}
	if (code == Z_ERRNO)
		return err_set(err, saved ? saved : EIO, "%s: cannot read: %s", lines->name,
			       strerror(saved ? saved : EIO));
	return err_set(err, EBADMSG, "%s: the gzip data is damaged: %s", lines->name, text);
}

/* Returns 1 if there are bytes to read, 0 at the end. */
static int read_chunk(struct lines *lines, struct err *err)
{
	int n;

	if (lines->at < lines->end)
		return 1;
	if (!lines->file || lines->is_broken)
		return 0;
	errno = 0;
	n = gzread(lines->file, lines->chunk, CHUNK_BYTES);
	lines->at = lines->chunk;
	lines->end = lines->chunk + (n > 0 ? n : 0);
	return n > 0 ? 1 : report_read_error(lines, err);
}

/* Appends the available part of the line. Returns true if the line is complete. */
static bool append_to_line(struct lines *lines)
{
	size_t left = (size_t)(lines->end - lines->at);
	const char *newline = memchr(lines->at, '\n', left);
	size_t n = newline ? (size_t)(newline - lines->at) : left;

	buf_add(&lines->line, lines->at, n);
	lines->at += n + (newline != NULL);
	return newline;
}

static int check_line(struct lines *lines, struct err *err)
{
	struct buf *line = &lines->line;

	if (line->len && memchr(line->data, 0, line->len))
		return err_set(err, EINVAL,
			       "%s:%zu: contains a zero byte; the file is damaged or not a text",
			       lines->name, lines->number);
	while (line->len && isspace((unsigned char)line->data[line->len - 1]))
		line->data[--line->len] = 0;
	return 1;
}

int lines_next(struct lines *lines, struct err *err)
{
	bool ended = false;
	int r;

	buf_clear(&lines->line);
	while (!ended && (r = read_chunk(lines, err)) != 0) {
		if (r < 0)
			return r;
		ended = append_to_line(lines);
		if (lines->line.len > LINE_BYTES_MAX)
			return err_set(err, EINVAL,
				       "%s:%zu: the line is too long; check that this is a file of "
				       "probe data",
				       lines->name, lines->number + 1);
	}
	if (!ended && !lines->line.len) {
		lines->is_cut = lines->is_broken;
		return 0;
	}
	lines->number++;
	lines->is_cut = !ended;
	return check_line(lines, err);
}

static bool is_separator(char c)
{
	return c == ' ' || c == '\t' || c == ',';
}

char *next_word(char **line)
{
	char *word = *line, *end;

	while (is_separator(*word))
		word++;
	if (!*word)
		return NULL;
	for (end = word; *end && !is_separator(*end);)
		end++;
	*line = end + (*end != 0);
	*end = 0;
	return word;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Replaces "%20" by a blank. A '%' stays if no two hexadecimal digits, or "00", follow. */
static void decode_name(char *name)
{
	char *to = name;

	for (; *name; name++) {
		int high = *name == '%' ? hex_digit(name[1]) : -1;
		int low = high < 0 ? -1 : hex_digit(name[2]);

		if (low >= 0 && high * 16 + low) {
			*to++ = (char)(high * 16 + low);
			name += 2;
		} else {
			*to++ = *name;
		}
	}
	*to = 0;
}

int decode_word_name(const struct lines *lines, char *word, const char *what, char *name,
		     size_t cap, struct err *err)
{
	decode_name(word);
	if (!*word || strlen(word) >= cap)
		return err_set(err, EINVAL,
			       "%s:%zu: the name of a %s must have 1 to %zu bytes: \"%.60s\"",
			       LINE_AT(lines), what, cap - 1, word);
	snprintf(name, cap, "%s", word);
	return 0;
}

int find_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (int i = 0; *words; i++) {
		size_t length = strcspn(words, "|");

		if (length == n && memcmp(words, word, n) == 0)
			return i;
		words += length + (words[length] == '|');
	}
	return -1;
}
