/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers as text: what counts as one in a table, and digits that read back as the same number. No
 * locale is asked: the separator is always a point.
 */
#ifndef SLUICE_BASE_NUMBER_H
#define SLUICE_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#define NUMBER_TEXT_MAX 32 /* room for any number and the final zero byte */

/*
 * Decimal digits with an optional sign, point and exponent, or inf, infinity and nan in any case.
 * False where text[0 .. n) is anything else; hexadecimal numbers are. text[n] must be readable and
 * not part of a number.
 */
bool number_parse(const char *text, size_t n, double *value);

/* As few digits as read back as the same number, 15 at least being tried. Returns the length. */
size_t number_format(double value, char text[NUMBER_TEXT_MAX]);

#endif
