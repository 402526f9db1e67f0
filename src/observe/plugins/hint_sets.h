/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of MPI hints as text, KEY=VALUE;KEY=VALUE, as calls record them.
 */
#ifndef SLUICE_OBSERVE_PLUGINS_HINT_SETS_H
#define SLUICE_OBSERVE_PLUGINS_HINT_SETS_H

#include <stdbool.h>

/*
 * Overrides the first hint set with the second. Both are sorted by key, and so is the result, which
 * the caller frees. An empty value means that the hint is back to what it was without being set.
 */
char *hints_override(const char *first, const char *second);

/* Does `hints` contain all hints of the set? */
bool hints_contain(const char *hints, const char *set);

#endif
