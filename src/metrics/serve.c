/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/serve.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/access.h"
#include "http/listen.h"
#include "metrics/metrics.h"

/* Limits against clients that are hostile or slow. */
#define CONNECTIONS 32
#define TIMEOUT_S 10
#define CONNECTION_BYTES (32u * 1024)

struct metrics_server {
	struct MHD_Daemon *daemon;
	struct metrics *metrics;
	struct metrics_server_options options;
	char *path;	  /* of the unix socket, NULL: TCP */
	struct stat made; /* the socket */
	char *token;
	unsigned port;
};

/* May the process at the other end of a unix socket see the metrics of all jobs? */
static bool peer_sees_jobs(const struct metrics_server *server, struct MHD_Connection *connection)
{
	uid_t user;

	return http_peer(connection, &user) && (user == 0 || user == geteuid() ||
						http_peer_is_in(connection, server->options.group));
}

static bool request_sees_jobs(const struct metrics_server *server,
			      struct MHD_Connection *connection)
{
	if (server->path)
		return peer_sees_jobs(server, connection);
	return server->token && http_has_bearer(connection, server->token);
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

static int listen_to(struct metrics_server *server, struct err *err)
{
	const char *address = server->options.address;
	int fd;

	if (address[0] != '/')
		return http_listen_tcp(address, &server->port, err);
	fd = http_listen_unix(address, server->options.group, &server->made, err);
	if (fd >= 0)
		server->path = xstrdup(address);
	return fd;
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
		r = http_token_load(token, options->group, &s->token, err);
	if (r >= 0)
		r = listen_to(s, err);
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
	/* While the server listens, the number of the file cannot be that of another socket. */
	if (server->path)
		http_unlink_unix(server->path, &server->made);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	free(server->path);
	free(server->token);
	free(server);
}

unsigned metrics_server_port(const struct metrics_server *server)
{
	return server->port;
}
