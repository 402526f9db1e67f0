/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/place.h"

#define FIRST_FD 3	 /* of the service manager */
#define BACKLOG 4096	 /* processes that start at the same time; the kernel limits it further */
#define SOCKET_MODE 0666 /* SO_PEERCRED says who connects */

static int fill_address(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	strcpy(address->sun_path, path);
	return 0;
}

void listener_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	int fd;

	if (!path || (*path != '/' && *path != '@') || fill_address(&address, path) < 0)
		return;
	if (*path == '@')
		address.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* Nothing depends on the service manager getting it. */
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))) < 0) {
	}
	close(fd);
}

static int get_option(int fd, int option)
{
	int value = -1;
	socklen_t bytes = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &bytes) == 0 ? value : -1;
}

int listener_inherit(struct err *err)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	int found = pid && count && atol(pid) == (long)getpid() ? atoi(count) : 0;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (found <= 0)
		return -ENOENT;
	if (found > 1)
		return err_set(err, EINVAL,
			       "the service manager passed %d sockets; the unit must have one "
			       "ListenStream",
			       found);
	if (get_option(FIRST_FD, SO_DOMAIN) != AF_UNIX ||
	    get_option(FIRST_FD, SO_TYPE) != SOCK_STREAM ||
	    get_option(FIRST_FD, SO_ACCEPTCONN) != 1)
		return err_set(err, EINVAL,
			       "the service manager passed something other than a listening unix "
			       "stream socket");
	if (fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC) != 0 || fcntl(FIRST_FD, F_SETFL, O_NONBLOCK) != 0)
		return err_set(err, errno, "socket of the service manager: %s", strerror(errno));
	return FIRST_FD;
}

/* Removes a socket that nobody listens to. */
static int remove_stale(const struct sockaddr_un *address, struct err *err)
{
	struct stat st;
	int fd, r;

	if (lstat(address->sun_path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, EEXIST, "%s: exists and is not a socket; remove it",
			       address->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = connect(fd, (const struct sockaddr *)address, sizeof(*address));
	if (r == 0 || errno != ECONNREFUSED) {
		close(fd);
		return err_set(err, EADDRINUSE, "%s: another daemon listens to this socket",
			       address->sun_path);
	}
	close(fd);
	return unlink(address->sun_path) == 0 || errno == ENOENT
		       ? 0
		       : err_set(err, errno, "%s: %s", address->sun_path, strerror(errno));
}

int listener_create(const char *path, struct err *err)
{
	struct sockaddr_un address;
	int fd, r = fill_address(&address, path);

	if (r < 0)
		return err_set(err, -r, "%s: the path of a socket has at most %zu bytes", path,
			       sizeof(address.sun_path) - 1);
	r = place_make_parent(path, 0755, err);
	if (r < 0 || (r = remove_stale(&address, err)) < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Nobody can connect before listen(), so the mode is right in time. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    chmod(path, SOCKET_MODE) != 0 || listen(fd, BACKLOG) != 0) {
		err_set(err, errno, "%s: cannot listen: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -err->code;
	}
	return fd;
}
