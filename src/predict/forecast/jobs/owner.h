/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hides the owners of jobs (WAN-10): names are replaced by a keyed hash, SipHash-2-4. With the same
 * key a name always gives the same hash, so owners can be distinguished and counted. Without the
 * key, it is impossible to try names until one matches. The key is secret and never leaves its
 * file.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_OWNER_H
#define SLUICE_PREDICT_FORECAST_JOBS_OWNER_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define OWNER_KEY_BYTES 16
#define OWNER_TEXT 17 /* 16 hexadecimal digits and the terminating 0 */

/* SipHash-2-4 of any bytes. */
uint64_t owner_hash(const void *bytes, size_t n, const uint8_t key[OWNER_KEY_BYTES]);

/*
 * Writes the hash of a name, without an '@' and what follows it: "ann@login3" counts as "ann". An
 * empty name gives "". A name that is already a hash stays unchanged, so that exported files can be
 * read with any key.
 */
void owner_hide(char out[OWNER_TEXT], const char *name, const uint8_t key[OWNER_KEY_BYTES]);

/*
 * Replaces names in a text such as a job name: the owner's name where it is a separate word, and
 * the user in an e-mail address. The caller frees the result.
 */
char *owner_hide_in(const char *text, const char *owner, const uint8_t key[OWNER_KEY_BYTES]);

/*
 * Reads the key from a file (32 hexadecimal digits). If the file does not exist, creates it and its
 * directory with a random key; concurrent callers get the same key. Returns -EACCES, and no key, if
 * other users can read the file.
 */
int owner_key_load(uint8_t key[OWNER_KEY_BYTES], const char *path, struct err *err);

#endif
