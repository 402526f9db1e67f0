/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The values of the text form: escaped texts and decimal numbers.
 */
#include "trace/text/text.h"

#include <string.h>

/* Length of the UTF-8 character at text, or 0 if it is invalid. */
static size_t utf8_length(const unsigned char *text)
{
	size_t n = text[0] < 0x80   ? 1
		   : text[0] < 0xc2 ? 0
		   : text[0] < 0xe0 ? 2
		   : text[0] < 0xf0 ? 3
				    : 4;

	if (text[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and code points beyond U+10FFFF are invalid. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return n;
}

void text_escape(struct buf *out, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		size_t n = utf8_length(at);

		if (*at == '\\' || *at == '\t' || *at == '\n') {
			buf_putc(out, '\\');
			buf_putc(out, *at == '\\' ? '\\' : *at == '\t' ? 't' : 'n');
		} else if (!n || *at < ' ' || *at == 0x7f) {
			buf_printf(out, "\\x%02x", *at);
			n = 1;
		} else {
			buf_add(out, at, n);
		}
		at += n;
	}
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

bool text_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		int high, low;

		if (*text != '\\') {
			*to++ = *text;
			continue;
		}
		text++;
		if (*text == '\\' || *text == 't' || *text == 'n') {
			*to++ = (char)(*text == 't' ? '\t' : *text == 'n' ? '\n' : '\\');
			continue;
		}
		high = *text == 'x' ? hex_digit(text[1]) : -1;
		low = high >= 0 ? hex_digit(text[2]) : -1;
		if (low < 0 || high + low == 0)
			return false;
		*to++ = (char)(high << 4 | low);
		text += 2;
	}
	*to = 0;
	return true;
}

void text_put_number(struct buf *out, int64_t value, bool is_unsigned)
{
	bool negative = !is_unsigned && value < 0;
	uint64_t rest = negative ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[24], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (negative)
		*--at = '-';
	buf_add(out, at, (size_t)(digits + sizeof(digits) - at));
}

bool text_get_number(const char *text, bool is_unsigned, int64_t *value)
{
	bool negative = *text == '-';
	uint64_t sum = 0, limit = is_unsigned ? UINT64_MAX : (uint64_t)INT64_MAX + negative;

	text += negative;
	if (!*text || (negative && is_unsigned))
		return false;
	for (; *text; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, digit, &sum) || sum > limit)
			return false;
	}
	*value = (int64_t)(negative ? 0 - sum : sum);
	return true;
}
