/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes and times as people write them. The program keeps sizes in bytes and times in nanoseconds.
 */
#ifndef SLUICE_BASE_UNIT_H
#define SLUICE_BASE_UNIT_H

#include <stdint.h>

/* "512", "64K", "1.5G", "2GiB", "10 MB": K, M, G, T, P are powers of 1024.
 * Returns -EINVAL or -ERANGE on failure. */
int unit_parse_bytes(const char *text, uint64_t *bytes);

/* "10ms", "1.5s", "250us", "40ns", "2m", "1h"; a number without a unit is seconds.
 * Negative times are not accepted. */
int unit_parse_ns(const char *text, int64_t *ns);

/* Accepts decimal digits only. */
int unit_parse_count(const char *text, uint64_t *count);

#define UNIT_TEXT 32

/* "0 B", "512 B", "1.50 KiB", "12.3 GiB": three significant digits. Returns out. */
const char *unit_bytes(char out[UNIT_TEXT], double bytes);

/* "40 ns", "1.50 us", "12.3 ms", "4.00 s", "2 min 3 s", "1 h 5 min". Returns out. */
const char *unit_ns(char out[UNIT_TEXT], int64_t ns);

/* "12.3 GiB/s"; "-" if ns is 0. Returns out. */
const char *unit_rate(char out[UNIT_TEXT], double bytes, int64_t ns);

/* "12.3%"; "-" if the whole is 0. Returns out. */
const char *unit_share(char out[UNIT_TEXT], double part, double whole);

#endif
