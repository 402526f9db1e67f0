/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice trace recover: completes the traces of runs whose `sluice run` was killed.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "base/term.h"
#include "cli/command.h"
#include "observe/collect/collector.h"
#include "observe/collect/spool_directory.h"

struct recover_args {
	bool json;
};

static const struct option recover_options[] = {
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.recover/1", OPTION_FLAG,
	  offsetof(struct recover_args, json) },
	{ 0 }
};

/* Warns about each sentence, which ends with a newline. */
static void print_warnings(const struct command *c, const char *sentences)
{
	while (*sentences) {
		size_t n = strcspn(sentences, "\n");

		command_warn(c, "%.*s", (int)n, sentences);
		sentences += n + (sentences[n] != 0);
	}
}

static int recover_one(const struct command *c, const char *directory, json_t *runs)
{
	const struct recover_args *args = c->args;
	struct collector_totals totals = { 0 };
	AUTO_FREE char *trace = NULL;
	struct err err = { 0 };

	if (collector_recover(directory, config_text(c->config, SETTING_TRACE_DIR), &trace, &totals,
			      &err) < 0)
		return command_fail(c, "%s", err.text);
	print_warnings(c, totals.warnings);
	json_array_append_new(runs,
			      json_pack("{s:s, s:s, s:I, s:I}", "directory", directory, "trace",
					trace, "activities", (json_int_t)totals.activities, "lost",
					(json_int_t)totals.lost));
	if (!args->json)
		term_printf(stdout, "%s: %llu calls, %llu lost\n", trace,
			    (unsigned long long)totals.activities, (unsigned long long)totals.lost);
	return COMMAND_GOOD;
}

static int recover_run(struct command *c)
{
	const struct recover_args *args = c->args;
	const char *spool_dir = config_text(c->config, SETTING_SPOOL_DIR),
		   *temporary = getenv("TMPDIR");
	const char *bases[] = { "/dev/shm", "/tmp", temporary, spool_dir };
	json_t *report = json_pack("{s:s, s:[]}", "schema", "sluice.recover/1", "runs");
	json_t *runs = json_object_get(report, "runs");
	glob_t found = { 0 };
	int code = COMMAND_GOOD;

	for (size_t i = 0; !c->argc && i < sizeof(bases) / sizeof(*bases); i++)
		if (bases[i] && bases[i][0] == '/')
			spool_directory_find(bases[i], &found);
	for (int i = 0; i < c->argc; i++)
		if (recover_one(c, c->argv[i], runs) != COMMAND_GOOD)
			code = COMMAND_FAILED;
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (collector_is_dead(found.gl_pathv[i]) &&
		    recover_one(c, found.gl_pathv[i], runs) != COMMAND_GOOD)
			code = COMMAND_FAILED;
	if (args->json)
		json_dumpf(report, stdout, JSON_INDENT(2)), putchar('\n');
	else if (code == COMMAND_GOOD && !json_array_size(runs))
		fputs("sluice trace recover: nothing to recover\n", stderr);
	if (code == COMMAND_GOOD && !json_array_size(runs))
		code = COMMAND_NO_DATA;
	json_decref(report);
	globfree(&found);
	return code;
}

const struct command_ops command_trace_recover = {
	.name = "recover",
	.help = "complete the traces of runs whose collector was killed",
	.operands = "[DIRECTORY]...",
	.operands_max = -1,
	.about =
		"If all processes of 'sluice run' are killed, the records that the program had "
		"committed remain in the spool directory of the run. This command adds them to the "
		"records that were already written and completes the trace. Without DIRECTORY it "
		"looks for such runs "
		"of the calling user. It reads only data of that user and never changes a complete "
		"trace or the trace of another run: records whose trace is gone or was replaced go "
		"into a new trace, NAME-recovered.sluice, which is in trace.dir if the directory "
		"of the "
		"old one does not exist any more.",
	.options = recover_options,
	.args_bytes = sizeof(struct recover_args),
	.run = recover_run,
};
