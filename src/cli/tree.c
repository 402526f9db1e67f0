/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of commands (cli/command.h), and the options that precede a command.
 */
#include <string.h>

#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"
#include "cli/main_options.h"

const struct option main_options[] = {
	{ 'c', "set", "SECTION.KEY=VALUE", NULL, "override one setting; may be repeated",
	  OPTION_LIST, offsetof(struct main_args, assignments) },
	{ 0, "color", TERM_COLOR_WORDS, "auto", "use color in the output", OPTION_CHOICE,
	  offsetof(struct main_args, color) },
	{ 'V', "version", NULL, NULL, "print the version", OPTION_FLAG,
	  offsetof(struct main_args, version) },
	{ 0 }
};

const struct command_ops *command_find(const struct command_ops *const *list, const char *name)
{
	for (; *list; list++) {
		if (strcmp((*list)->name, name) == 0)
			return *list;
	}
	return NULL;
}

const struct command_ops *command_descend(char **words, int count, int *used)
{
	const struct command_ops *const *list = cli_program.commands;
	const struct command_ops *found = NULL;

	*used = 0;
	while (list && *used < count) {
		const struct command_ops *next = command_find(list, words[*used]);

		if (!next)
			break;
		found = next;
		list = next->subcommands;
		(*used)++;
	}
	return found;
}

static void visit_list(const struct command_ops *const *list, const char *parent,
		       void (*visit)(const char *path, const struct command_ops *ops, void *arg),
		       void *arg)
{
	for (; *list; list++) {
		AUTO_FREE char *path = NULL;

		if ((*list)->flags & COMMAND_HIDDEN)
			continue;
		path = xprintf("%s%s%s", parent, *parent ? " " : "", (*list)->name);
		visit(path, *list, arg);
		if ((*list)->subcommands)
			visit_list((*list)->subcommands, path, visit, arg);
	}
}

void command_visit(void (*visit)(const char *path, const struct command_ops *ops, void *arg),
		   void *arg)
{
	visit_list(cli_program.commands, "", visit, arg);
}
