/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads numbers in text. Guest.
 *
 * The functions of libc are not used: with glibc 2.38 or later, a call of strtoull() binds to a new
 * function, and the library would not load on older systems (see old_libc.h).
 */
#ifndef SLUICE_CAPTURE_RECORD_NUMBER_H
#define SLUICE_CAPTURE_RECORD_NUMBER_H

#include <stdint.h>

/*
 * Reads a decimal number without sign, which may follow blanks, and moves *at behind it. A number
 * that is too large becomes UINT64_MAX. Without a number, the result is 0 and *at does not change.
 */
static inline uint64_t number_read(const char **at)
{
	const char *p = *at;
	uint64_t number = 0;

	while (*p == ' ' || *p == '\t')
		p++;
	for (; *p >= '0' && *p <= '9'; *at = ++p) {
		uint64_t digit = (uint64_t)(*p - '0');

		number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
	}
	return number;
}

#endif
