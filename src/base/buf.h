/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A growing byte string. data is always followed by a zero byte that does not count, so it can be
 * used as a C string when it holds text. A zero-initialized buf is empty and may be released.
 */
#ifndef SLUICE_BASE_BUF_H
#define SLUICE_BASE_BUF_H

#include <stddef.h>

struct buf {
	char *data; /* NULL until something is added; buf_text() returns "" then */
	size_t len, cap;
};

void buf_release(struct buf *buf);
void buf_clear(struct buf *buf);		/* empties it but keeps the memory */
void buf_reserve(struct buf *buf, size_t more); /* ensures room for `more` bytes after len */
void buf_add(struct buf *buf, const void *bytes, size_t n);
void buf_puts(struct buf *buf, const char *text);
void buf_putc(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Append text for another language, quoted or escaped only where necessary. */
void buf_put_shell_word(struct buf *buf, const char *word); /* a word for a shell */
void buf_put_command(struct buf *buf, char *const *argv);   /* such words, up to NULL */
void buf_put_csv_cell(struct buf *buf, const char *text);   /* a CSV cell; see base/escape.h */
void buf_put_xml(struct buf *buf,
		 const char *text);	     /* XML text; control characters become blanks */
const char *buf_text(const struct buf *buf); /* never NULL */
char *buf_take(struct buf *buf); /* empties buf and returns its text, which the caller frees */

#define AUTO_BUF __attribute__((cleanup(buf_release)))

#endif
