/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/verb.h"

#include <string.h>

#include "base/buf.h"
#include "cli/command.h"

static const struct verb *verb_at(const struct verb *verbs, size_t row_bytes, int row)
{
	return (const void *)((const char *)verbs + row_bytes * (size_t)row);
}

static void unknown_tell(const struct command *command, const char *name, const struct verb *verbs,
			 size_t row_bytes)
{
	AUTO_BUF struct buf names = { 0 };

	for (int i = 0; verb_at(verbs, row_bytes, i)->name; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", verb_at(verbs, row_bytes, i)->name);
	command_misuse(command, "\"%s\" is none of %s", name, buf_text(&names));
}

int verb_choose(const struct command *command, const char *name, const struct verb *verbs,
		size_t row_bytes)
{
	int operands = command->argc ? command->argc - 1 : 0, row = 0;
	const struct verb *verb = verbs;

	while (verb->name && strcmp(verb->name, name) != 0)
		verb = verb_at(verbs, row_bytes, ++row);
	if (!verb->name) {
		unknown_tell(command, name, verbs, row_bytes);
		return -1;
	}
	if (operands < verb->least || (verb->most >= 0 && operands > verb->most)) {
		command_misuse(command, "usage: sluice %s %s%s%s", command->name, verb->name,
			       *verb->operands ? " " : "", verb->operands);
		return -1;
	}
	return row;
}
