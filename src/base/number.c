/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Most numbers in tables have few digits: their digits and the power of ten are exact in a double,
 * so one multiplication or division rounds correctly (Clinger 1990). strtod() parses all others,
 * which is safe because sluice never leaves the C locale for numbers.
 */
#include "base/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS_MAX 19		      /* decimal digits that always fit into 64 bits */
#define EXPONENT_MAX 100000	      /* a larger one is infinity or 0 in any case */
#define EXACT_MAX ((uint64_t)1 << 53) /* integers up to this one are exact in a double */
#define EXACT_TENS 22		      /* and so are powers of ten up to this one */

/* digits * 10^exponent */
struct decimal {
	uint64_t digits;
	int count; /* significant digits seen; at most DIGITS_MAX are in `digits` */
	int exponent;
	bool negative;
};

static const char *read_digits(struct decimal *number, const char *at, int *seen, int shift)
{
	for (; *at >= '0' && *at <= '9'; at++, (*seen)++) {
		if (number->count < DIGITS_MAX)
			number->digits = number->digits * 10 + (uint64_t)(*at - '0');
		number->count += number->count || *at != '0';
		number->exponent += shift;
	}
	return at;
}

/* Returns the end of the exponent, or `at` if there is none. */
static const char *read_exponent(struct decimal *number, const char *at)
{
	const char *from = at + 1;
	bool negative;
	int exponent = 0;

	if (*at != 'e' && *at != 'E')
		return at;
	negative = *from == '-';
	from += *from == '-' || *from == '+';
	if (*from < '0' || *from > '9')
		return at;
	for (; *from >= '0' && *from <= '9'; from++) {
		if (exponent < EXPONENT_MAX)
			exponent = exponent * 10 + (*from - '0');
	}
	number->exponent += negative ? -exponent : exponent;
	return from;
}

static bool read_decimal(struct decimal *number, const char *text, size_t n)
{
	const char *at = text;
	int seen = 0;

	*number = (struct decimal){ .negative = *at == '-' };
	at += *at == '-' || *at == '+';
	at = read_digits(number, at, &seen, 0);
	if (*at == '.')
		at = read_digits(number, at + 1, &seen, -1);
	if (!seen)
		return false;
	return read_exponent(number, at) == text + n;
}

static bool read_word(const char *text, size_t n, double *value)
{
	static const struct {
		const char *word;
		double value;
	} words[] = { { "inf", INFINITY }, { "infinity", INFINITY }, { "nan", NAN } };
	bool negative = n && *text == '-';

	if (n && (*text == '-' || *text == '+'))
		text++, n--;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == n && strncasecmp(text, words[i].word, n) == 0) {
			*value = negative ? -words[i].value : words[i].value;
			return true;
		}
	}
	return false;
}

bool number_parse(const char *text, size_t n, double *value)
{
	static const double tens[EXACT_TENS + 1] = { 1e0,  1e1,	 1e2,  1e3,  1e4,  1e5,	 1e6,  1e7,
						     1e8,  1e9,	 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
						     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	struct decimal number;

	if (!n)
		return false;
	if (!read_decimal(&number, text, n))
		return read_word(text, n, value);
	if (number.count <= DIGITS_MAX && number.digits <= EXACT_MAX &&
	    abs(number.exponent) <= EXACT_TENS) {
		double digits = (double)number.digits;

		digits = number.exponent < 0 ? digits / tens[-number.exponent]
					     : digits * tens[number.exponent];
		*value = number.negative ? -digits : digits;
		return true;
	}
	*value = strtod(text, NULL);
	return true;
}

/* %.15g drops trailing zeros, so it gives the shortest text wherever 15 digits are enough. */
size_t number_format(double value, char text[NUMBER_TEXT_MAX])
{
	char shortest[NUMBER_TEXT_MAX];
	int n = 0;

	for (int digits = 15; digits <= 17; digits++) {
		n = snprintf(shortest, sizeof(shortest), "%.*g", digits, value);
		if (strtod(shortest, NULL) == value)
			break;
	}
	memcpy(text, shortest, (size_t)n + 1);
	return (size_t)n;
}
