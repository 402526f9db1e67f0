/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/describe.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/unit.h"

#define DESCRIPTION_BYTES_MAX (1 << 20)
#define SECTION_MAX 48 /* inih truncates longer names */

void describe_complain(struct describe *d, const char *format, ...)
{
	AUTO_FREE char *text = NULL;
	va_list ap;

	if (d->err.code)
		return;
	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	err_set(&d->err, EINVAL, "%s:%u: %s", d->name, d->line, text);
}

/* Describes for people how a value of the row is written. */
static const char *describe_syntax(const struct describe_row *row)
{
	static const char *const forms[] = {
		[DESCRIBE_COUNT] = "a whole number",
		[DESCRIBE_BYTES] = "a size such as 64K or 1M",
		[DESCRIBE_RATE] = "a number of bytes per second such as 35e9",
		[DESCRIBE_SECONDS] = "a number of seconds such as 2e-3",
		[DESCRIBE_NUMBER] = "a number",
		[DESCRIBE_WHOLE] = "a whole number",
		[DESCRIBE_SIZE] = "a size such as 64K or 1M",
	};

	return forms[row->kind];
}

union value {
	double number;
	uint64_t whole;
};

/* Parses the value in the type that stores it, and as a number to compare with the range. */
static bool parse_value(const struct describe_row *row, const char *text, union value *out,
			double *number)
{
	bool is_size = row->kind == DESCRIBE_BYTES || row->kind == DESCRIBE_SIZE;
	uint64_t whole;
	char *end;

	switch (row->kind) {
	case DESCRIBE_COUNT:
	case DESCRIBE_BYTES:
	case DESCRIBE_WHOLE:
	case DESCRIBE_SIZE:
		if ((is_size ? unit_parse_bytes(text, &whole) : unit_parse_count(text, &whole)) < 0)
			return false;
		*number = (double)whole;
		if (row->kind == DESCRIBE_WHOLE || row->kind == DESCRIBE_SIZE)
			out->whole = whole;
		else
			out->number = *number;
		return true;
	default:
		out->number = *number = strtod(text, &end);
		return *text && !*end && isfinite(*number);
	}
}

static void set_number(struct describe *d, size_t i, const char *text)
{
	const struct describe_row *row = &d->rows[i];
	union value value;
	double number;

	if (d->seen[i])
		describe_complain(d, "%s is given twice; the first time in line %u", row->key,
				  d->seen[i]);
	else if (!parse_value(row, text, &value, &number))
		describe_complain(d, "%s is '%s'; expected %s", row->key, text,
				  describe_syntax(row));
	else if (number < row->min || number > row->max)
		describe_complain(d, "%s is '%s'; expected a value from %g to %g", row->key, text,
				  row->min, row->max);
	else
		memcpy((char *)d->into + row->offset, &value, sizeof(value));
	d->seen[i] = d->line;
}

static void set_row(struct describe *d, const char *section, const char *key, const char *text)
{
	bool known = false;

	for (size_t i = 0; i < d->row_count; i++) {
		if (strcmp(d->rows[i].section, section) != 0)
			continue;
		known = true;
		if (strcmp(d->rows[i].key, key) == 0) {
			set_number(d, i, text);
			return;
		}
	}
	if (known)
		describe_complain(d, "unknown key '%s' in [%s]", key, section);
	else if (d->sections)
		describe_complain(d, "unknown section [%s]; expected one of %s", section,
				  d->sections);
}

static int handle_pair(void *user, const char *section, const char *key, const char *text)
{
	struct describe *d = user;

	if (!*section)
		describe_complain(d, "the line is not inside a [section]");
	else if (d->skipped && strcmp(section, d->skipped) == 0)
		return 1;
	else if (!d->take || !d->take(d, section, key, text))
		set_row(d, section, key, text);
	return 1;
}

/* Copies the next line without surrounding blanks. Returns false if the line is unusable; the error
 * is set then. */
static bool next_line(struct describe *d, char *out, size_t cap)
{
	const char *newline = memchr(d->text, '\n', d->left);
	const char *from = d->text;
	size_t n = newline ? (size_t)(newline - d->text) : d->left;

	d->text += n + (newline != NULL);
	d->left -= n + (newline != NULL);
	d->line++;
	for (; n && isspace((unsigned char)*from); n--)
		from++;
	while (n && isspace((unsigned char)from[n - 1]))
		n--;
	if (n >= cap)
		describe_complain(d, "the line is too long; split the list into several lines");
	else if (memchr(from, 0, n))
		describe_complain(d, "the line contains a zero byte");
	else {
		memcpy(out, from, n);
		out[n] = 0;
		return true;
	}
	return false;
}

static void check_line(struct describe *d, const char *line)
{
	if (!*line || *line == '#' || *line == ';')
		return;
	if (*line == '[' && (!strchr(line, ']') || strcspn(line + 1, "]") > SECTION_MAX))
		describe_complain(d, "the section heading has no closing ]");
	else if (*line != '[' && (!strpbrk(line, "=:") || *line == '=' || *line == ':'))
		describe_complain(d, "expected [section] or key = value");
}

/* Reads lines for inih. After an error all lines are empty. */
static char *read_line(char *out, int cap, void *user)
{
	struct describe *d = user;

	if (!d->left)
		return NULL;
	if (next_line(d, out, (size_t)cap))
		check_line(d, out);
	if (d->err.code)
		out[0] = 0;
	return out;
}

int describe_read(struct describe *d, const char *text, size_t bytes)
{
	d->text = text;
	d->left = bytes;
	d->line = 0;
	ini_parse_stream(read_line, d, handle_pair, d);
	return -d->err.code;
}

int describe_complete(struct describe *d, unsigned need)
{
	for (size_t i = 0; i < d->row_count; i++)
		if ((d->rows[i].need & need) && !d->seen[i])
			return err_set(&d->err, EINVAL, "%s: [%s] %s is missing; expected %s",
				       d->name, d->rows[i].section, d->rows[i].key,
				       describe_syntax(&d->rows[i]));
	return 0;
}

static int read_file(struct buf *out, const char *path, struct err *err)
{
	int r = file_read_all(out, path, DESCRIPTION_BYTES_MAX, err);

	return r == -EFBIG ? err_set(err, EFBIG, "%s: a description must not exceed 1 MiB", path)
			   : r;
}

/* Returns the path, or frees it and returns NULL if the file does not exist. */
static char *keep_if_exists(char *path)
{
	if (place_exists(path))
		return path;
	free(path);
	return NULL;
}

static char *find_description(const struct describe_folder *folder, const char *name)
{
	static const char *const below[] = { "", "../", "../share/sluice/", "../../share/sluice/" };
	const char *named = getenv(folder->variable);
	AUTO_FREE char *bin = place_binary_dir();
	char *path = named && *named ? keep_if_exists(xprintf("%s/%s.ini", named, name)) : NULL;

	for (size_t i = 0; !path && bin && i < sizeof(below) / sizeof(below[0]); i++)
		path = keep_if_exists(
			xprintf("%s/%s%s/%s.ini", bin, below[i], folder->folder, name));
	return path;
}

static bool is_path(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".ini") == 0);
}

int describe_load(const struct describe_folder *folder, const char *name, char **path,
		  struct buf *text, struct err *err)
{
	AUTO_FREE char *found = is_path(name) ? xstrdup(name) : find_description(folder, name);
	int r;

	if (!found)
		return err_set(err, ENOENT,
			       "unknown %s '%s': use %s%sthe path of a description (.ini), or set "
			       "%s to the directory of %s.ini",
			       folder->noun, name, folder->known ? folder->known : "",
			       folder->known ? ", " : "", folder->variable, name);
	r = read_file(text, found, err);
	if (r < 0)
		return r;
	*path = found;
	found = NULL;
	return 0;
}
