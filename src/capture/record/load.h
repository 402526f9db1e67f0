/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loads libraries into the observed program, as dlopen() does, also if an old libc has dlopen() in
 * a library that the program has not loaded. The program does not see an error in dlerror(). Guest.
 */
#ifndef SLUICE_CAPTURE_RECORD_LOAD_H
#define SLUICE_CAPTURE_RECORD_LOAD_H

struct link_map;

#pragma GCC visibility push(hidden)

/* The flags are those of dlopen(). NULL on failure. */
struct link_map *object_load(const char *path, int flags);

/* Releases what object_load() returned; the object is unloaded unless others use it. */
void object_unload(struct link_map *object);

#pragma GCC visibility pop

#endif
