/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluiced serve: opens the socket and runs keeper and worker.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/config.h"
#include "base/integer.h"
#include "base/term.h"
#include "cli/command.h"
#include "daemon/keeper.h"
#include "daemon/listener.h"
#include "daemon/worker.h"

#define FILES_RESERVED 64 /* descriptors that are neither clients' nor spools' */

struct serve {
	struct command *command;
	struct worker_options worker;
};

/* Standard error is the journal under a service manager, and the terminal otherwise. */
static void tell(const char *sentence)
{
	term_printf(stderr, "sluiced: %s\n", sentence);
}

static void tell_of_keeper(void *arg, const char *sentence)
{
	(void)arg;
	tell(sentence);
}

static int work(void *arg, int channel)
{
	struct serve *serve = arg;
	struct err err = { 0 };
	int r;

	prctl(PR_SET_NAME, "sluiced-worker");
	r = worker_run(&serve->worker, channel, &err);

	return r < 0 ? command_fail_err(serve->command, r, &err) : COMMAND_GOOD;
}

/* Raises the limit of open files as far as allowed, and returns it. */
static uint64_t raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1024;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

/* *is_ours: the socket was created here. */
static int open_listener(const struct config *config, bool *is_ours, struct err *err)
{
	int fd = listener_inherit(err);

	*is_ours = fd == -ENOENT;
	return *is_ours ? listener_create(config_text(config, SETTING_SITE_SOCKET), err) : fd;
}

static int serve_run(struct command *command)
{
	const struct config *config = command->config;
	uint64_t files = u64_max(raise_file_limit(), 2 * FILES_RESERVED) - FILES_RESERVED;
	struct serve serve = {
		.command = command,
		/* Half of the descriptors are for connections, the rest is for spools. */
		.worker = { .config = config,
			    .clients_max =
				    u64_min(config_number(config, SETTING_SITE_CLIENTS), files / 2),
			    .tell = tell },
	};
	struct keeper_options options = {
		.work = work,
		.arg = &serve,
		.kept_max = files / FRAME_DESCRIPTORS_MAX,
		.tell = tell_of_keeper,
	};
	struct err err = { 0 };
	bool is_ours;
	int r = open_listener(config, &is_ours, &err);

	if (r < 0)
		return command_fail_err(command, r, &err);
	serve.worker.listener = r;
	r = keeper_run(&options, &err);
	close(serve.worker.listener);
	if (is_ours)
		unlink(config_text(config, SETTING_SITE_SOCKET));
	return r < 0 ? command_fail_err(command, r, &err) : r;
}

const struct command_ops command_serve = {
	.name = "serve",
	.help = "collect what processes hand over, until a signal ends it (the default)",
	.about = "Runs in the foreground. A service manager may pass the socket; otherwise sluiced "
		 "creates it (setting site.socket). The socket is open to everybody: the kernel "
		 "says who connects, and limits apply per user.\n"
		 "\n"
		 "There are two processes. The first one, the keeper, holds the descriptors that "
		 "processes have handed over. The second one, the worker, does everything else. If "
		 "the worker is killed, the keeper starts another one, which continues.\n"
		 "\n"
		 "SIGTERM and SIGINT end the daemon. Programs that are being recorded are not "
		 "affected; their records are collected when the daemon starts again.\n"
		 "\n"
		 "  sluiced --set site.socket=$PWD/socket --set site.state=$PWD/state",
	.flags = COMMAND_NO_JSON,
	.operands = "",
	.run = serve_run,
};
