/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice tag: gives words to a run, to find it again.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/text.h"
#include "cli/command.h"
#include "cmd/run_argument.h"
#include "trace/runs/tags.h"

struct tag_args {
	struct option_list remove;
	bool json;
};

static const struct option tag_options[] = {
	{ 'd', "delete", "TAG", NULL, "remove a tag; may be repeated", OPTION_LIST,
	  offsetof(struct tag_args, remove) },
	{ 'j', "json", NULL, NULL, "print one JSON object of schema sluice.tag/1", OPTION_FLAG,
	  offsetof(struct tag_args, json) },
	{ 0 }
};

/* Appends a word to a list of tags. False: it is not a tag, which err says. */
static bool add_word(struct buf *tags, const char *word, struct err *err)
{
	if (!tag_is_valid(word, err))
		return false;
	buf_printf(tags, "%s%s", tags->len ? " " : "", word);
	return true;
}

static void print_tags(const struct tag_args *args, const char *path, const char *tags)
{
	struct json json;

	if (!args->json) {
		for (size_t n; (n = tags_next(&tags)); tags += n)
			term_printf(stdout, "%.*s\n", (int)n, tags);
		return;
	}
	json_start(&json, stdout, "sluice.tag/1");
	json_text(&json, "path", path);
	tags_json(&json, tags);
	json_end(&json);
}

static int change_tags(const struct command *command, const char *path, const char *uuid,
		       const char *add, const char *remove)
{
	AUTO_FREE char *tags = NULL;
	struct err err = { 0 };

	if (!*add && !*remove)
		tags = tags_read(path, uuid);
	else if (tags_change(path, uuid, add, remove, &tags, &err) < 0)
		return command_fail(command, "%s", err.text);
	print_tags(command->args, path, tags);
	return command_finish(command);
}

static int tag_run(struct command *command)
{
	const struct tag_args *args = command->args;
	AUTO_BUF struct buf add = { 0 };
	AUTO_BUF struct buf remove = { 0 };
	AUTO_FREE char *path = NULL;
	struct err err = { 0 };
	struct trace trace;
	bool is_valid = true;
	int ret;

	for (int i = 1; i < command->argc && is_valid; i++)
		is_valid = add_word(&add, command->argv[i], &err);
	for (size_t i = 0; i < args->remove.count && is_valid; i++)
		is_valid = add_word(&remove, args->remove.items[i], &err);
	if (!is_valid)
		return command_misuse(command, "%s", err.text);
	ret = run_argument_path(command, command->argv[0], &path);
	if (ret)
		return ret;
	if (trace_open(&trace, path, NULL, &err) < 0)
		return command_fail(command, "%s", err.text);
	ret = change_tags(command, path, text_or_empty(trace.head.run.uuid), buf_text(&add),
			  buf_text(&remove));
	trace_close(&trace);
	return ret;
}

const struct command_ops command_tag = {
	.name = "tag",
	.help = "give words to a run, to find it again",
	.operands = "RUN [TAG]...",
	.operands_min = 1,
	.operands_max = -1,
	.about = "Adds the tags to the run and prints all tags that it has then; without TAG and "
		 "--delete, only prints them. 'sluice ls --tag TAG' lists the runs with a tag, and "
		 "'sluice serve' shows tags, too.\n\n"
		 "  sluice tag 3f9a1 baseline nightly\n"
		 "  sluice tag 3f9a1 --delete nightly\n"
		 "  sluice ls --tag baseline\n\n"
		 "A tag has up to 32 letters, digits, periods, underscores, hyphens and colons; a "
		 "run has up to 16 tags. They are in the file TRACE.tags beside the trace, which "
		 "is not changed. 'sluice rm' deletes them with the run.",
	.options = tag_options,
	.args_bytes = sizeof(struct tag_args),
	.run = tag_run,
	.complete = run_argument_complete,
};
