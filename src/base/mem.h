/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory allocation for host programs: it succeeds or aborts the program. AUTO_FREE, AUTO_FCLOSE
 * and AUTO_CLOSE release a variable when it goes out of scope.
 */
#ifndef SLUICE_BASE_MEM_H
#define SLUICE_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define NEVER_NULL __attribute__((returns_nonnull))

NEVER_NULL void *xmalloc(size_t bytes);
NEVER_NULL void *xcalloc(size_t count, size_t bytes);
/*
 * As xcalloc(), for an array that is accessed at random: if it is large, it gets huge pages where
 * the kernel has them. With small ones, page faults would take more time than what is done.
 */
NEVER_NULL void *xcalloc_large(size_t count, size_t bytes);
NEVER_NULL void *xrealloc(void *old, size_t count, size_t bytes);
char *xstrdup(const char *text); /* returns NULL for NULL */
NEVER_NULL char *xstrndup(const char *text, size_t n);
NEVER_NULL char *xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
NEVER_NULL char *xvprintf(const char *format, va_list ap) __attribute__((format(printf, 1, 0)));

/* A stream whose text is in memory after fclose(); see open_memstream(3). */
NEVER_NULL FILE *xmemstream(char **text, size_t *bytes);

/*
 * Makes room for at least `need` elements of `bytes` each and returns the array. The capacity *cap
 * doubles as often as necessary.
 */
NEVER_NULL void *xgrow(void *array, size_t *cap, size_t need, size_t bytes);

void auto_free(void *pointer_to_pointer);
void auto_fclose(void *pointer_to_file);
void auto_close(int *fd);

#define AUTO_FREE __attribute__((cleanup(auto_free)))
#define AUTO_FCLOSE __attribute__((cleanup(auto_fclose)))
#define AUTO_CLOSE __attribute__((cleanup(auto_close)))

#endif
