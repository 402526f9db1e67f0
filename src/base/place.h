/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where things are: the running binary, the preload library that belongs to it, the user's
 * directories. Nothing is compiled in, so that an installed tree can be moved. Results are the
 * caller's to free.
 */
#ifndef SLUICE_BASE_PLACE_H
#define SLUICE_BASE_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

struct err;

/* Directory of the running binary. NULL where /proc does not tell. */
char *place_binary_dir(void);

/*
 * The preload library: $SLUICE_LIBRARY, or beside the binary (build tree), or below ../lib
 * (installed). NULL with a sentence in err that lists where it was looked for.
 */
char *place_library(struct err *err);

/* Who runs this: $USER, else the number of the user. */
char *place_user(void);

/* The user's home: $HOME, else the password file, else "/". */
char *place_home(void);

/*
 * A leading "~" or "~/", and ${NAME} or ${NAME:-text} anywhere; an unset NAME without text is
 * empty.
 */
char *place_expand(const char *path);

/* directory/name, without a doubled slash. */
char *place_join(const char *directory, const char *name);

/* Makes the directory and its parents. Good if it is there already. */
int place_make_dir(const char *path, mode_t mode, struct err *err);

/* The same for the directory that a file is to stand in. */
int place_make_parent(const char *file, mode_t mode, struct err *err);

bool place_exists(const char *path);

/* Full path of a program as execvp would find it; NULL where it would not. */
char *place_program(const char *name);

#endif
