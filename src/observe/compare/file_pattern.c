/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/file_pattern.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

#define NUMBER_DIGITS 5
#define HEX_DIGITS 8
#define MKSTEMP_LENGTH 6
#define TEMPFILE_LENGTH 8
#define PID_DIGITS 9

/* A maximal run of letters, digits and, in a name of tempfile, underscores. */
struct word {
	const char *start;
	size_t length;
	char before; /* the character before it; 0 at the start of the path */
	char after;
};

enum character { LOWER, UPPER, DIGIT, OTHER };

static enum character character_of(char c)
{
	unsigned char u = (unsigned char)c;

	return islower(u) ? LOWER : isupper(u) ? UPPER : isdigit(u) ? DIGIT : OTHER;
}

static unsigned count_changes(const char *text, size_t length)
{
	unsigned changes = 0;

	for (size_t i = 1; i < length; i++)
		changes += character_of(text[i]) != character_of(text[i - 1]);
	return changes;
}

/* In a directory for temporary files a word needs to be less unusual. */
static bool is_random(const char *text, size_t length, bool is_temporary)
{
	return count_changes(text, length) >= (is_temporary ? 1 : 2);
}

static bool is_temporary_path(const char *path)
{
	return text_starts_with(path, "/tmp/") || text_starts_with(path, "/var/tmp/") ||
	       text_starts_with(path, "/dev/shm/");
}

static int compare_pid(const void *key, const void *element)
{
	long pid = *(const long *)key, other = *(const int32_t *)element;

	return (pid > other) - (pid < other);
}

static bool is_pid(const struct file_context *context, const char *digits, size_t length)
{
	long pid = 0;

	if (length > PID_DIGITS || !context->pid_count)
		return false;
	for (size_t i = 0; i < length; i++)
		pid = 10 * pid + (digits[i] - '0');
	return pid > 1 && bsearch(&pid, context->pids, context->pid_count, sizeof(*context->pids),
				  compare_pid);
}

static bool is_hexadecimal(const struct word *word)
{
	bool has_digit = false, has_letter = false;

	for (size_t i = 0; i < word->length; i++) {
		if (!isxdigit((unsigned char)word->start[i]))
			return false;
		has_digit |= isdigit((unsigned char)word->start[i]) != 0;
		has_letter |= isalpha((unsigned char)word->start[i]) != 0;
	}
	return word->length >= HEX_DIGITS && has_digit && has_letter;
}

/* "XXXXXX" of mkstemp() at the end of a component, or before its suffix. */
static bool is_mkstemp(const struct word *word, bool is_temporary)
{
	return word->length == MKSTEMP_LENGTH && word->before && strchr(".-_", word->before) &&
	       (!word->after || strchr("./", word->after)) &&
	       is_random(word->start, word->length, is_temporary);
}

/* The length of a name as Python's tempfile makes it, such as "tmp3k_x9a2b"; 0: it is none. */
static size_t tempfile_length(const char *at, char before, bool is_temporary)
{
	size_t length = 0;

	if (before != '/' || !text_starts_with(at, "tmp"))
		return 0;
	while (islower((unsigned char)at[3 + length]) || isdigit((unsigned char)at[3 + length]) ||
	       at[3 + length] == '_')
		length++;
	return length == TEMPFILE_LENGTH && is_random(at + 3, length, is_temporary) ? 3 + length
										    : 0;
}

/* Copies a word; digits in it that are a process id or a long number are replaced. */
static void put_word(struct buf *out, const struct word *word, const struct file_context *context)
{
	const char *at = word->start, *end = word->start + word->length;

	while (at < end) {
		size_t digits = 0;

		while (at + digits < end && isdigit((unsigned char)at[digits]))
			digits++;
		if (digits && is_pid(context, at, digits))
			buf_puts(out, "{pid}");
		else if (digits >= NUMBER_DIGITS)
			buf_puts(out, "{number}");
		else
			buf_add(out, at, digits ? digits : 1);
		at += digits ? digits : 1;
	}
}

static const char *skip_directory(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return n > 1 && text_starts_with(path, directory) && path[n] == '/' ? path + n + 1 : path;
}

char *file_pattern(const char *path, const struct file_context *context)
{
	const char *at = skip_directory(path, context->directory);
	bool is_temporary = is_temporary_path(path);
	struct buf out = { 0 };

	while (*at) {
		struct word word = { .start = at, .before = at > path ? at[-1] : 0 };
		size_t tempfile = tempfile_length(at, word.before, is_temporary);

		while (isalnum((unsigned char)at[word.length]))
			word.length++;
		word.after = at[word.length];
		if (tempfile)
			buf_puts(&out, "tmp{random}");
		else if (!word.length)
			buf_putc(&out, *at);
		else if (is_mkstemp(&word, is_temporary))
			buf_puts(&out, "{random}");
		else if (is_hexadecimal(&word))
			buf_puts(&out, "{id}");
		else
			put_word(&out, &word, context);
		at += tempfile ? tempfile : word.length ? word.length : 1;
	}
	return buf_take(&out);
}
