/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "metrics/metrics.h"

/* Limits against clients that are hostile or slow. */
#define CONNECTIONS 32
#define TIMEOUT_S 10
#define CONNECTION_BYTES (32u * 1024)

#define TOKEN_BYTES 64	/* of a new token, in hexadecimal digits */
#define TOKEN_MAX 512	/* of a token that the site has written */
#define GROUPS_MAX 1024 /* of a client; further ones are not seen */
#define BEARER "Bearer "

struct metrics_server {
	struct MHD_Daemon *daemon;
	struct metrics *metrics;
	struct metrics_server_options options;
	char *path; /* of the unix socket, NULL: TCP */
	char *token;
	unsigned port;
};

static bool is_in_group(int fd, gid_t group)
{
	AUTO_FREE gid_t *groups = xcalloc(GROUPS_MAX, sizeof(*groups));
	socklen_t bytes = GROUPS_MAX * sizeof(*groups);

	if (group == (gid_t)-1 || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) < 0)
		return false;
	for (size_t i = 0; i < bytes / sizeof(*groups); i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* May the process at the other end of a unix socket see the metrics of all jobs? */
static bool peer_sees_jobs(const struct metrics_server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (!info || getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		return false;
	return peer.uid == 0 || peer.uid == geteuid() ||
	       (server->options.group != (gid_t)-1 && peer.gid == server->options.group) ||
	       is_in_group(info->connect_fd, server->options.group);
}

/* Takes the same time for all tokens of one length. */
static bool tokens_equal(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned char difference = 0;

	if (strlen(b) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return !difference;
}

static bool request_sees_jobs(const struct metrics_server *server,
			      struct MHD_Connection *connection)
{
	const char *header;

	if (server->path)
		return peer_sees_jobs(server, connection);
	header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					     MHD_HTTP_HEADER_AUTHORIZATION);
	return server->token && header && strncmp(header, BEARER, strlen(BEARER)) == 0 &&
	       tokens_equal(server->token, header + strlen(BEARER));
}

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned code, const char *type,
			       struct buf *text)
{
	size_t n = text->len;
	struct MHD_Response *response =
		MHD_create_response_from_buffer(n, buf_take(text), MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_bytes, void **state)
{
	struct metrics_server *server = arg;
	unsigned code = MHD_HTTP_OK;
	const char *type = "text/plain; charset=utf-8";
	struct buf text = { 0 };

	(void)version, (void)data, (void)state;
	if (*data_bytes)
		return MHD_NO;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		code = MHD_HTTP_METHOD_NOT_ALLOWED;
		buf_puts(&text, "use GET\n");
	} else if (strcmp(url, "/metrics") == 0) {
		type = "text/plain; version=0.0.4; charset=utf-8";
		if (server->options.update)
			server->options.update(server->options.arg, server->metrics);
		metrics_render(server->metrics, request_sees_jobs(server, connection), &text);
	} else if (strcmp(url, "/-/healthy") == 0) {
		buf_puts(&text, "healthy\n");
	} else {
		code = MHD_HTTP_NOT_FOUND;
		buf_puts(&text, "not found; the metrics are at /metrics\n");
	}
	/* An empty text has no memory that could be freed. */
	if (!text.len)
		buf_puts(&text, "\n");
	return respond(connection, code, type, &text);
}

static int make_token(const char *path, gid_t group, char **token, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	unsigned char bytes[TOKEN_BYTES / 2];
	AUTO_BUF struct buf text = { 0 };

	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_set(err, EIO, "%s: no random numbers", path);
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf_printf(&text, "%02x", bytes[i]);
	if (write(fd, buf_text(&text), text.len) != (ssize_t)text.len ||
	    (group != (gid_t)-1 && (fchown(fd, (uid_t)-1, group) < 0 || fchmod(fd, 0640) < 0)))
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	*token = buf_take(&text);
	return 0;
}

static int read_token(const char *path, gid_t group, char **token, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[TOKEN_MAX + 1];
	struct stat st;
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return make_token(path, group, token, err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_mode & 07 || (st.st_uid != geteuid() && st.st_uid != 0))
		return err_set(err, EPERM,
			       "%s: other users have access to the token, or own it; remove the "
			       "file, and a new one is made",
			       path);
	n = read(fd, text, TOKEN_MAX);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\r\n \t")] = 0;
	if (!text[0])
		return err_set(err, EINVAL, "%s: the file has no token; remove it", path);
	*token = xstrdup(text);
	return 0;
}

/* Another server that is alive keeps its socket. */
static bool is_in_use(const struct sockaddr_un *address)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
}

/* Keeps it open beyond the end of the scope. */
static int take_descriptor(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static int listen_unix(struct metrics_server *server, struct err *err)
{
	const char *path = server->options.address;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	gid_t group = server->options.group;
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, ENAMETOOLONG, "%s: the path of a socket is too long", path);
	strcpy(address.sun_path, path);
	if (is_in_use(&address))
		return err_set(err, EADDRINUSE, "%s: another server uses this socket", path);
	unlink(path);
	/* Nobody else may connect before the group is set. */
	mask = umask(0177);
	r = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (r == 0 && group != (gid_t)-1)
		r = chown(path, (uid_t)-1, group) < 0 ? -1 : chmod(path, 0660);
	if (r < 0 || listen(fd, CONNECTIONS) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	server->path = xstrdup(path);
	return take_descriptor(&fd);
}

/* "127.0.0.1:9464", "[::1]:9464" */
static int parse_address(const char *text, struct addrinfo **found, struct err *err)
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
	if (!colon || !n || getaddrinfo(host, colon + 1, &hints, found) != 0)
		return err_set(err, EINVAL,
			       "%s: not an address; use HOST:PORT with a numeric host, such as "
			       "127.0.0.1:9464, or the path of a unix socket",
			       text);
	return 0;
}

static int listen_tcp(struct metrics_server *server, struct err *err)
{
	struct addrinfo *found = NULL;
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} bound = { .in6 = { 0 } };
	socklen_t bytes = sizeof(bound);
	int one = 1, r = parse_address(server->options.address, &found, err);
	AUTO_CLOSE int fd = -1;

	if (r < 0 || !found)
		return r;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, CONNECTIONS) < 0 ||
	    getsockname(fd, &bound.any, &bytes) < 0)
		r = err_set(err, errno, "%s: %s", server->options.address, strerror(errno));
	freeaddrinfo(found);
	if (r < 0)
		return r;
	server->port =
		ntohs(bound.any.sa_family == AF_INET6 ? bound.in6.sin6_port : bound.in.sin_port);
	return take_descriptor(&fd);
}

static int start_daemon(struct metrics_server *server, int fd, struct err *err)
{
	server->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, on_request, server,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
	if (server->daemon)
		return 0;
	close(fd);
	return err_set(err, EIO, "%s: the server of metrics cannot be started",
		       server->options.address);
}

int metrics_server_start(struct metrics_server **server, struct metrics *metrics,
			 const struct metrics_server_options *options, struct err *err)
{
	struct metrics_server *s = xcalloc(1, sizeof(*s));
	const char *token = options->token_file ? options->token_file : "";
	int r = 0;

	s->metrics = metrics;
	s->options = *options;
	if (*token && options->address[0] != '/')
		r = read_token(token, options->group, &s->token, err);
	if (r >= 0)
		r = options->address[0] == '/' ? listen_unix(s, err) : listen_tcp(s, err);
	if (r >= 0)
		r = start_daemon(s, r, err);
	if (r < 0) {
		metrics_server_stop(s);
		return r;
	}
	*server = s;
	return 0;
}

void metrics_server_stop(struct metrics_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	if (server->path)
		unlink(server->path);
	free(server->path);
	free(server->token);
	free(server);
}

unsigned metrics_server_port(const struct metrics_server *server)
{
	return server->port;
}
