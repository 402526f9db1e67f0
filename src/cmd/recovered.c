/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/recovered.h"

#include "base/err.h"
#include "cli/command.h"

void recovered_show(const struct command *command, int count, const struct err *err)
{
	if (count)
		command_warn(command, "restored the files of %d tuning%s that had been killed",
			     count, count == 1 ? "" : "s");
	if (err->code)
		command_warn(command, "a tuning was killed: %s", err->text);
}
