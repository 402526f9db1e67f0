/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/daemon_link.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "contract/policy.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
#define ATTEMPT_NS (20 * NS_PER_MS)

/* Only root, the user, or someone whom root has given the directory may have created it: the rule
 * of the guest (capture/record/site.h). */
static bool is_trusted(int directory, const struct stat *page)
{
	struct stat own, above;

	if (!S_ISREG(page->st_mode) || page->st_mode & OTHERS_WRITE ||
	    fstat(directory, &own) != 0 || own.st_mode & OTHERS_WRITE ||
	    (own.st_uid != page->st_uid && own.st_uid != 0))
		return false;
	if (page->st_uid == 0 || page->st_uid == geteuid())
		return true;
	return fstatat(directory, "..", &above, AT_SYMLINK_NOFOLLOW) == 0 && above.st_uid == 0 &&
	       !(above.st_mode & OTHERS_WRITE);
}

struct policy *daemon_link_policy(const struct config *config, struct err *err)
{
	AUTO_FREE char *socket_path = xstrdup(config_text(config, SETTING_SITE_SOCKET));
	const char *variable = getenv(POLICY_SITE_VARIABLE);
	const char *site = variable && variable[0] == '/' ? variable : dirname(socket_path);
	AUTO_CLOSE int directory = open(site, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int fd = -1;
	AUTO_FREE struct policy *page = NULL;
	struct policy *found;
	struct stat st;

	if (directory >= 0)
		fd = openat(directory, POLICY_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		err_set(err, ENOENT, "%s: no daemon of the site: %s", site, strerror(errno));
		return NULL;
	}
	page = xcalloc(1, sizeof(*page));
	if (fstat(fd, &st) != 0 || !is_trusted(directory, &st)) {
		err_set(err, EPERM,
			"%s: the policy of the site could have been changed by others; make the "
			"directory and the policy writable by their owner only",
			site);
		return NULL;
	}
	if (pread(fd, page, sizeof(*page), 0) != (ssize_t)sizeof(*page) ||
	    !policy_is_valid(page, (uint64_t)st.st_size)) {
		err_set(err, EPROTONOSUPPORT,
			"%s/" POLICY_NAME ": written by another version of "
			"Sluice",
			site);
		return NULL;
	}
	found = page;
	page = NULL;
	return found;
}

int daemon_link_connect(const char *path, int attempts)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int failure = 0;

	if (fd < 0)
		return -errno;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	for (int i = 0; i < attempts; i++) {
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
		failure = errno;
		if (failure != EAGAIN)
			break;
		clock_sleep_ns(ATTEMPT_NS);
	}
	close(fd);
	return -failure;
}
