/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Printed names of layers, classes, groups and fields. They are the second column of the lists in
 * contract/call.h.
 */
#ifndef SLUICE_OBSERVE_TALLY_NAMES_H
#define SLUICE_OBSERVE_TALLY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "contract/call.h"

/* These return "?" for an unknown number, because the trace may be newer than this program. */
const char *names_layer(unsigned layer);
const char *names_class(unsigned class);
const char *names_group(unsigned group);

/* Is the time of its calls I/O time? Not that of sockets and pipes, and of what the program says of
 * itself. */
static inline bool names_layer_is_io(unsigned layer)
{
	return layer != LAYER_NETWORK && layer != LAYER_APPLICATION;
}

/* First part of an attribute's name. Sockets and pipes use the attributes of POSIX. */
const char *names_domain(unsigned layer);

/*
 * Attribute of the field in calls of this class, without the domain; NULL if there is no attribute.
 */
const char *names_field(unsigned class, enum field field);

/* Does the result of this class have an attribute of its own, as the bytes of a read do? */
bool names_own_result(unsigned class);

/*
 * Returns the enum layer for a name such as "POSIX" in upper or lower case, or -1 if there is no
 * such layer.
 */
int names_find_layer(const char *name, size_t n);

/*
 * Does a list of functions, separated by blanks or commas, contain NAME or LAYER/NAME?
 */
bool names_list_has(const char *list, unsigned layer, const char *name);

/*
 * Does the name belong to a file? The kernel names an inherited pipe or socket "pipe:[...]" or
 * "socket:[...]".
 */
bool names_is_file(const char *name);

#endif
