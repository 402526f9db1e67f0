/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice serve: the web application.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/term.h"
#include "base/text.h"
#include "base/trusted.h"
#include "cli/command.h"
#include "web/web.h"

#define FORWARDED_PORT 8080 /* that the printed ssh command listens on */

struct serve_args {
	const char *socket, *tcp, *base;
};

static const struct option serve_options[] = {
	{ 0, "socket", "PATH", NULL,
	  "listen on this unix socket (default: sluice-serve in the directory of the session)",
	  OPTION_TEXT, offsetof(struct serve_args, socket) },
	{ 0, "tcp", "HOST:PORT", NULL,
	  "listen on a TCP port of the loopback interface instead; port 0: any that is free",
	  OPTION_TEXT, offsetof(struct serve_args, tcp) },
	{ 0, "base-path", "PATH", NULL,
	  "serve everything below this path, for a proxy that forwards it", OPTION_TEXT,
	  offsetof(struct serve_args, base) },
	{ 0 }
};

/* A directory of this user only: that of the login session, or one in /tmp. */
static char *session_directory(struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *path = runtime && runtime[0] == '/' ? place_join(runtime, "sluice")
						  : xprintf("/tmp/sluice-%u", (unsigned)geteuid());
	int fd = trusted_make_directory(path, err);

	if (fd >= 0) {
		close(fd);
		return path;
	}
	free(path);
	return NULL;
}

/* The address to listen on, which the caller frees. */
static int choose_address(const struct command *command, char **address)
{
	const struct serve_args *args = command->args;
	AUTO_FREE char *directory = NULL;
	struct err err = { 0 };

	if (args->tcp && args->socket)
		return command_misuse(command, "--socket and --tcp exclude each other");
	if (args->tcp && args->tcp[0] == '/')
		return command_misuse(command, "--tcp: \"%s\" is not HOST:PORT", args->tcp);
	if (args->tcp || (args->socket && args->socket[0] == '/')) {
		*address = xstrdup(args->tcp ? args->tcp : args->socket);
		return COMMAND_GOOD;
	}
	directory = args->socket ? get_current_dir_name() : session_directory(&err);
	if (!directory)
		return command_fail(command, "%s", err.text);
	*address = place_join(directory, args->socket ? args->socket : "serve.socket");
	return COMMAND_GOOD;
}

static bool is_base(const char *base)
{
	return !*base || (base[0] == '/' && !text_ends_with(base, "/") && !strstr(base, "//") &&
			  strspn(base, "/ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789-._~") == strlen(base));
}

static void print_address(const struct web *web, const char *address, const char *base)
{
	char host[256] = "HOST";

	if (web_port(web)) {
		const char *colon = strrchr(address, ':');

		term_printf(stdout, "http://%.*s:%u%s/?token=%s\n", (int)(colon - address), address,
			    web_port(web), base, web_token(web));
	} else {
		gethostname(host, sizeof(host) - 1);
		term_printf(stdout, "%s\n", address);
		term_printf(stdout, "On your own computer: ssh -L %d:%s %s\n", FORWARDED_PORT,
			    address, host);
		term_printf(stdout, "Then open:            http://localhost:%d%s/\n",
			    FORWARDED_PORT, base);
	}
	fflush(stdout);
}

static void wait_for_signal(void)
{
	struct interrupt stop;

	interrupt_catch(&stop);
	while (!*interrupt_flag())
		clock_sleep_ns(50 * NS_PER_MS);
	interrupt_restore(&stop);
}

static int serve_run(struct command *command)
{
	const struct serve_args *args = command->args;
	AUTO_FREE char *address = NULL;
	struct web_options options = {
		.config = command->config,
		.base = text_or_empty(args->base),
		.directory = command->argc ? command->argv[0]
					   : config_text(command->config, SETTING_TRACE_DIR)
	};
	struct err err = { 0 };
	struct web *web;
	int ret;

	if (!is_base(options.base))
		return command_misuse(command,
				      "--base-path: \"%s\" must be like /sluice: letters, digits, "
				      "-._~ and single slashes, none of them at the end",
				      options.base);
	ret = choose_address(command, &address);
	if (!address)
		return ret;
	options.address = address;
	if (web_start(&web, &options, &err) < 0)
		return command_fail(command, "%s", err.text);
	print_address(web, address, options.base);
	wait_for_signal();
	web_stop(web);
	return command_finish(command);
}

const struct command_ops command_serve = {
	.name = "serve",
	.help = "show runs in a web browser",
	.operands = "[DIRECTORY]",
	.operands_max = 1,
	.about = "Serves a web application that shows the recorded runs of DIRECTORY (default: "
		 "the setting trace.dir), until it is interrupted. It reads traces, and changes "
		 "nothing.\n\n"
		 "Only you can use it. By default it listens on a unix socket that no other user "
		 "can open, and prints the ssh command that connects your own computer to it:\n\n"
		 "  ssh -L 8080:/run/user/1000/sluice/serve.socket login1\n\n"
		 "With --tcp it listens on a port of this machine's loopback interface, and prints "
		 "an address with a secret token, which the browser keeps as a cookie:\n\n"
		 "  sluice serve --tcp 127.0.0.1:0\n\n"
		 "Scripts send the token in the header \"Authorization: Bearer TOKEN\". "
		 "docs/reference/api.md describes the data that the pages use.",
	.options = serve_options,
	.args_bytes = sizeof(struct serve_args),
	.flags = COMMAND_NO_JSON,
	.run = serve_run,
};
