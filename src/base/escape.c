/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/escape.h"

#include <string.h>

#include "base/buf.h"

/* Lead bytes of characters of 1 to 4 bytes: marker, bits of the marker, and the smallest code. */
static const struct {
	unsigned char marker, mask;
	uint32_t smallest;
} forms[] = {
	{ 0x00, 0x80, 0 }, { 0xc0, 0xe0, 0x80 }, { 0xe0, 0xf0, 0x800 }, { 0xf0, 0xf8, 0x10000 }
};

size_t escape_decode(const char *text, uint32_t *code)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t more = 0;
	uint32_t value;

	while (more < 4 && (at[0] & forms[more].mask) != forms[more].marker)
		more++;
	if (more == 4)
		return 0;
	value = at[0] & ~(uint32_t)forms[more].mask;
	/* The zero byte at the end of the text is no continuation, so this never reads past it. */
	for (size_t i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3f);
	}
	if (value < forms[more].smallest || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	*code = value;
	return more + 1;
}

bool escape_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

bool escape_is_needed(const char *text)
{
	while (*text) {
		uint32_t code = 0;
		size_t n = escape_decode(text, &code);

		if (!n || escape_is_control(code))
			return true;
		text += n;
	}
	return false;
}

static void put_bytes(struct buf *out, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "\\x%02x", (unsigned char)bytes[i]);
}

void escape_text(struct buf *out, const char *text, const char *also)
{
	const char *plain = text; /* what precedes `text` from here is copied at once */

	while (*text) {
		uint32_t code = 0;
		size_t n = escape_decode(text, &code);
		bool marked = n == 1 && strchr(also, *text);

		if (n && !marked && !escape_is_control(code)) {
			text += n;
			continue;
		}
		buf_add(out, plain, (size_t)(text - plain));
		if (marked)
			buf_printf(out, "\\%c", *text);
		else if (*text == '\t' || *text == '\n')
			buf_puts(out, *text == '\t' ? "\\t" : "\\n");
		else
			put_bytes(out, text, n ? n : 1);
		text += n ? n : 1;
		plain = text;
	}
	buf_add(out, plain, (size_t)(text - plain));
}
