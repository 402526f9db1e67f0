/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Printed names of layers, classes, groups and fields: the second column of the lists in
 * contract/call.h.
 */
#ifndef SLUICE_OBSERVE_TALLY_NAMES_H
#define SLUICE_OBSERVE_TALLY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "contract/call.h"

/* "?" where the number is unknown: a trace may be newer than this program. */
const char *names_layer(unsigned layer);
const char *names_class(unsigned class);
const char *names_group(unsigned group);

/* First part of an attribute's name: sockets and pipes use the attributes of POSIX. */
const char *names_domain(unsigned layer);

/* Attribute of the field in calls of this class, without the domain; NULL where it has none. */
const char *names_field(unsigned class, enum field field);

/* Does the result of this class have an attribute of its own, as the bytes of a read do? */
bool names_own_result(unsigned class);

/* enum layer of a name such as "POSIX", upper or lower case; -1 where there is none. */
int names_find_layer(const char *name, size_t n);

/*
 * Is the name of a "file" that of one? Streams on a pipe or socket that a program was given stay
 * calls of their own layer: the name that the kernel has for it tells.
 */
bool names_is_file(const char *name);

#endif
