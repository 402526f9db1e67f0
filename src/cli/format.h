/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values as the tables of several commands print them. See base/unit.h for sizes and base/date.h
 * for dates in UTC.
 */
#ifndef SLUICE_CLI_FORMAT_H
#define SLUICE_CLI_FORMAT_H

#include <stdint.h>

#include "base/unit.h"

#define FORMAT_TIME 32

/* "2018-03-10 18:58:08" in local time; "-" if it is 0. `ns` is since 1970. Returns out. */
const char *format_local_time(char out[FORMAT_TIME], int64_t ns);

/* "12.3 ms"; "-" if the duration is NAN or infinite. Returns out. */
const char *format_seconds(char out[UNIT_TEXT], double seconds);

#endif
