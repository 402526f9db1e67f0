/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/format.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

/* 2^63 ns are 292 years; longer durations are as good as infinite. */
#define SECONDS_MAX 9e9

const char *format_local_time(char out[FORMAT_TIME], int64_t ns)
{
	time_t seconds = (time_t)(ns / NS_PER_S);
	struct tm tm;

	if (ns <= 0 || !localtime_r(&seconds, &tm) || !strftime(out, FORMAT_TIME, "%F %T", &tm))
		snprintf(out, FORMAT_TIME, "-");
	return out;
}

const char *format_seconds(char out[UNIT_TEXT], double seconds)
{
	if (seconds < SECONDS_MAX)
		return unit_ns(out, (int64_t)(seconds * (double)NS_PER_S));
	snprintf(out, UNIT_TEXT, "-");
	return out;
}
