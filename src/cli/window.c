/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/window.h"

#include <math.h>
#include <stdlib.h>

#include "base/date.h"
#include "cli/command.h"

#define SECONDS_PER_DAY 86400
#define DAYS_MAX 1e5

int window_parse(const struct command *command, const char *since, const char *until,
		 double *from_s, double *to_s)
{
	static const char hint[] = "is not a time such as 2018-03-10T18:58 or 1520708288";

	*from_s = -INFINITY;
	*to_s = INFINITY;
	if (since && date_parse(since, from_s) < 0)
		return command_misuse(command, "--since: \"%s\" %s", since, hint);
	if (until && date_parse(until, to_s) < 0)
		return command_misuse(command, "--until: \"%s\" %s", until, hint);
	if (!(*from_s < *to_s))
		return command_misuse(command, "--since must be before --until");
	return COMMAND_GOOD;
}

int window_parse_days(const struct command *command, const char *days, double *seconds)
{
	double number;
	char *end;

	*seconds = NAN;
	if (!days)
		return COMMAND_GOOD;
	number = strtod(days, &end);
	if (end == days || *end || !(number > 0 && number < DAYS_MAX))
		return command_misuse(command, "--days: expected a number of days, got \"%s\"",
				      days);
	*seconds = SECONDS_PER_DAY * number;
	return COMMAND_GOOD;
}
