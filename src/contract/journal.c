/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one writer and the one reader of the names and records of a journal. Guest and host link the
 * same code, so it uses libc only and allocates nothing.
 */
#include "contract/journal.h"

#include <string.h>

#define RECORD_NUMBERS 8 /* between KIND and PATH */

uint64_t journal_hash_on(uint64_t host, const char *path)
{
	for (; *path; path++)
		host = (host ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
	return host;
}

uint64_t journal_hash(const char *path)
{
	return journal_hash_on(UINT64_C(0xcbf29ce484222325), path);
}

uint64_t journal_device(uint64_t device, uint64_t device_of_journal)
{
	return device == device_of_journal ? 0 : device;
}

/* Writes the number with at least `digits` digits and returns its end. */
static char *put_number(char *to, uint64_t number, unsigned base, unsigned digits)
{
	char reversed[24];
	unsigned n = 0;

	do {
		reversed[n++] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number || n < digits);
	while (n)
		*to++ = reversed[--n];
	*to = 0;
	return to;
}

static char *put_text(char *to, const char *text)
{
	size_t n = strlen(text);

	memcpy(to, text, n + 1);
	return to + n;
}

void journal_hash_name(char name[JOURNAL_NAME_BYTES], const char *prefix, uint64_t hash, int n)
{
	char *at = put_number(put_text(name, prefix), hash, 16, 16);

	if (n >= 0) {
		*at++ = '-';
		put_number(at, (uint64_t)n, 10, 1);
	}
}

void journal_file_name(char name[JOURNAL_NAME_BYTES], const char *prefix, uint64_t device,
		       uint64_t inode)
{
	char *at = put_number(put_text(name, prefix), device, 16, 1);

	*at++ = '-';
	put_number(at, inode, 16, 1);
}

static char *put_field(char *to, uint64_t number)
{
	to = put_number(to, number, 10, 1);
	*to++ = ' ';
	return to;
}

bool journal_write_record(char text[JOURNAL_RECORD_BYTES], const struct journal_record *r)
{
	const uint64_t numbers[RECORD_NUMBERS] = { r->device,
						   r->inode,
						   r->mode,
						   r->uid,
						   r->gid,
						   r->size,
						   (uint64_t)r->atime_ns,
						   (uint64_t)r->mtime_ns };
	size_t n = strlen(r->path);
	char *at = text;

	*at++ = (char)r->kind;
	*at++ = ' ';
	for (unsigned i = 0; i < RECORD_NUMBERS; i++)
		at = put_field(at, numbers[i]);
	if (n >= JOURNAL_RECORD_BYTES - (size_t)(at - text))
		return false;
	memcpy(at, r->path, n + 1);
	return true;
}

/* Reads a number and the blank behind it. */
static bool take_field(const char **at, uint64_t *number)
{
	const char *p = *at;

	for (*number = 0; *p >= '0' && *p <= '9'; p++)
		*number = *number * 10 + (uint64_t)(*p - '0');
	if (p == *at || *p != ' ')
		return false;
	*at = p + 1;
	return true;
}

bool journal_read_record(const char *text, struct journal_record *record)
{
	uint64_t numbers[RECORD_NUMBERS];
	const char *at = text + 2;

	if (!text[0] || text[1] != ' ')
		return false;
	for (unsigned i = 0; i < RECORD_NUMBERS; i++)
		if (!take_field(&at, &numbers[i]))
			return false;
	if (*at != '/')
		return false;
	*record = (struct journal_record){ .kind = (enum journal_kind)text[0],
					   .device = numbers[0],
					   .inode = numbers[1],
					   .mode = numbers[2],
					   .uid = numbers[3],
					   .gid = numbers[4],
					   .size = numbers[5],
					   .atime_ns = (int64_t)numbers[6],
					   .mtime_ns = (int64_t)numbers[7],
					   .path = at };
	return true;
}

bool journal_write_options(char text[JOURNAL_RECORD_BYTES], const struct journal_options *options)
{
	char *at = put_field(put_field(put_field(text, options->limit), options->permit),
			     options->host);
	size_t n = strlen(options->claims);

	if (n >= JOURNAL_RECORD_BYTES - (size_t)(at - text))
		return false;
	memcpy(at, options->claims, n + 1);
	return true;
}

bool journal_read_options(const char *text, struct journal_options *options)
{
	uint64_t limit, permit, host;

	if (!take_field(&text, &limit) || !take_field(&text, &permit) ||
	    !take_field(&text, &host) || *text != '/')
		return false;
	*options = (struct journal_options){
		.limit = limit, .permit = permit, .host = host, .claims = text
	};
	return true;
}
