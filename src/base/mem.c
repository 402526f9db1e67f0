/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_CAP 16
#define HUGE_PAGE (UINT64_C(2) << 20) /* the smallest kind */

static void *abort_if_null(void *p)
{
	if (p)
		return p;
	fputs("sluice: out of memory\n", stderr);
	abort();
}

void *xmalloc(size_t bytes)
{
	return abort_if_null(malloc(bytes ? bytes : 1));
}

void *xcalloc(size_t count, size_t bytes)
{
	return abort_if_null(calloc(count ? count : 1, bytes ? bytes : 1));
}

void *xcalloc_large(size_t count, size_t bytes)
{
	void *array = xcalloc(count, bytes);
	uintptr_t start = ((uintptr_t)array + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)array + count * bytes) & ~(uintptr_t)(HUGE_PAGE - 1);

	/* Only a hint: whether it is followed does not matter. */
	if (start < end)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
	return array;
}

void *xrealloc(void *old, size_t count, size_t bytes)
{
	size_t total;

	if (__builtin_mul_overflow(count, bytes, &total))
		return abort_if_null(NULL);
	return abort_if_null(realloc(old, total ? total : 1));
}

char *xstrdup(const char *text)
{
	return text ? abort_if_null(strdup(text)) : NULL;
}

char *xstrndup(const char *text, size_t n)
{
	return abort_if_null(strndup(text, n));
}

FILE *xmemstream(char **text, size_t *bytes)
{
	return abort_if_null(open_memstream(text, bytes));
}

char *xvprintf(const char *format, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, format, ap) < 0)
		abort_if_null(NULL);
	return text;
}

char *xprintf(const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	return text;
}

void *xgrow(void *array, size_t *cap, size_t need, size_t bytes)
{
	size_t n = *cap ? *cap : FIRST_CAP;

	if (need <= *cap && array)
		return array;
	while (n < need)
		n *= 2;
	array = xrealloc(array, n, bytes);
	*cap = n;
	return array;
}

void auto_free(void *p)
{
	free(*(void **)p);
}

void auto_fclose(void *p)
{
	FILE *f = *(FILE **)p;
	int saved = errno;

	if (f)
		fclose(f);
	errno = saved;
}

void auto_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}
