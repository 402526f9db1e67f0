/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Most numbers of a table have few digits: their digits and the power of ten are exact in a double,
 * so one multiplication or division rounds correctly (Clinger 1990). The rest is strtod's, which is
 * safe here because sluice never leaves the C locale for numbers.
 */
#include "base/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A number taken apart: digits * 10^exponent. */
struct decimal {
	uint64_t digits;
	int count;    /* of digits that matter; more than 19 do not fit */
	int exponent; /* of ten */
	bool negative;
};

static const char *digits_read(struct decimal *number, const char *at, int *seen, int shift)
{
	for (; *at >= '0' && *at <= '9'; at++, (*seen)++) {
		if (number->count < 19)
			number->digits = number->digits * 10 + (uint64_t)(*at - '0');
		number->count += number->count || *at != '0';
		number->exponent += shift;
	}
	return at;
}

/* The end of the exponent, or where it would begin if there is none. */
static const char *exponent_read(struct decimal *number, const char *at)
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
		if (exponent < 100000)
			exponent = exponent * 10 + (*from - '0');
	}
	number->exponent += negative ? -exponent : exponent;
	return from;
}

static bool decimal_read(struct decimal *number, const char *text, size_t n)
{
	const char *at = text;
	int seen = 0;

	*number = (struct decimal){ .negative = *at == '-' };
	at += *at == '-' || *at == '+';
	at = digits_read(number, at, &seen, 0);
	if (*at == '.')
		at = digits_read(number, at + 1, &seen, -1);
	if (!seen)
		return false;
	return exponent_read(number, at) == text + n;
}

static bool word_read(const char *text, size_t n, double *value)
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
	static const double tens[] = { 1e0,  1e1,  1e2,	 1e3,  1e4,  1e5,  1e6,	 1e7,
				       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	struct decimal number;

	if (!n)
		return false;
	if (!decimal_read(&number, text, n))
		return word_read(text, n, value);
	if (number.count <= 19 && number.digits <= (uint64_t)1 << 53 && number.exponent >= -22 &&
	    number.exponent <= 22) {
		double digits = (double)number.digits;

		digits = number.exponent < 0 ? digits / tens[-number.exponent]
					     : digits * tens[number.exponent];
		*value = number.negative ? -digits : digits;
		return true;
	}
	*value = strtod(text, NULL);
	return true;
}

/* %.15g drops zeros at the end, so it gives the fewest digits wherever 15 are enough. */
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
