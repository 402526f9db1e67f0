/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluiced status: what the running daemon does.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/term.h"
#include "cli/command.h"
#include "daemon/status.h"

struct status_args {
	bool json;
};

static const struct option status_options[] = { { 'j', "json", NULL, NULL,
						  "print one JSON object of schema sluice.daemon/1",
						  OPTION_FLAG, offsetof(struct status_args, json) },
						{ 0 } };

/* Prints an object of numbers, and of objects of numbers, as lines "name: value". */
static void print_object(const char *prefix, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		AUTO_BUF struct buf name = { 0 };

		buf_printf(&name, "%s%s%s", prefix, *prefix ? "." : "", key);
		if (json_is_object(value))
			print_object(buf_text(&name), value);
		else if (json_is_integer(value))
			term_printf(stdout, "%-24s %" JSON_INTEGER_FORMAT "\n", buf_text(&name),
				    json_integer_value(value));
		else if (json_is_real(value))
			term_printf(stdout, "%-24s %.1f\n", buf_text(&name),
				    json_real_value(value));
		else if (json_is_string(value))
			term_printf(stdout, "%-24s %s\n", buf_text(&name),
				    json_string_value(value));
	}
}

static int status_run(struct command *command)
{
	const struct status_args *args = command->args;
	AUTO_BUF struct buf text = { 0 };
	struct err err = { 0 };
	int r = status_ask(&text, config_text(command->config, SETTING_SITE_SOCKET), &err);
	json_t *object;

	if (r < 0)
		return command_fail_err(command, r, &err);
	if (args->json) {
		fputs(buf_text(&text), stdout);
		return command_finish(command);
	}
	object = json_loadb(buf_text(&text), text.len, 0, NULL);
	if (!object)
		return command_fail(command, "the answer of the daemon is not JSON");
	print_object("", object);
	json_decref(object);
	return command_finish(command);
}

const struct command_ops command_status = {
	.name = "status",
	.help = "show clients, memory, refused messages and what waits, of the running daemon",
	.operands = "",
	.options = status_options,
	.args_bytes = sizeof(struct status_args),
	.run = status_run,
};
