/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice internal: writes the files that the build generates from the tables of commands, and
 * answers the shell's requests for completion.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/place.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/manual.h"

/* The directory of the man pages, and whether all of them could be written so far. */
struct pages {
	const char *directory;
	bool good;
};

static void write_page(const char *path, const struct command_ops *ops, void *arg)
{
	struct pages *pages = arg;
	AUTO_FREE char *page = manual_page_name(path);
	AUTO_FREE char *file = xprintf("%s/%s.1", pages->directory, page);
	FILE *out = pages->good ? fopen(file, "we") : NULL;

	pages->good = out;
	if (!out)
		return;
	manual_page(out, path, ops);
	pages->good = !ferror(out);
	if (fclose(out) != 0)
		pages->good = false;
}

/* Writes all man pages, so that the build need not know the names of the commands. */
static int write_pages(const struct command *command, const char *directory)
{
	struct pages pages = { directory, true };
	struct err err = { 0 };

	if (place_make_dir(directory, 0777, &err) < 0)
		return command_fail(command, "%s", err.text);
	write_page(NULL, NULL, &pages);
	command_visit(write_page, &pages);
	return pages.good ? COMMAND_GOOD
			  : command_fail(command, "%s: %s", directory, strerror(errno));
}

static int internal_run(struct command *command)
{
	const char *what = command->argv[0], *which = command->argv[1];

	if (strcmp(what, "man") == 0 && which)
		return write_pages(command, which);
	if (strcmp(what, "complete") == 0 && which)
		completion_print(stdout, atoi(which), command->argc - 2, command->argv + 2);
	else if (strcmp(what, "markdown") == 0 && !which)
		manual_markdown(stdout);
	else if (strcmp(what, "completion") == 0 && which && strcmp(which, "bash") == 0)
		completion_bash(stdout);
	else if (strcmp(what, "completion") == 0 && which && strcmp(which, "zsh") == 0)
		completion_zsh(stdout);
	else
		return command_misuse(command, "unknown request \"%s\"", what);
	return command_finish(command);
}

const struct command_ops command_internal = {
	.name = "internal",
	.help = "write generated files, and answer requests for shell completion",
	.operands = "man DIRECTORY | completion bash|zsh | markdown | complete INDEX [WORD]...",
	.operands_min = 1,
	.operands_max = -1,
	.order = OPTION_STOP_FIRST,
	.flags = COMMAND_HIDDEN | COMMAND_CHECKS_CONFIG,
	.run = internal_run,
};
