/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice serve: the web application.
 */
#include <errno.h>
#include <pwd.h>
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
#include "http/server.h"
#include "web/web.h"

#define FORWARDED_PORT 8080 /* that the printed ssh command listens on */

struct serve_args {
	const char *socket, *tcp, *base;
	bool is_portal;
};

static const struct option serve_options[] = {
	{ 0, "socket", "PATH", NULL,
	  "listen on this unix socket (default: sluice-serve in the directory of the session)",
	  OPTION_TEXT, offsetof(struct serve_args, socket) },
	{ 0, "tcp", "HOST:PORT", NULL,
	  "listen on a TCP port of the loopback interface instead; port 0: any that is free",
	  OPTION_TEXT, offsetof(struct serve_args, tcp) },
	{ 0, "portal", NULL, NULL,
	  "show the database of the site to its users, behind an authenticating proxy", OPTION_FLAG,
	  offsetof(struct serve_args, is_portal) },
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

/* The proxy of a site, and who it is. */
static int find_proxy(const struct command *command, struct http_proxy *proxy)
{
	const char *name = config_text(command->config, SETTING_SITE_PROXY_USER);
	const struct passwd *user = *name ? getpwnam(name) : NULL;

	if (!*name)
		return command_fail(command, "no proxy is named; set site.proxy_user to the user "
					     "as whom it runs, such as www-data");
	if (!user)
		return command_fail(command, "site.proxy_user: unknown user \"%s\"", name);
	*proxy = (struct http_proxy){
		.user = user->pw_uid,
		.group = user->pw_gid,
		.header = config_text(command->config, SETTING_SITE_USER_HEADER),
	};
	return COMMAND_GOOD;
}

/* Completes the options of a server for the users of a site. */
static int choose_site(const struct command *command, struct web_options *options,
		       struct http_proxy *proxy)
{
	const struct serve_args *args = command->args;

	if (command->argc || !args->socket)
		return command_misuse(command, "--portal needs --socket, and no DIRECTORY");
	options->database = config_text(command->config, SETTING_SITE_DATABASE);
	if (!*options->database)
		return command_fail(command,
				    "no database is named; set site.database in /etc/sluice.conf");
	options->proxy = proxy;
	return find_proxy(command, proxy);
}

static void print_address(const struct web *web, const char *address, const char *base,
			  bool is_portal)
{
	char host[256] = "HOST";

	if (web_port(web)) {
		const char *colon = strrchr(address, ':');

		term_printf(stdout, "http://%.*s:%u%s/?token=%s\n", (int)(colon - address), address,
			    web_port(web), base, web_token(web));
	} else if (is_portal) {
		term_printf(stdout, "%s\n", address);
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
	struct http_proxy proxy;
	struct err err = { 0 };
	struct web *web;
	int ret;

	if (!is_base(options.base))
		return command_misuse(command,
				      "--base-path: \"%s\" must be like /sluice: letters, digits, "
				      "-._~ and single slashes, none of them at the end",
				      options.base);
	ret = args->is_portal ? choose_site(command, &options, &proxy) : COMMAND_GOOD;
	if (ret == COMMAND_GOOD)
		ret = choose_address(command, &address);
	if (!address)
		return ret;
	options.address = address;
	if (web_start(&web, &options, &err) < 0)
		return command_fail(command, "%s", err.text);
	print_address(web, address, options.base, args->is_portal);
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
		 "the setting trace.dir), the tunings and the knowledge base, until it is "
		 "interrupted. It changes nothing by itself; a tuning can be stopped and resumed "
		 "on its page.\n\n"
		 "Only you can use it. By default it listens on a unix socket that no other user "
		 "can open, and prints the ssh command that connects your own computer to it:\n\n"
		 "  ssh -L 8080:/run/user/1000/sluice/serve.socket login1\n\n"
		 "With --tcp it listens on a port of this machine's loopback interface, and prints "
		 "an address with a secret token, which the browser keeps as a cookie:\n\n"
		 "  sluice serve --tcp 127.0.0.1:0\n\n"
		 "With --portal, it shows the database of the site to its users, each of whom sees "
		 "what PostgreSQL permits. An authenticating proxy, whose user is site.proxy_user, "
		 "names them in the header site.user_header; docs/reference/web.md has an "
		 "example:\n\n"
		 "  sluice serve --portal --socket /run/sluice-web/socket\n\n"
		 "Scripts send the token in the header \"Authorization: Bearer TOKEN\". "
		 "docs/reference/api.md describes the data that the pages use.",
	.options = serve_options,
	.args_bytes = sizeof(struct serve_args),
	.flags = COMMAND_NO_JSON,
	.run = serve_run,
};
