/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/window.h"

#include <math.h>
#include <stdlib.h>

#include "base/date.h"
#include "cli/command.h"

int window_take(const struct command *command, const char *from, const char *to, double *from_s,
		double *to_s)
{
	static const char hint[] = "is not a time such as 2018-03-10T18:58 or 1520708288";

	*from_s = -INFINITY;
	*to_s = INFINITY;
	if (from && date_parse(from, from_s) < 0)
		return command_misuse(command, "--since: \"%s\" %s", from, hint);
	if (to && date_parse(to, to_s) < 0)
		return command_misuse(command, "--until: \"%s\" %s", to, hint);
	if (!(*from_s < *to_s))
		return command_misuse(command, "--since must be before --until");
	return COMMAND_GOOD;
}

int window_days(const struct command *command, const char *days, double *seconds)
{
	double number;
	char *end;

	*seconds = NAN;
	if (!days)
		return COMMAND_GOOD;
	number = strtod(days, &end);
	if (end == days || *end || !(number > 0 && number < 1e5))
		return command_misuse(command, "--days: expected a number of days, got \"%s\"",
				      days);
	*seconds = 86400 * number;
	return COMMAND_GOOD;
}
