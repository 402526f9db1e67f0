/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points in time as people write them. They are kept as seconds since 1970-01-01; dates are UTC.
 */
#ifndef SLUICE_BASE_DATE_H
#define SLUICE_BASE_DATE_H

/* "1520708288.5", "2018-03-10", "2018-03-10 18:58", "2018-03-10T18:58:08". -EINVAL
 * for anything else. */
int date_parse(const char *text, double *time_s);

#define DATE_TEXT 32

/* "2018-03-10 18:58:08"; "-" if time_s is not finite or has a year of five digits. Returns out. */
const char *date_text(char out[DATE_TEXT], double time_s);

#endif
