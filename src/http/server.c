/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/access.h"
#include "http/answer.h"
#include "http/listen.h"
#include "http/origin.h"
#include "http/stream.h"

/* Limits against clients that are hostile or slow. */
#define CONNECTIONS 64
#define PATIENCE_S 30
#define CONNECTION_BYTES (32u * 1024)
#define STACK_BYTES (1024u * 1024)

/* "sluice-", and the port: servers on one host share the cookies of a browser. */
#define COOKIE "sluice-%u"

struct http_server {
	struct MHD_Daemon *daemon;
	struct http_server_options options;
	char *path;	  /* of the unix socket; NULL: TCP */
	struct stat made; /* the socket */
	char *base;
	char *token, *cookie;
	unsigned port;
	struct http_streams streams;
	struct http_proxy proxy; /* header NULL: none */
};

const char *http_query(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* --- access --- */

static bool has_token(const struct http_server *server, struct MHD_Connection *connection)
{
	const char *cookie =
		MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, server->cookie);

	return http_has_bearer(connection, server->token) ||
	       (cookie && http_token_equal(server->token, cookie));
}

/* Sets the cookie, and leads to the same page without the token, which must not stay in the URL. */
static enum MHD_Result welcome(const struct http_server *server, struct MHD_Connection *connection,
			       const char *path)
{
	AUTO_FREE char *cookie = xprintf("%s=%s; Path=%s/; HttpOnly; SameSite=Strict",
					 server->cookie, server->token, server->base);
	AUTO_FREE char *place = xprintf("%s%s", server->base, path);
	struct http_answer answer = { .status = MHD_HTTP_SEE_OTHER };
	struct MHD_Response *response =
		MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	http_add_headers(response, &answer);
	MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
	MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, place);
	result = MHD_queue_response(connection, answer.status, response);
	MHD_destroy_response(response);
	return result;
}

static bool is_trusted_peer(const struct http_server *server, struct MHD_Connection *connection)
{
	uid_t user;

	if (!http_peer(connection, &user))
		return false;
	return server->proxy.header ? user == server->proxy.user : user == 0 || user == geteuid();
}

/* Returns the path below the base; NULL: it is elsewhere. */
static const char *below_base(const struct http_server *server, const char *url)
{
	size_t n = strlen(server->base);

	if (strncmp(url, server->base, n) != 0)
		return NULL;
	return url[n] == '/' ? url + n : n && !url[n] ? "/" : NULL;
}

/* A place that the browser is sent to must be one of this server: "//elsewhere" is another one. */
static bool is_plain(const char *path)
{
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 127 || *p == '\\')
			return false;
	return path[1] != '/';
}

/* --- requests --- */

/* The body of a request, as far as it has arrived. */
struct upload {
	struct buf body;
	int64_t deadline_ns;
};

static const char *find_header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Why a request is refused before anybody looks at its path; 0: it is not. */
static unsigned find_intruder(const struct http_server *server, struct MHD_Connection *connection,
			      const char **sentence)
{
	if (server->path && !is_trusted_peer(server, connection)) {
		*sentence = server->proxy.header ? "only the proxy of this server may use it"
						 : "this server belongs to another user";
		return MHD_HTTP_FORBIDDEN;
	}
	if (!server->proxy.header && !http_host_is_loopback(connection)) {
		*sentence = "use localhost or 127.0.0.1 as the name of the host";
		return MHD_HTTP_FORBIDDEN;
	}
	if (http_is_foreign(connection)) {
		*sentence = "the page of another site must not use this server";
		return MHD_HTTP_FORBIDDEN;
	}
	return 0;
}

/* Why the body of a request is refused before it arrives; 0: it is not. */
static unsigned find_bad_body(struct MHD_Connection *connection, const char **sentence)
{
	static const char json[] = "application/json";
	const char *type = find_header(connection, MHD_HTTP_HEADER_CONTENT_TYPE);
	const char *length = find_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

	*sentence = http_find_forgery(connection);
	if (*sentence)
		return MHD_HTTP_FORBIDDEN;
	if (!type || strncasecmp(type, json, strlen(json)) != 0 ||
	    !strchr("; \t", type[strlen(json)])) {
		*sentence = "the body must be JSON: \"Content-Type: application/json\"";
		return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
	}
	/* libmicrohttpd has refused lengths that are not numbers. */
	if (!length || find_header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
		*sentence = "the length of the body is missing";
		return MHD_HTTP_LENGTH_REQUIRED;
	}
	if (strtoull(length, NULL, 10) > HTTP_BODY_MAX) {
		*sentence = "the body is larger than 64 KiB";
		return MHD_HTTP_CONTENT_TOO_LARGE;
	}
	return 0;
}

static enum MHD_Result refuse_method(struct MHD_Connection *connection, unsigned methods)
{
	struct http_answer answer = { .status = MHD_HTTP_METHOD_NOT_ALLOWED,
				      .type = "text/plain; charset=utf-8",
				      .allow = methods == HTTP_POST  ? "POST"
					       : methods == HTTP_GET ? "GET, HEAD"
								     : "GET, HEAD, POST" };

	buf_printf(&answer.body, "use %s\n", answer.allow);
	return http_send(connection, &answer);
}

static enum MHD_Result handle(struct http_server *server, const struct http_request *request)
{
	struct http_answer answer = { .status = MHD_HTTP_OK,
				      .type = "application/json; charset=utf-8" };
	const char *etag = find_header(request->connection, MHD_HTTP_HEADER_IF_NONE_MATCH);

	server->options.handle(server->options.arg, request, &answer);
	if (answer.stream.next)
		return http_stream_send(&server->streams, request->connection, &answer);
	if (answer.etag && etag && strcmp(etag, answer.etag) == 0) {
		answer.status = MHD_HTTP_NOT_MODIFIED;
		answer.packed = NULL;
	}
	return http_send(request->connection, &answer);
}

/* The headers have arrived. Answers, or leaves *state if a body follows. */
static enum MHD_Result begin(struct http_server *server, struct http_request *request,
			     const char *method, void **state)
{
	bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
	struct MHD_Connection *connection = request->connection;
	const char *sentence = NULL, *token = NULL;
	unsigned methods = HTTP_GET, status = find_intruder(server, connection, &sentence);
	struct upload *upload;

	if (status)
		return http_refuse(connection, status, sentence);
	if (!request->path)
		return http_refuse(connection, MHD_HTTP_NOT_FOUND, "not found");
	if (server->proxy.header && !request->user)
		return http_refuse(connection, MHD_HTTP_UNAUTHORIZED,
				   "the proxy must name exactly one user");
	token = server->token && is_get ? http_query(request, "token") : NULL;
	if (token && http_token_equal(server->token, token) && is_plain(request->path))
		return welcome(server, connection, request->path);
	if (server->token && !has_token(server, connection))
		return http_refuse(
			connection, MHD_HTTP_UNAUTHORIZED,
			"open the address that 'sluice serve' has printed, with its token");
	if (server->options.methods)
		methods = server->options.methods(server->options.arg, request->path);
	request->method = is_get ? HTTP_GET : strcmp(method, "POST") == 0 ? HTTP_POST : 0;
	if (!(methods & request->method))
		return refuse_method(connection, methods);
	if (request->method == HTTP_GET)
		return handle(server, request);
	status = find_bad_body(connection, &sentence);
	if (status)
		return http_refuse(connection, status, sentence);
	upload = xcalloc(1, sizeof(*upload));
	upload->deadline_ns = clock_now_ns() + server->options.patience_s * NS_PER_S;
	*state = upload;
	return MHD_YES;
}

/* MHD_NO closes the connection: an answer cannot be sent while a body arrives. */
static enum MHD_Result receive(struct upload *upload, const char *data, size_t *bytes)
{
	if (clock_now_ns() > upload->deadline_ns || upload->body.len + *bytes > HTTP_BODY_MAX)
		return MHD_NO;
	buf_add(&upload->body, data, *bytes);
	*bytes = 0;
	return MHD_YES;
}

/* Called with the headers of a request, with each part of its body, and at the end of the body. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_bytes, void **state)
{
	struct http_server *server = arg;
	struct upload *upload = *state;
	struct http_request request = { .path = below_base(server, url), .connection = connection };

	if (server->proxy.header)
		request.user = http_only_header(connection, server->proxy.header);
	(void)version;
	if (!upload)
		return *data_bytes ? MHD_NO : begin(server, &request, method, state);
	if (*data_bytes)
		return receive(upload, data, data_bytes);
	request.method = HTTP_POST;
	request.body = buf_text(&upload->body);
	request.body_bytes = upload->body.len;
	return handle(server, &request);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode why)
{
	struct upload *upload = *state;

	(void)arg, (void)connection, (void)why;
	if (!upload)
		return;
	buf_release(&upload->body);
	free(upload);
	*state = NULL;
}

/* --- start and stop --- */

static int listen_to(struct http_server *server, struct err *err)
{
	const char *address = server->options.address;
	int fd;

	if (address[0] == '/') {
		fd = http_listen_unix(address,
				      server->proxy.header ? server->proxy.group : (gid_t)-1,
				      &server->made, err);
		if (fd >= 0)
			server->path = xstrdup(address);
		return fd;
	}
	if (server->proxy.header)
		return err_set(err, EINVAL,
			       "%s: behind a proxy, the address must be the path of a unix socket",
			       address);
	if (!http_is_loopback(address))
		return err_set(err, EINVAL,
			       "%s: not an address of this machine's loopback interface; use "
			       "127.0.0.1:PORT or [::1]:PORT, and reach it through ssh -L",
			       address);
	server->token = http_token_new(err);
	if (!server->token)
		return -EIO;
	fd = http_listen_tcp(address, &server->port, err);
	server->cookie = xprintf(COOKIE, server->port);
	return fd;
}

static int start_daemon(struct http_server *server, int fd, struct err *err)
{
	bool missing;

	errno = 0;
	server->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0,
		NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		server->options.patience_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
	missing = errno == ELIBACC; /* see http/late */
	if (server->daemon)
		return 0;
	close(fd);
	if (missing)
		return err_set(err, ELIBACC,
			       "libmicrohttpd cannot be loaded; install it (Debian: "
			       "libmicrohttpd12)");
	return err_set(err, EIO, "%s: the server cannot be started", server->options.address);
}

int http_server_start(struct http_server **server, const struct http_server_options *options,
		      struct err *err)
{
	struct http_server *s = xcalloc(1, sizeof(*s));
	int r;

	s->options = *options;
	if (!s->options.patience_s)
		s->options.patience_s = PATIENCE_S;
	s->base = xstrdup(text_or_empty(options->base));
	if (options->proxy)
		s->proxy = *options->proxy;
	/* Half of the patience, so that a quiet stream is not taken for a slow client. */
	r = http_streams_init(&s->streams, s->options.patience_s * NS_PER_S / 2);
	if (r < 0)
		err_set(err, -r, "no descriptor for streams of events: %s", strerror(-r));
	else
		r = listen_to(s, err);
	if (r >= 0)
		r = start_daemon(s, r, err);
	if (r < 0) {
		http_server_stop(s);
		return r;
	}
	*server = s;
	return 0;
}

void http_server_stop(struct http_server *server)
{
	if (!server)
		return;
	/* While the server listens, the number of the file cannot be that of another socket. */
	if (server->path)
		http_unlink_unix(server->path, &server->made);
	if (server->daemon) {
		http_streams_end(&server->streams);
		MHD_stop_daemon(server->daemon);
	}
	http_streams_release(&server->streams);
	free(server->path);
	free(server->base);
	free(server->token);
	free(server->cookie);
	free(server);
}

unsigned http_server_port(const struct http_server *server)
{
	return server->port;
}

const char *http_server_token(const struct http_server *server)
{
	return server->token;
}
