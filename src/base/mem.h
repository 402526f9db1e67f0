/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allocation for the host: it either succeeds or ends the program (STYLE: the host dies on
 * out-of-memory). Release by scope for the usual handles.
 */
#ifndef SLUICE_BASE_MEM_H
#define SLUICE_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define NEVER_NULL __attribute__((returns_nonnull))

NEVER_NULL void *xmalloc(size_t bytes);
NEVER_NULL void *xcalloc(size_t count, size_t bytes);
NEVER_NULL void *xrealloc(void *old, size_t count, size_t bytes);
char *xstrdup(const char *text); /* NULL gives NULL */
NEVER_NULL char *xstrndup(const char *text, size_t n);
NEVER_NULL char *xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
NEVER_NULL char *xvprintf(const char *format, va_list ap) __attribute__((format(printf, 1, 0)));

/*
 * Makes room for at least `need` elements of `bytes` each; *cap grows by doubling. Returns the
 * array.
 */
NEVER_NULL void *xgrow(void *array, size_t *cap, size_t need, size_t bytes);

void auto_free(void *pointer_to_pointer);
void auto_fclose(void *pointer_to_file);
void auto_close(int *fd);

#define AUTO_FREE __attribute__((cleanup(auto_free)))
#define AUTO_FCLOSE __attribute__((cleanup(auto_fclose)))
#define AUTO_CLOSE __attribute__((cleanup(auto_close)))

#endif
