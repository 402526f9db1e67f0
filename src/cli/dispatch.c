/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the command that the user named, parses its options, reads the configuration and runs it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/spelling.h"
#include "base/term.h"
#include "cli/command.h"
#include "cli/main_options.h"
#include "cli/manual.h"

static void print_message(const struct command *command, const char *kind, const char *format,
			  va_list ap)
{
	AUTO_FREE char *text = xvprintf(format, ap);

	fflush(stdout);
	term_sentence(stderr, "%s %s: %s%s\n", command->program, command->name, kind, text);
}

int command_fail(const struct command *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_message(command, "", format, ap);
	va_end(ap);
	return COMMAND_FAILED;
}

int command_fail_err(const struct command *command, int r, const struct err *err)
{
	command_fail(command, "%s", err->text);
	return r == -ENODATA || r == -ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
}

int command_misuse(const struct command *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_message(command, "", format, ap);
	va_end(ap);
	term_printf(stderr, "Try '%s %s --help'.\n", command->program, command->name);
	return COMMAND_MISUSE;
}

int command_check_program(const struct command *command, const char *program)
{
	AUTO_FREE char *path = place_program(program);

	if (path)
		return COMMAND_GOOD;
	if (strchr(program, '/') && place_exists(program)) {
		command_fail(command, "%s: not an executable file", program);
		return COMMAND_NOT_EXECUTABLE;
	}
	command_fail(command, "%s: command not found", program);
	return COMMAND_NOT_FOUND;
}

void command_warn(const struct command *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_message(command, "warning: ", format, ap);
	va_end(ap);
}

int command_finish(const struct command *command)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return COMMAND_GOOD;
	return command_fail(command, "cannot write to standard output");
}

static int run_parsed(struct command *command)
{
	const struct command_ops *ops = command->ops;
	int ret;

	if (command->argc < ops->operands_min)
		return command_misuse(command, "missing argument; usage: %s %s %s",
				      command->program, command->name, ops->operands);
	if (ops->operands_max >= 0 && command->argc > ops->operands_max)
		return command_misuse(command, "unexpected argument \"%s\"",
				      command->argv[ops->operands_max]);
	if (!(ops->flags & COMMAND_CHECKS_CONFIG)) {
		for (size_t i = 0; i < command->config->problem_count; i++)
			command_warn(command, "%s", command->config->problems[i]);
	}
	ret = ops->run(command);
	/* Scripts see that a command was interrupted, whatever it has done since. */
	return *interrupt_flag() ? COMMAND_SIGNAL + *interrupt_flag() : ret;
}

static int run_leaf(const struct command_ops *ops, const char *name, struct config *config,
		    int argc, char **argv)
{
	AUTO_FREE void *args = xcalloc(1, ops->args_bytes);
	struct command command = { .ops = ops,
				   .name = name,
				   .program = cli_program.name,
				   .args = args,
				   .argv = argv,
				   .config = config };
	struct err err = { 0 };
	int ret = option_parse(ops->options, ops->order, args, argc, argv, &err);

	if (ret < 0)
		return command_misuse(&command, "%s", err.text);
	if (ret == OPTION_HELP_WANTED) {
		manual_help(stdout, name, ops);
		ret = command_finish(&command);
	} else {
		command.argc = ret;
		ret = run_parsed(&command);
	}
	option_release(ops->options, args);
	return ret;
}

/* Names the word that is not a command, and the command that the user may have meant. */
static int fail_unknown(const char *path, const struct command_ops *const *list, const char *word)
{
	const char *kind = *path ? "subcommand" : "command", *separator = *path ? " " : "";
	struct spelling spelling;

	spelling_start(&spelling, word);
	for (; *list; list++)
		if (!((*list)->flags & COMMAND_HIDDEN))
			spelling_offer(&spelling, (*list)->name);
	term_printf(stderr, "%s%s%s: unknown %s \"%s\"", cli_program.name, separator, path, kind,
		    word);
	if (spelling.best)
		term_printf(stderr, "; did you mean \"%s\"?", spelling.best);
	term_printf(stderr, "\nTry '%s%s%s --help'.\n", cli_program.name, separator, path);
	return COMMAND_MISUSE;
}

/* Called when argv does not name a subcommand of the group. */
static int run_group(const struct command_ops *ops, const char *path, struct config *config,
		     int argc, char **argv)
{
	const char *word = argc ? argv[0] : NULL;
	AUTO_FREE char *name = NULL;

	if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
		manual_help(stdout, path, ops);
		return fflush(stdout) == 0 ? COMMAND_GOOD : COMMAND_FAILED;
	}
	if (ops->fallback) {
		const struct command_ops *leaf = command_find(ops->subcommands, ops->fallback);
		bool takes_words = leaf->operands_max != 0;

		if (!word || *word == '-' || takes_words) {
			name = xprintf("%s %s", path, ops->fallback);
			return run_leaf(leaf, name, config, argc, argv);
		}
	}
	if (word)
		return fail_unknown(path, ops->subcommands, word);
	term_printf(stderr, "%s %s: missing subcommand\n", cli_program.name, path);
	manual_help(stderr, path, ops);
	return COMMAND_MISUSE;
}

static int fail_usage(const char *message)
{
	term_printf(stderr, "%s: %s\n", cli_program.name, message);
	term_printf(stderr, "Try '%s help'.\n", cli_program.name);
	return COMMAND_MISUSE;
}

/* Returns COMMAND_GOOD if the settings of the command line are valid. */
static int apply_main_options(struct config *config, const struct main_args *args)
{
	term_set_color((enum term_color_when)args->color);
	for (size_t i = 0; i < args->assignments.count; i++) {
		struct err err = { 0 };

		if (config_assign(config, args->assignments.items[i], "--set", &err) < 0)
			return fail_usage(err.text);
	}
	return COMMAND_GOOD;
}

/* The number of words of `words` if argv begins with all of them; else 0. */
static int count_matching_words(const char *words, int argc, char **argv)
{
	int matched = 0;

	while (*words) {
		size_t n = strcspn(words, " ");

		if (matched == argc || strlen(argv[matched]) != n ||
		    memcmp(argv[matched], words, n) != 0)
			return 0;
		matched++;
		words += n + (words[n] == ' ');
	}
	return matched;
}

/*
 * Returns the words with an alias at their front replaced, terminated by NULL; NULL if there is
 * none. The caller frees the array and *storage, which holds the new words.
 */
static char **replace_alias(int *argc, char **argv, char **storage)
{
	const struct command_alias *alias = cli_program.aliases;
	int matched = 0, count = 0;
	char **words, *rest = NULL;

	while (alias && alias->from && !(matched = count_matching_words(alias->from, *argc, argv)))
		alias++;
	if (!matched)
		return NULL;
	*storage = xstrdup(alias->to);
	words = xcalloc((size_t)*argc + strlen(alias->to) + 1, sizeof(*words));
	for (char *word = strtok_r(*storage, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[count++] = word;
	for (int i = matched; i < *argc; i++)
		words[count++] = argv[i];
	*argc = count;
	return words;
}

static int run_words(struct config *config, int argc, char **argv)
{
	const struct command_ops *ops;
	AUTO_BUF struct buf path = { 0 };
	int used;

	ops = command_descend(argv, argc, &used);
	if (!ops)
		return fail_unknown("", cli_program.commands, argv[0]);
	for (int i = 0; i < used; i++)
		buf_printf(&path, "%s%s", i ? " " : "", argv[i]);
	if (ops->subcommands)
		return run_group(ops, buf_text(&path), config, argc - used, argv + used);
	return run_leaf(ops, buf_text(&path), config, argc - used, argv + used);
}

static int run_command_line(struct config *config, const struct main_args *args, int argc,
			    char **argv)
{
	char *version[] = { (char *)"version", NULL };
	char *fallback[] = { (char *)cli_program.fallback, NULL };
	AUTO_FREE char *storage = NULL;
	AUTO_FREE char **replaced = NULL;
	int ret = apply_main_options(config, args);

	if (ret != COMMAND_GOOD)
		return ret;
	if (args->version)
		return run_words(config, 1, version);
	if (!argc && cli_program.fallback)
		return run_words(config, 1, fallback);
	if (!argc) {
		manual_overview(stderr);
		return COMMAND_MISUSE;
	}
	replaced = replace_alias(&argc, argv, &storage);
	return run_words(config, argc, replaced ? replaced : argv);
}

int cli_find_operand(int argc, char **argv, const struct command_ops *leaf)
{
	int at = argc ? option_skip(main_options, argc - 1, argv + 1) + 1 : 0, skipped;

	if (at <= 0 || at >= argc || strcmp(argv[at], leaf->name) != 0)
		return 0;
	skipped = option_skip(leaf->options, argc - at - 1, argv + at + 1);
	at += 1 + skipped;
	return skipped < 0 || at >= argc ? 0 : at;
}

int cli_main(int argc, char **argv)
{
	struct main_args args;
	struct config config;
	struct err err = { 0 };
	int ret = option_parse(main_options, OPTION_STOP_FIRST, &args, argc ? argc - 1 : 0,
			       argv + !!argc, &err);

	if (ret < 0)
		return fail_usage(err.text);
	config_load(&config);
	if (ret == OPTION_HELP_WANTED) {
		manual_overview(stdout);
		ret = COMMAND_GOOD;
	} else {
		ret = run_command_line(&config, &args, ret, argv + 1);
	}
	config_release(&config);
	option_release(main_options, &args);
	return ret;
}
