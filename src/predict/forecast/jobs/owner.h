/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who owns a job, without telling who that is (WAN-10): names become a keyed hash, SipHash-2-4.
 * With the same key a name gives the same text, so owners can be told apart and counted; without
 * the key nobody can try names until one fits. The key is the site's secret and never leaves its
 * file.
 */
#ifndef SLUICE_PREDICT_FORECAST_JOBS_OWNER_H
#define SLUICE_PREDICT_FORECAST_JOBS_OWNER_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define OWNER_KEY_BYTES 16
#define OWNER_TEXT 17 /* hexadecimal digits and the end */

/* SipHash-2-4 of any bytes. */
uint64_t owner_hash(const void *bytes, size_t n, const uint8_t key[OWNER_KEY_BYTES]);

/*
 * The hash of a name; what follows an '@' does not count: "ann@login3" is "ann". "" of "". What is
 * hidden already stays as it is, so that files of ours can be read again under any key.
 */
void owner_hide(char out[OWNER_TEXT], const char *name, const uint8_t key[OWNER_KEY_BYTES]);

/*
 * A text that people may have put a name in, such as a job's: the owner's name where it is a word
 * of its own, and whoever stands before the '@' of an address, are hidden. The caller frees it.
 */
char *owner_hide_in(const char *text, const char *owner, const uint8_t key[OWNER_KEY_BYTES]);

/*
 * The key in a file that only its owner can read (32 hexadecimal digits); it is made, at random, if
 * it is not there, with its directory. Many may do so at once, and get the same. -EACCES where
 * others can read the file, and nothing is taken from it.
 */
int owner_key(uint8_t key[OWNER_KEY_BYTES], const char *path, struct err *err);

#endif
