/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/text.h"
#include "contract/journal.h"
#include "trace/format.h"
#include "tune/program/launch.h"

/* Runs as a task: $0 is sluice, and the arguments are its own, with the program behind "--". In a
 * trial, the program is not run unrecorded, because its files could not be preserved. */
#define TASK_SCRIPT                                                                             \
	"[ -x \"$0\" ] && exec \"$0\" \"$@\"; "                                                 \
	"[ -z \"$" JOURNAL_VARIABLE "\" ] || { "                                                \
	"echo \"sluice run: no $0 on $(uname -n); the program is not run\" >&2; exit 126; }; "  \
	"echo \"sluice run: warning: no $0 on $(uname -n); the program runs unrecorded\" >&2; " \
	"while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\""

/* The words that start `sluice` in a task. Returns false if its path is unknown. */
static bool put_prefix(struct buf *prefix)
{
	AUTO_FREE char *directory = place_binary_dir();
	AUTO_FREE char *sluice = directory ? place_join(directory, "sluice") : NULL;
	const char *const words[] = { "/bin/sh", "-c", TASK_SCRIPT, sluice };

	for (size_t i = 0; sluice && i < sizeof(words) / sizeof(words[0]); i++)
		buf_add(prefix, words[i], strlen(words[i]) + 1);
	return sluice != NULL;
}

void tasks_init(struct tasks *tasks, char *const *argv)
{
	struct launch_step step;

	*tasks = (struct tasks){ 0 };
	launch_find_step(&step, argv);
	if (!step.command)
		return;
	if (strcmp(step.command, "sbatch") == 0)
		tasks->warning = xstrdup("sbatch only submits the job, whose programs run "
					 "unrecorded; start them in the job script with: srun "
					 "sluice run -- PROGRAM");
	else if (step.at && put_prefix(&tasks->prefix))
		tasks->at = step.at;
	else
		tasks->warning = xstrdup("srun itself is recorded, but not its tasks on other "
					 "nodes, because it is unclear which word of the command "
					 "is the program; use: srun OPTION... sluice run -- "
					 "PROGRAM");
}

void tasks_release(struct tasks *tasks)
{
	buf_release(&tasks->prefix);
	free(tasks->warning);
	*tasks = (struct tasks){ 0 };
}

static bool has_process(const struct trace_head *head, int32_t pid)
{
	for (size_t i = 0; i < head->process_count; i++)
		if (head->processes[i].pid == pid)
			return true;
	return false;
}

char *tasks_find_missing(char *const *argv, const struct trace_head *head)
{
	struct launch_step step;
	bool has_srun = false;

	launch_find_step(&step, argv);
	if (step.command)
		return NULL;
	/* The first process is the command itself. */
	for (size_t i = 1; i < head->process_count && !has_srun; i++) {
		const char *program = text_or_empty(head->processes[i].program);

		has_srun = strcmp(path_base_name(program), "srun") == 0;
	}
	/* The parent of a task is a daemon, and that of the command is `sluice run`. */
	for (size_t i = 1; i < head->process_count && has_srun; i++)
		if (head->processes[i].pid != head->processes[0].pid &&
		    !has_process(head, head->processes[i].ppid))
			return NULL;
	return has_srun ? xstrdup("the command started srun, but its tasks on other nodes are not "
				  "in the trace; use in scripts: srun OPTION... sluice run -- "
				  "PROGRAM")
			: NULL;
}
