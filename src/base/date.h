/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Moments as people write them. Inside, they are seconds since 1970; dates are UTC.
 */
#ifndef SLUICE_BASE_DATE_H
#define SLUICE_BASE_DATE_H

/* "1520708288.5", "2018-03-10", "2018-03-10 18:58", "2018-03-10T18:58:08". -EINVAL. */
int date_parse(const char *text, double *time_s);

#define DATE_TEXT 32

/* "2018-03-10 18:58:08"; "-" where it is not finite. Returns out. */
const char *date_text(char out[DATE_TEXT], double time_s);

#endif
