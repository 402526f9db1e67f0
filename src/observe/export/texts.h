/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A set of distinct texts with numbers, for the dictionaries of an export. The texts are escaped as
 * for a terminal (base/escape.h), so that they are valid UTF-8 and safe to print.
 */
#ifndef SLUICE_OBSERVE_EXPORT_TEXTS_H
#define SLUICE_OBSERVE_EXPORT_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct texts_entry;

/* A zeroed one is empty. */
struct texts {
	char **list; /* by number */
	size_t count, cap;
	struct texts_entry *entries; /* hash by text */
};

void texts_release(struct texts *texts);

/* Adds the text, NULL as "", unless its escaped form exists. Returns its number. */
uint32_t texts_add(struct texts *texts, const char *text);

#endif
