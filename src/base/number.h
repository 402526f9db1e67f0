/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conversion between numbers and text that is exact and independent of the locale: the decimal
 * separator is always a point.
 */
#ifndef SLUICE_BASE_NUMBER_H
#define SLUICE_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#define NUMBER_TEXT_MAX 32 /* bytes for any number and the final zero byte */

/*
 * Accepts decimal digits with an optional sign, point and exponent, and inf, infinity and nan in
 * upper or lower case. Returns false if text[0..n) is anything else, such as a hexadecimal number.
 * text[n] must be readable and not part of a number.
 */
bool number_parse(const char *text, size_t n, double *value);

/*
 * Writes the number with 15 significant digits, or as many more as it takes to read back the same
 * number. Trailing zeros are dropped. Returns the length.
 */
size_t number_format(double value, char text[NUMBER_TEXT_MAX]);

#endif
