/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds files and directories: the running binary, its preload library, the user's directories. No
 * path is compiled in, so that an installed tree can be moved. The caller frees returned paths.
 */
#ifndef SLUICE_BASE_PLACE_H
#define SLUICE_BASE_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

struct err;

/* Directory of the running binary, or NULL if /proc/self/exe cannot be read. */
char *place_binary_dir(void);

/*
 * The preload library: $SLUICE_LIBRARY, else beside the binary (build tree), else below ../lib
 * (installed). Returns a name for LD_PRELOAD, or NULL with a message if there is no library in the
 * places searched or it cannot be preloaded.
 */
char *place_library(struct err *err);

/* The user's name: $USER, else from the password file, else the user ID as a number. */
char *place_user(void);

/*
 * Expands a leading "~" or "~/" ($HOME, else the home of the password file), and ${NAME} or
 * ${NAME:-text} anywhere. An unset variable without text becomes empty.
 */
char *place_expand(const char *path);

/* directory/name; a slash at the end of directory is not doubled. */
char *place_join(const char *directory, const char *name);

/* Creates the directory and its parents. Succeeds if it exists already. */
int place_make_dir(const char *path, mode_t mode, struct err *err);

/* Creates the parent directories of a file that is about to be created. */
int place_make_parent(const char *file, mode_t mode, struct err *err);

bool place_exists(const char *path);

/* Path of a program as execvp() would find it, or NULL. */
char *place_program(const char *name);

#endif
