/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/launch.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"

static struct launch_link *own_link;

struct launch_link *launch_link(void)
{
	return own_link;
}

void launch_set_link(struct launch_link *link)
{
	own_link = link;
}

void launch_set_directory(struct launch_link *link, const char *directory, bool is_shared)
{
	struct launch *launch = link->launch;

	launch->is_shared = is_shared;
	snprintf(launch->directory, sizeof(launch->directory), "%s", directory);
}

static void wake(int pipe)
{
	/* If the process at the other end is gone, there is nobody to wake. */
	(void)!write(pipe, "", 1);
}

/* Checks whether the launcher has closed its end. If it did not say that the program has ended, it
 * was killed, and the program may still wait for its start. */
static bool is_closed(struct launch_link *link)
{
	struct pollfd life = { .fd = link->life, .events = POLLIN };

	if (link->is_alone)
		return true;
	if (poll(&life, 1, 0) <= 0)
		return false;
	if (!atomic_load(&link->launch->is_over)) {
		link->is_alone = true;
		wake(link->go);
	}
	return true;
}

static void publish(struct launch_link *link, enum launch_state state)
{
	atomic_store(&link->launch->state, state);
	wake(link->up);
	is_closed(link);
}

int launch_set_environment(struct launch_link *link, const char *variables, size_t bytes)
{
	struct launch *launch = link->launch;

	if (bytes >= sizeof(launch->environment))
		return -ENOSPC;
	memset(launch->environment, 0, sizeof(launch->environment));
	if (bytes)
		memcpy(launch->environment, variables, bytes);
	return 0;
}

int launch_add_environment(struct launch_link *link, const char *variables, size_t bytes)
{
	char *at = link->launch->environment;
	const char *end = at + sizeof(link->launch->environment);

	while (*at)
		at += strlen(at) + 1;
	if (bytes >= (size_t)(end - at))
		return -ENOSPC;
	if (bytes)
		memcpy(at, variables, bytes);
	return 0;
}

int launch_move_command(struct launch_link *link, size_t at, const char *prefix, size_t bytes)
{
	struct launch *launch = link->launch;

	if (bytes >= sizeof(launch->prefix))
		return -ENOSPC;
	memset(launch->prefix, 0, sizeof(launch->prefix));
	memcpy(launch->prefix, prefix, bytes);
	launch->move_to = at;
	return 0;
}

int launch_start_program(struct launch_link *link, const char *spool, const char *preload)
{
	struct launch *launch = link->launch;

	if ((spool && strlen(spool) >= sizeof(launch->spool)) ||
	    (preload && strlen(preload) >= sizeof(launch->preload)))
		return -ENAMETOOLONG;
	strcpy(launch->spool, spool ? spool : "");
	strcpy(launch->preload, preload ? preload : "");
	publish(link, LAUNCH_READY);
	return 0;
}

void launch_refuse(struct launch_link *link, int code)
{
	link->launch->refusal = code;
	publish(link, LAUNCH_REFUSED);
}

/* The launcher was killed, so the program cannot be waited for as a child. */
static bool program_is_gone(const struct launch_link *link)
{
	struct pollfd program = { .fd = link->pidfd, .events = POLLIN };

	if (link->pidfd < 0)
		return !process_start(link->launch->program);
	return poll(&program, 1, 0) > 0;
}

bool launch_wait(struct launch_link *link, unsigned microseconds)
{
	struct pollfd fd = { .fd = link->is_alone ? link->pidfd : link->life, .events = POLLIN };
	struct timespec pause = { microseconds / 1000000, microseconds % 1000000 * NS_PER_US };

	ppoll(&fd, fd.fd >= 0, &pause, NULL);
	if (!is_closed(link))
		return false;
	return !link->is_alone || program_is_gone(link);
}

int launch_exit_code(const struct launch_link *link)
{
	return link->is_alone ? -1 : link->launch->exit_code;
}
