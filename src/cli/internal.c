/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice internal: files that the build makes from the rows of options and settings.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/place.h"
#include "cli/command.h"
#include "cli/manual.h"

static int internal_man(const struct command *command, const char *page)
{
	const struct command_ops *ops;

	if (strcmp(page, "sluice") == 0) {
		manual_page(stdout, NULL);
		return command_finish(command);
	}
	ops = strncmp(page, "sluice-", 7) == 0 ? command_find(page + 7) : NULL;
	if (!ops)
		return command_misuse(command, "there is no page \"%s\"", page);
	manual_page(stdout, ops);
	return command_finish(command);
}

/* Makes directory/name and has it written; false where that fails. */
static bool write_file(const char *directory, const char *name, const struct command_ops *ops,
		       void (*write)(FILE *out, const struct command_ops *ops))
{
	AUTO_FREE char *path = place_join(directory, name);
	FILE *out = fopen(path, "we");
	bool good;

	if (!out)
		return false;
	write(out, ops);
	good = !ferror(out);
	return fclose(out) == 0 && good;
}

static void write_bash(FILE *out, const struct command_ops *ops)
{
	(void)ops;
	manual_bash(out);
}

static void write_zsh(FILE *out, const struct command_ops *ops)
{
	(void)ops;
	manual_zsh(out);
}

/* Everything that is installed, so that the build need not know the names of the commands. */
static int internal_write(const struct command *command, const char *directory)
{
	AUTO_FREE char *man = place_join(directory, "man");
	struct err err = { 0 };
	bool good;

	if (place_make_dir(man, 0777, &err) < 0)
		return command_fail(command, "%s", err.text);
	good = write_file(directory, "sluice.bash", NULL, write_bash) &&
	       write_file(directory, "_sluice", NULL, write_zsh) &&
	       write_file(man, "sluice.1", NULL, manual_page);
	for (size_t i = 0; commands[i] && good; i++) {
		AUTO_FREE char *name = xprintf("sluice-%s.1", commands[i]->name);

		if (!(commands[i]->flags & COMMAND_HIDDEN))
			good = write_file(man, name, commands[i], manual_page);
	}
	return good ? COMMAND_GOOD : command_fail(command, "%s: %s", directory, strerror(errno));
}

static int internal_run(struct command *command)
{
	const char *what = command->argv[0], *which = command->argv[1];

	if (strcmp(what, "man") == 0 && which)
		return internal_man(command, which);
	if (strcmp(what, "write") == 0 && which)
		return internal_write(command, which);
	if (strcmp(what, "markdown") == 0 && !which)
		manual_markdown(stdout);
	else if (strcmp(what, "completion") == 0 && which && strcmp(which, "bash") == 0)
		manual_bash(stdout);
	else if (strcmp(what, "completion") == 0 && which && strcmp(which, "zsh") == 0)
		manual_zsh(stdout);
	else
		return command_misuse(command, "unknown: %s", what);
	return command_finish(command);
}

const struct command_ops command_internal = {
	.name = "internal",
	.help = "print or write the files that the build makes from the rows of options",
	.operands = "man PAGE | completion bash|zsh | markdown | write DIRECTORY",
	.operands_min = 1,
	.operands_max = 2,
	.flags = COMMAND_HIDDEN,
	.run = internal_run,
};
