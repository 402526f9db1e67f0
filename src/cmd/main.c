/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice COMMAND ...: finds the command, reads its options and the configuration, and runs it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/manual.h"

extern const struct command_ops command_config, command_convert, command_doctor, command_help,
	command_internal, command_kernel, command_last, command_learn, command_ls, command_merge,
	command_print, command_recover, command_report, command_reproduce, command_run,
	command_store, command_version;
extern const struct command_ops command_bench, command_forecast, command_kb, command_model,
	command_params, command_probe, command_tune;

/* In the order in which a user meets them. */
const struct command_ops *const commands[] = {
	&command_run,
	&command_tune,
	&command_report,
	&command_print,
	&command_ls,
	&command_last,
	&command_convert,
	&command_merge,
	&command_recover,
	&command_store,
	&command_learn,
	&command_model,
	&command_probe,
	&command_forecast,
	&command_bench,
	&command_kernel,
	&command_reproduce,
	&command_params,
	&command_kb,
	&command_config,
	&command_doctor,
	&command_help,
	&command_version,
	&command_internal,
	NULL,
};

struct main_args {
	struct option_list assignments;
	bool version;
};

static const struct option main_options[] = {
	{ 'c', "set", "SECTION.KEY=VALUE", NULL, "set one setting for this call; may be repeated",
	  OPTION_LIST, offsetof(struct main_args, assignments) },
	{ 'V', "version", NULL, NULL, "print the version", OPTION_FLAG,
	  offsetof(struct main_args, version) },
	{ 0 }
};

const struct command_ops *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

const struct option *command_main_options(void)
{
	return main_options;
}

static void say(const struct command *command, const char *kind, const char *format, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "sluice %s: %s", command->ops->name, kind);
	vfprintf(stderr, format, ap);
	putc('\n', stderr);
}

int command_fail(const struct command *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(command, "", format, ap);
	va_end(ap);
	return COMMAND_FAILED;
}

int command_misuse(const struct command *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(command, "", format, ap);
	va_end(ap);
	fprintf(stderr, "Try: sluice %s --help\n", command->ops->name);
	return COMMAND_MISUSE;
}

void command_warn(const struct command *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(command, "warning: ", format, ap);
	va_end(ap);
}

int command_finish(const struct command *command)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return COMMAND_GOOD;
	return command_fail(command, "standard output cannot be written");
}

static int run_parsed(struct command *command)
{
	const struct command_ops *ops = command->ops;

	if (command->argc < ops->operands_min)
		return command_misuse(command, "something is missing; usage: sluice %s %s",
				      ops->name, ops->operands);
	if (ops->operands_max >= 0 && command->argc > ops->operands_max)
		return command_misuse(command, "there is one argument too many: %s",
				      command->argv[ops->operands_max]);
	if (!(ops->flags & COMMAND_JUDGES_CONFIG)) {
		for (size_t i = 0; i < command->config->problem_count; i++)
			command_warn(command, "%s", command->config->problems[i]);
	}
	return ops->run(command);
}

static int run_command(const struct command_ops *ops, struct config *config, int argc, char **argv)
{
	AUTO_FREE void *args = xcalloc(1, ops->args_bytes);
	struct command command = { .ops = ops, .args = args, .argv = argv, .config = config };
	struct err err = { 0 };
	int ret = option_parse(ops->options, ops->order, args, argc, argv, &err);

	if (ret < 0)
		return command_misuse(&command, "%s", err.text);
	if (ret == OPTION_HELP_WANTED) {
		manual_help(stdout, ops);
		ret = command_finish(&command);
	} else {
		command.argc = ret;
		ret = run_parsed(&command);
	}
	option_release(ops->options, args);
	return ret;
}

static int misuse(const char *what)
{
	fprintf(stderr, "sluice: %s\nTry: sluice help\n", what);
	return COMMAND_MISUSE;
}

/* Returns an exit code, or -1 to go on. */
static int apply_main(struct config *config, const struct main_args *args)
{
	for (size_t i = 0; i < args->assignments.count; i++) {
		struct err err = { 0 };

		if (config_assign(config, args->assignments.items[i], "--set", &err) < 0)
			return misuse(err.text);
	}
	return -1;
}

static int dispatch(struct config *config, const struct main_args *args, int argc, char **argv)
{
	const struct command_ops *ops;
	int ret = apply_main(config, args);

	if (ret >= 0)
		return ret;
	if (args->version)
		return run_command(&command_version, config, 0, argv);
	if (!argc) {
		manual_overview(stderr);
		return COMMAND_MISUSE;
	}
	ops = command_find(argv[0]);
	if (!ops) {
		AUTO_FREE char *text = xprintf("there is no command \"%s\"", argv[0]);

		return misuse(text);
	}
	return run_command(ops, config, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	struct main_args args;
	struct config config;
	struct err err = { 0 };
	int ret = option_parse(main_options, OPTION_STOP_FIRST, &args, argc ? argc - 1 : 0,
			       argv + !!argc, &err);

	if (ret < 0)
		return misuse(err.text);
	config_load(&config);
	if (ret == OPTION_HELP_WANTED) {
		manual_overview(stdout);
		ret = COMMAND_GOOD;
	} else {
		ret = dispatch(&config, &args, ret, argv + 1);
	}
	config_release(&config);
	option_release(main_options, &args);
	return ret;
}
