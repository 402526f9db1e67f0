/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds symbols in the loaded objects without the dynamic linker. Guest.
 *
 * dlsym() takes a lock, allocates memory for the message if it fails, and frees that memory later.
 * In a program with its own allocator, the guest may be called while the allocator initializes
 * itself; then dlsym() deadlocks or recurses without end. The functions below only read memory:
 * they call nothing, take no lock, and can run before the constructors of any library.
 *
 * The caller must make sure that no other thread unloads an object meanwhile. A process resolves
 * the functions of libc once, when it joins its run.
 */
#ifndef SLUICE_CAPTURE_RECORD_SYMBOLS_H
#define SLUICE_CAPTURE_RECORD_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

#pragma GCC visibility push(hidden)

/*
 * Looks up a symbol in one object. The default version is preferred; if there is none, an old
 * version is returned, which the dynamic linker would bind old programs to. NULL if the object does
 * not define it.
 */
void *symbol_find(const struct link_map *object, const char *name);

/* The same for variables only. */
void *symbol_find_variable(const struct link_map *object, const char *name);

/*
 * Looks up a symbol in the objects that were loaded after this library, in their order, up to
 * `last` (NULL: to the end). For the objects of the program's start, this is what RTLD_NEXT means.
 */
void *symbol_find_next(const char *name, const struct link_map *last);

/* The first object of the list, which is the program, and the last one at present. */
const struct link_map *object_first(void);
const struct link_map *object_last(void);

/* The addresses of an object: from its first segment to the end of its last one. */
struct object_range {
	uintptr_t start, end; /* equal: unknown */
};
struct object_range object_range(const struct link_map *object);

/* The object that contains the address; NULL if there is none. */
const struct link_map *object_find(const void *address);

/* Is this object this library? */
bool object_is_own(const struct link_map *object);

/* Does the object name the other one as a library that it needs? */
bool object_needs(const struct link_map *object, const struct link_map *other);

#pragma GCC visibility pop

#endif
