/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small functions on strings that libc lacks.
 */
#ifndef SLUICE_BASE_TEXT_H
#define SLUICE_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/* NULL equals only NULL. */
static inline bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static inline const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static inline bool text_starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static inline bool text_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && memcmp(text + n - m, end, m) == 0;
}

#endif
