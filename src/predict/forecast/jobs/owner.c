/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/jobs/owner.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/place.h"

/* SipHash-2-4: Aumasson and Bernstein, 2012. */

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static uint64_t read_little_endian(const uint8_t *bytes, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

static void sip_rounds(uint64_t v[4], int count)
{
	for (; count; count--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate_left(v[1], 13) ^ v[0];
		v[3] = rotate_left(v[3], 16) ^ v[2];
		v[0] = rotate_left(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate_left(v[1], 17) ^ v[2];
		v[3] = rotate_left(v[3], 21) ^ v[0];
		v[2] = rotate_left(v[2], 32);
	}
}

uint64_t owner_hash(const void *bytes, size_t n, const uint8_t key[OWNER_KEY_BYTES])
{
	const uint8_t *from = bytes;
	uint64_t k0 = read_little_endian(key, 8), k1 = read_little_endian(key + 8, 8), word;
	uint64_t v[4] = { k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			  k1 ^ 0x7465646279746573 };

	for (size_t left = n;; left -= 8, from += 8) {
		/* The last word has the remaining bytes and the length. */
		word = left < 8 ? read_little_endian(from, left) | (uint64_t)n << 56
				: read_little_endian(from, 8);
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
		if (left < 8)
			break;
	}
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* True if the name is already a hash. */
static bool is_hidden(const char *name, size_t n)
{
	return n == OWNER_TEXT - 1 && strspn(name, "0123456789abcdef") >= n;
}

static void hash_name(char out[OWNER_TEXT], const char *name, size_t n,
		      const uint8_t key[OWNER_KEY_BYTES])
{
	out[0] = 0;
	if (is_hidden(name, n))
		snprintf(out, OWNER_TEXT, "%.*s", (int)n, name);
	else if (n)
		snprintf(out, OWNER_TEXT, "%016" PRIx64, owner_hash(name, n, key));
}

void owner_hide(char out[OWNER_TEXT], const char *name, const uint8_t key[OWNER_KEY_BYTES])
{
	hash_name(out, name, strcspn(name, "@"), key);
}

/* True for the characters of a user name; a word is a run of them. */
static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._+%-", c)) || (unsigned char)c > 127;
}

/* Finds the owner as a separate word: "ann" is in "run-ann_3" but not in "channel". */
static const char *find_owner(const char *from, const char *end, const char *owner, size_t n)
{
	for (const char *p = from; n && p + n <= end; p++)
		if (memcmp(p, owner, n) == 0 && (p == from || !isalnum((unsigned char)p[-1])) &&
		    (p + n == end || !isalnum((unsigned char)p[n])))
			return p;
	return NULL;
}

char *owner_hide_in(const char *text, const char *owner, const uint8_t key[OWNER_KEY_BYTES])
{
	size_t owner_n = strcspn(owner, "@");
	struct buf out = { 0 };
	char hidden[OWNER_TEXT];

	while (*text) {
		const char *end = text, *at, *found;

		while (is_name_char(*end))
			end++;
		at = *end == '@' && end > text && is_name_char(end[1]) ? end : NULL;
		if (at) {
			hash_name(hidden, text, (size_t)(end - text), key);
			buf_puts(&out, hidden);
			text = end;
		}
		while ((found = find_owner(text, end, owner, owner_n))) {
			hash_name(hidden, owner, owner_n, key);
			buf_add(&out, text, (size_t)(found - text));
			buf_puts(&out, hidden);
			text = found + owner_n;
		}
		buf_add(&out, text, (size_t)(end - text));
		text = end;
		if (*text)
			buf_putc(&out, *text++);
	}
	return buf_take(&out);
}

static bool parse_key(uint8_t key[OWNER_KEY_BYTES], const char *text, size_t n)
{
	if (n < 2 * OWNER_KEY_BYTES ||
	    strspn(text + 2 * OWNER_KEY_BYTES, " \t\r\n") != n - 2 * OWNER_KEY_BYTES)
		return false;
	for (size_t i = 0; i < OWNER_KEY_BYTES; i++) {
		const char digits[3] = { text[2 * i], text[2 * i + 1], 0 };

		if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
			return false;
		key[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return true;
}

static int read_key(uint8_t key[OWNER_KEY_BYTES], const char *path, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t found[OWNER_KEY_BYTES];
	char text[2 * OWNER_KEY_BYTES + 8] = "";
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (st.st_mode & 077)
		return err_set(err, EACCES,
			       "%s: other users can read this key; run chmod 600 on it, or "
			       "remove it to get a new one",
			       path);
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!parse_key(found, text, (size_t)n))
		return err_set(err, EINVAL,
			       "%s: invalid key: expected %d hexadecimal digits; remove the file "
			       "to get a new one",
			       path, 2 * OWNER_KEY_BYTES);
	memcpy(key, found, sizeof(found));
	return 0;
}

static int write_new_key(int fd)
{
	uint8_t key[OWNER_KEY_BYTES];
	char text[2 * OWNER_KEY_BYTES + 2];

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -errno;
	for (size_t i = 0; i < sizeof(key); i++)
		snprintf(text + 2 * i, 3, "%02x", key[i]);
	text[sizeof(text) - 2] = '\n';
	if (write(fd, text, sizeof(text) - 1) != (ssize_t)sizeof(text) - 1 || fsync(fd) < 0)
		return errno ? -errno : -EIO;
	return 0;
}

/* Writes a temporary file and links it, so that the key file is complete and never replaced. */
static int create_key_file(const char *path, struct err *err)
{
	AUTO_FREE char *temporary = xprintf("%s.XXXXXX", path);
	int fd, r = place_make_parent(path, 0700, err);

	if (r < 0)
		return r;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "cannot create %s: %s", path, strerror(errno));
	r = write_new_key(fd);
	close(fd);
	if (r >= 0 && link(temporary, path) < 0 && errno != EEXIST)
		r = -errno;
	unlink(temporary);
	return r < 0 ? err_set(err, -r, "cannot create %s: %s", path, strerror(-r)) : 0;
}

int owner_key_load(uint8_t key[OWNER_KEY_BYTES], const char *path, struct err *err)
{
	int r;

	if (!place_exists(path)) {
		r = create_key_file(path, err);
		if (r < 0)
			return r;
	}
	return read_key(key, path, err);
}
