/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/date.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_S 2e11 /* later years have more than four digits */

int date_parse(const char *text, double *time_s)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M",	  "%Y-%m-%d %H:%M",
					     "%Y-%m-%d",	  NULL };
	size_t n = strlen(text);
	char *end;

	/* strtod() alone would also accept "inf" and "0x1p3". */
	if (n && strspn(text, "0123456789.") == n) {
		double number = strtod(text, &end);

		if (*end || end == text)
			return -EINVAL;
		*time_s = number;
		return 0;
	}
	for (size_t i = 0; forms[i]; i++) {
		struct tm tm = { 0 };

		end = strptime(text, forms[i], &tm);
		if (end && !*end) {
			*time_s = (double)timegm(&tm);
			return 0;
		}
	}
	return -EINVAL;
}

const char *date_text(char out[DATE_TEXT], double time_s)
{
	time_t seconds;
	struct tm tm;

	snprintf(out, DATE_TEXT, "-");
	if (!(fabs(time_s) < MAX_S))
		return out;
	seconds = (time_t)floor(time_s);
	if (gmtime_r(&seconds, &tm))
		strftime(out, DATE_TEXT, "%Y-%m-%d %H:%M:%S", &tm);
	return out;
}
