/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads escaped texts and writes and reads decimal numbers of the text form.
 */
#include "trace/text/text.h"

#include <string.h>

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
