/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netdb.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

/* Keeps it open beyond the end of the scope. */
static int take_descriptor(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/*
 * Another server that is alive keeps its socket, also if it is busy or does not let this user in.
 * Nobody listens to a socket only if the kernel says so.
 */
static bool is_in_use(const struct sockaddr_un *address)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	       (errno != ECONNREFUSED && errno != ENOENT);
}

/* Removes a socket that a server has left behind. */
static int make_room(const char *path, const struct sockaddr_un *address, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, EEXIST, "%s: file exists, and is not a socket", path);
	if (is_in_use(address))
		return err_set(err, EADDRINUSE, "%s: another server uses this socket", path);
	unlink(path);
	return 0;
}

static int bind_and_listen(int fd, const struct sockaddr_un *address, gid_t group, struct err *err)
{
	const char *path = address->sun_path;
	mode_t mask;
	int r = make_room(path, address, err);

	if (r < 0)
		return r;
	/* Nobody else may connect before the group is set. */
	mask = umask(0177);
	r = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)address, sizeof(*address));
	umask(mask);
	if (r == 0 && group != (gid_t)-1)
		r = chown(path, (uid_t)-1, group) < 0 ? -1 : chmod(path, 0660);
	if (r < 0 && errno == EPERM && group != (gid_t)-1) {
		unlink(path);
		return err_set(err, EPERM,
			       "%s: the socket cannot be given to the group %u; the user of this "
			       "server must be a member of it",
			       path, (unsigned)group);
	}
	return r < 0 || listen(fd, HTTP_BACKLOG) < 0
		       ? err_set(err, errno, "%s: %s", path, strerror(errno))
		       : 0;
}

/*
 * Servers that are started at the same time take turns: one of them could otherwise remove the
 * socket that another one has just made. The kernel releases the lock of a server that is killed.
 */
static int lock_directory(const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Without the lock, for example on a file system that has none, it is as good as can be. */
	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

static void unlock_directory(int lock)
{
	if (lock >= 0)
		close(lock);
}

int http_listen_unix(const char *path, gid_t group, struct stat *made, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int lock, r;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, ENAMETOOLONG, "%s: the path of a socket is too long", path);
	strcpy(address.sun_path, path);
	lock = lock_directory(path);
	r = bind_and_listen(fd, &address, group, err);
	if (r == 0 && lstat(path, made) != 0)
		r = err_set(err, errno, "%s: %s", path, strerror(errno));
	unlock_directory(lock);
	return r < 0 ? r : take_descriptor(&fd);
}

void http_unlink_unix(const char *path, const struct stat *made)
{
	int lock = lock_directory(path);
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == made->st_dev && st.st_ino == made->st_ino)
		unlink(path);
	unlock_directory(lock);
}

static int parse_address(const char *text, struct addrinfo **found)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	AUTO_FREE char *host = colon ? xstrndup(text, (size_t)(colon - text)) : NULL;
	size_t n = host ? strlen(host) : 0;

	if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = 0;
		memmove(host, host + 1, n - 1);
	}
	return !colon || !n || getaddrinfo(host, colon + 1, &hints, found) != 0 ? -EINVAL : 0;
}

bool http_is_loopback(const char *address)
{
	struct addrinfo *found = NULL;
	bool is_loopback = false;

	if (parse_address(address, &found) < 0)
		return false;
	if (found->ai_family == AF_INET)
		is_loopback =
			(ntohl(((struct sockaddr_in *)(void *)found->ai_addr)->sin_addr.s_addr) >>
			 24) == IN_LOOPBACKNET;
	else if (found->ai_family == AF_INET6)
		is_loopback = IN6_IS_ADDR_LOOPBACK(
			&((struct sockaddr_in6 *)(void *)found->ai_addr)->sin6_addr);
	freeaddrinfo(found);
	return is_loopback;
}

int http_listen_tcp(const char *address, unsigned *port, struct err *err)
{
	struct addrinfo *found = NULL;
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} bound = { .in6 = { 0 } };
	socklen_t bytes = sizeof(bound);
	int one = 1, r = 0;
	AUTO_CLOSE int fd = -1;

	if (parse_address(address, &found) < 0)
		return err_set(err, EINVAL,
			       "%s: not an address; use HOST:PORT with a numeric host, such as "
			       "127.0.0.1:9464, or the path of a unix socket",
			       address);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, HTTP_BACKLOG) < 0 ||
	    getsockname(fd, &bound.any, &bytes) < 0)
		r = err_set(err, errno, "%s: %s", address, strerror(errno));
	freeaddrinfo(found);
	if (r < 0)
		return r;
	if (port)
		*port = ntohs(bound.any.sa_family == AF_INET6 ? bound.in6.sin6_port
							      : bound.in.sin_port);
	return take_descriptor(&fd);
}
