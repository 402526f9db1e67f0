/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab: runs sluice-lab, the program with the research code, in place of this one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/place.h"
#include "cli/command.h"

/*
 * The path of sluice-lab: beside this binary in a build tree, else below libexec. NULL if it is not
 * installed. The caller frees it.
 */
static char *find_lab(void)
{
	static const char *const places[] = { "sluice-lab", "../libexec/sluice/sluice-lab" };
	AUTO_FREE char *directory = place_binary_dir();

	for (size_t i = 0; directory && i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = place_join(directory, places[i]);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static int lab_run(struct command *command)
{
	AUTO_FREE char *path = find_lab();
	AUTO_FREE char **argv = xcalloc((size_t)command->argc + 2, sizeof(*argv));

	if (!path)
		return command_fail(command, "cannot find sluice-lab; it is installed separately");
	argv[0] = path;
	for (int i = 0; i < command->argc; i++)
		argv[i + 1] = command->argv[i];
	execv(path, argv);
	return command_fail(command, "%s: %s", path, strerror(errno));
}

/* Asks sluice-lab, which knows its own commands. */
static void lab_complete(FILE *out, int count, char **words, const char *prefix)
{
	AUTO_FREE char *path = find_lab();
	AUTO_FREE char **argv = xcalloc((size_t)count + 6, sizeof(*argv));
	AUTO_FREE char *index = xprintf("%d", count);
	int n = 0;

	fflush(out);
	argv[n++] = path;
	argv[n++] = (char *)"internal";
	argv[n++] = (char *)"complete";
	argv[n++] = index;
	for (int i = 0; i < count; i++)
		argv[n++] = words[i];
	argv[n++] = (char *)prefix;
	if (path)
		execv(path, argv);
}

const struct command_ops command_lab = {
	.name = "lab",
	.help = "reproduce published results, run I/O kernels and learn from tables",
	.operands = "COMMAND [ARGUMENT]...",
	.operands_min = 1,
	.operands_max = -1,
	.about = "The laboratory is a program of its own; 'sluice lab help' lists its "
		 "commands:\n\n"
		 "  sluice lab reproduce behzad table4           tables and figures of papers\n"
		 "  sluice lab kernel vpic --ranks 4             run an I/O kernel\n"
		 "  sluice lab learn select DATA --response bw   compare learning methods",
	.order = OPTION_STOP_FIRST,
	.flags = COMMAND_NO_JSON,
	.run = lab_run,
	.complete_words = lab_complete,
};
