/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/access.h"
#include "http/listen.h"

/* Limits against clients that are hostile or slow. */
#define CONNECTIONS 64
#define TIMEOUT_S 30
#define CONNECTION_BYTES (32u * 1024)
#define STACK_BYTES (1024u * 1024)
#define UNPACKED_MAX (8u << 20)

#define PACK_BYTES 1024 /* shorter answers are not worth packing */
#define GZIP_WINDOW (MAX_WBITS + 16)

/* "sluice-", and the port: servers on one host share the cookies of a browser. */
#define COOKIE "sluice-%u"

struct http_server {
	struct MHD_Daemon *daemon;
	struct http_server_options options;
	char *path; /* of the unix socket; NULL: TCP */
	char *base;
	char *token, *cookie;
	unsigned port;
};

static const struct {
	const char *name, *value;
} headers[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
	  "connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

const char *http_query(const struct http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* --- answers --- */

static bool accepts_gzip(struct MHD_Connection *connection)
{
	const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_ACCEPT_ENCODING);

	return header && strstr(header, "gzip") && !strstr(header, "gzip;q=0");
}

/* Replaces the body by its packed form. Leaves it as it is if that fails. */
static bool pack(struct buf *body)
{
	z_stream stream = { 0 };
	struct buf packed = { 0 };
	uLong bound;

	if (body->len < PACK_BYTES || body->len > UINT32_MAX ||
	    deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
		    Z_OK)
		return false;
	bound = deflateBound(&stream, (uLong)body->len);
	packed.data = xmalloc(bound);
	packed.cap = bound;
	stream.next_in = (Bytef *)body->data;
	stream.avail_in = (uInt)body->len;
	stream.next_out = (Bytef *)packed.data;
	stream.avail_out = (uInt)bound;
	if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		deflateEnd(&stream);
		buf_release(&packed);
		return false;
	}
	packed.len = stream.total_out;
	deflateEnd(&stream);
	buf_release(body);
	*body = packed;
	return true;
}

static void unpack(const struct http_answer *answer, struct buf *body)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)answer->packed,
			    .avail_in = (uInt)answer->packed_bytes };
	char room[16384];
	int r = inflateInit2(&stream, GZIP_WINDOW);

	while (r == Z_OK && body->len < UNPACKED_MAX) {
		stream.next_out = (Bytef *)room;
		stream.avail_out = sizeof(room);
		r = inflate(&stream, Z_NO_FLUSH);
		buf_add(body, room, sizeof(room) - stream.avail_out);
	}
	inflateEnd(&stream);
}

static struct MHD_Response *make_response(struct MHD_Connection *connection,
					  struct http_answer *answer, bool *is_packed)
{
	bool gzip = accepts_gzip(connection);
	size_t n;

	if (answer->packed && gzip) {
		*is_packed = true;
		return MHD_create_response_from_buffer(answer->packed_bytes,
						       (void *)(uintptr_t)answer->packed,
						       MHD_RESPMEM_PERSISTENT);
	}
	if (answer->packed)
		unpack(answer, &answer->body);
	else
		*is_packed = gzip && pack(&answer->body);
	/* An empty text has no memory that could be freed. */
	n = answer->body.len;
	if (!n)
		return MHD_create_response_from_buffer(0, (void *)(uintptr_t) "",
						       MHD_RESPMEM_PERSISTENT);
	return MHD_create_response_from_buffer(n, buf_take(&answer->body), MHD_RESPMEM_MUST_FREE);
}

static void add_headers(struct MHD_Response *response, const struct http_answer *answer)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i].name, headers[i].value);
	if (answer->type)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	if (answer->etag)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, answer->etag);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				answer->etag ? "no-cache" : "no-store");
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept-Encoding, Cookie");
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct http_answer *answer)
{
	bool is_packed = false;
	struct MHD_Response *response = make_response(connection, answer, &is_packed);
	enum MHD_Result result;

	buf_release(&answer->body);
	if (!response)
		return MHD_NO;
	add_headers(response, answer);
	if (is_packed)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
			      const char *sentence)
{
	struct http_answer answer = { .status = status, .type = "text/plain; charset=utf-8" };

	buf_printf(&answer.body, "%s\n", sentence);
	return send_answer(connection, &answer);
}

/* --- access --- */

/* The host of the header without its port: "localhost", "127.0.0.1", "[::1]". */
static bool names_loopback(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) == 0 && (!host[n] || host[n] == ':'))
			return true;
	}
	return false;
}

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
	add_headers(response, &answer);
	MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
	MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, place);
	result = MHD_queue_response(connection, answer.status, response);
	MHD_destroy_response(response);
	return result;
}

static bool is_trusted_peer(struct MHD_Connection *connection)
{
	uid_t user;

	return http_peer(connection, &user) && (user == 0 || user == geteuid());
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

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_bytes, void **state)
{
	const struct http_server *server = arg;
	struct http_request request = { .path = below_base(server, url), .connection = connection };
	struct http_answer answer = { .status = MHD_HTTP_OK,
				      .type = "application/json; charset=utf-8" };
	const char *token, *etag;

	(void)version, (void)data, (void)state;
	if (*data_bytes)
		return MHD_NO;
	if (server->path && !is_trusted_peer(connection))
		return refuse(connection, MHD_HTTP_FORBIDDEN,
			      "this server belongs to another user");
	if (!names_loopback(
		    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
		return refuse(connection, MHD_HTTP_FORBIDDEN,
			      "use localhost or 127.0.0.1 as the name of the host");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "use GET");
	if (!request.path)
		return refuse(connection, MHD_HTTP_NOT_FOUND, "not found");
	token = server->token ? http_query(&request, "token") : NULL;
	if (token && http_token_equal(server->token, token) && is_plain(request.path))
		return welcome(server, connection, request.path);
	if (server->token && !has_token(server, connection))
		return refuse(connection, MHD_HTTP_UNAUTHORIZED,
			      "open the address that 'sluice serve' has printed, with its token");
	server->options.handle(server->options.arg, &request, &answer);
	etag = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					   MHD_HTTP_HEADER_IF_NONE_MATCH);
	if (answer.etag && etag && strcmp(etag, answer.etag) == 0) {
		answer.status = MHD_HTTP_NOT_MODIFIED;
		answer.packed = NULL;
	}
	return send_answer(connection, &answer);
}

/* --- start and stop --- */

static int listen_to(struct http_server *server, struct err *err)
{
	const char *address = server->options.address;
	int fd;

	if (address[0] == '/') {
		fd = http_listen_unix(address, (gid_t)-1, err);
		if (fd >= 0)
			server->path = xstrdup(address);
		return fd;
	}
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
		(unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_END);
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
	s->base = xstrdup(text_or_empty(options->base));
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
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	if (server->path)
		unlink(server->path);
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
