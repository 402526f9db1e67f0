/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice probe run: rounds of writes until it is stopped.
 */
#include "cmd/probe.h"

int probe_run(struct command *command, const struct probe_args *args)
{
	(void)args;
	return command_misuse(command, "there is no target: name one, or a --site that has some");
}
