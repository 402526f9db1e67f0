/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"

#define PRINTF_ROOM 64		   /* bytes; most formatted texts fit */
#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD, for bytes that are not UTF-8 */

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

/* Formats into the free space; a text that does not fit is formatted a second time. */
void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list ap, again;
	size_t space;
	int n;

	buf_reserve(buf, PRINTF_ROOM);
	space = buf->cap - buf->len;
	va_start(ap, format);
	va_copy(again, ap);
	n = vsnprintf(buf->data + buf->len, space, format, ap);
	va_end(ap);
	if (n > 0 && (size_t)n >= space) {
		buf_reserve(buf, (size_t)n);
		vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
	}
	va_end(again);
	if (n > 0)
		buf->len += (size_t)n;
	buf->data[buf->len] = 0;
}

void buf_put_shell_word(struct buf *buf, const char *word)
{
	if (*word && !strpbrk(word, " \t\n\"'\\$`|&;<>()*?[]{}!#~")) {
		buf_puts(buf, word);
		return;
	}
	buf_putc(buf, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_puts(buf, "'\\''");
		else
			buf_putc(buf, *word);
	buf_putc(buf, '\'');
}

void buf_put_command(struct buf *buf, char *const *argv)
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_putc(buf, ' ');
		buf_put_shell_word(buf, argv[i]);
	}
}

void buf_put_csv_cell(struct buf *buf, const char *text)
{
	AUTO_BUF struct buf safe = { 0 };

	escape_text(&safe, text, "");
	if (!strpbrk(buf_text(&safe), ",\"")) {
		buf_puts(buf, buf_text(&safe));
		return;
	}
	buf_putc(buf, '"');
	for (const char *at = buf_text(&safe); *at; at++) {
		if (*at == '"')
			buf_putc(buf, '"');
		buf_putc(buf, *at);
	}
	buf_putc(buf, '"');
}

static void put_xml_character(struct buf *buf, uint32_t code, const char *bytes, size_t n)
{
	if (code == '&')
		buf_puts(buf, "&amp;");
	else if (code == '<')
		buf_puts(buf, "&lt;");
	else if (code == '>')
		buf_puts(buf, "&gt;");
	else if (code == '"')
		buf_puts(buf, "&quot;");
	else if (code < 32) /* XML allows no control characters, not even escaped ones. */
		buf_putc(buf, ' ');
	else if (code == 0xfeff) /* XML readers drop a byte order mark unless it is escaped. */
		buf_puts(buf, "&#xFEFF;");
	else
		buf_add(buf, bytes, n);
}

void buf_put_xml(struct buf *buf, const char *text)
{
	while (*text) {
		uint32_t code;
		size_t n = escape_decode(text, &code);

		if (n)
			put_xml_character(buf, code, text, n);
		else
			buf_puts(buf, REPLACEMENT);
		text += n ? n : 1;
	}
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
