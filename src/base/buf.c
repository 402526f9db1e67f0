/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void buf_release(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){ 0 };
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = 0;
}

void buf_reserve(struct buf *buf, size_t more)
{
	buf->data = xgrow(buf->data, &buf->cap, buf->len + more + 1, 1);
}

void buf_add(struct buf *buf, const void *bytes, size_t n)
{
	buf_reserve(buf, n);
	if (n)
		memcpy(buf->data + buf->len, bytes, n);
	buf->len += n;
	buf->data[buf->len] = 0;
}

void buf_puts(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	text = xvprintf(format, ap);
	va_end(ap);
	buf_puts(buf, text);
	free(text);
}

const char *buf_text(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
	char *text = buf->data ? buf->data : xstrdup("");

	*buf = (struct buf){ 0 };
	return text;
}
