/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/stats/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define CHUNK 4096

void procfile_open(struct procfile *file, const char *root, const char *path)
{
	AUTO_FREE char *whole = xprintf("%s%s", root, path);

	*file = (struct procfile){ .fd = open(whole, O_RDONLY | O_CLOEXEC) };
}

void procfile_close(struct procfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	buf_release(&file->text);
	file->fd = -1;
}

/* The kernel returns some of these files page by page: only 0 means the end. */
const char *procfile_read(struct procfile *file)
{
	struct buf *text = &file->text;
	ssize_t n;

	if (file->fd < 0)
		return NULL;
	buf_clear(text);
	do {
		buf_reserve(text, CHUNK);
		n = pread(file->fd, text->data + text->len, CHUNK, (off_t)text->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return NULL;
		text->len += (size_t)n;
		text->data[text->len] = 0;
	} while (n);
	return text->data;
}

char *procfile_once(const char *root, const char *path)
{
	struct procfile file;
	char *text;

	procfile_open(&file, root, path);
	text = procfile_read(&file) ? buf_take(&file.text) : NULL;
	procfile_close(&file);
	return text;
}

const char *procfile_next_line(const char *at)
{
	at = strchr(at, '\n');
	return at && at[1] ? at + 1 : NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool procfile_number(const char **at, uint64_t *value)
{
	const char *p = *at;
	uint64_t sum = 0;

	while (is_blank(*p))
		p++;
	*at = p;
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		sum = sum * 10 + (uint64_t)(*p - '0');
	*at = p;
	*value = sum;
	return true;
}

const char *procfile_word(const char **at, unsigned *length)
{
	const char *p = *at, *word;

	while (is_blank(*p))
		p++;
	word = p;
	while (*p && *p != '\n' && !is_blank(*p))
		p++;
	*length = (unsigned)(p - word);
	*at = p;
	return word;
}
