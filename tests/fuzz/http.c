/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Raw bytes to real servers. The first byte selects one:
 *
 *   0  the web application on a unix socket, which must go on answering
 *   1  a server with a token, which nobody knows: no request may reach its handler
 *   2  a server behind a proxy that accepts changes: every request that reaches its handler has one
 *      user; one that changes something has its mark, and a body that is not too large
 *   3  no server: functions that read parts of requests
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/access.h"
#include "http/listen.h"
#include "http/server.h"
#include "site/portal.h"
#include "web/body.h"
#include "web/web.h"

#define CHECK_PERIOD 16 /* after so many inputs, a good request must be answered */
#define HEADER "X-Remote-User"

static struct config config;
static struct web *web;
static struct http_server *with_token, *behind_proxy;
static char folder[] = "/tmp/sluice-fuzz.XXXXXX", web_path[64], proxy_path[64];

/*
 * The threads of the servers free memory after an input has ended, which libFuzzer would take for a
 * leak and look for, for half a second. The unit tests of the server detect leaks.
 */
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static void must(bool truth, const char *what)
{
	if (!truth) {
		fprintf(stderr, "%s\n", what);
		abort();
	}
}

static void remove_folder(void)
{
	web_stop(web);
	http_server_stop(with_token);
	http_server_stop(behind_proxy);
	rmdir(folder);
}

static void never(void *arg, const struct http_request *request, struct http_answer *answer)
{
	(void)arg, (void)request, (void)answer;
	must(false, "a request without the token was handled");
}

static void handle_proxied(void *arg, const struct http_request *request,
			   struct http_answer *answer)
{
	(void)arg;
	must(request->path[0] == '/', "a path without a slash");
	must(request->user && *request->user, "a request without a user was handled");
	must(http_only_header(request->connection, HEADER) != NULL, "the user is ambiguous");
	if (request->method == HTTP_POST) {
		must(request->body_bytes <= HTTP_BODY_MAX && !request->body[request->body_bytes],
		     "a body without an end");
		must(MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
						 "X-Sluice") != NULL,
		     "a change without its mark");
		body_free(body_read(request->body, request->body_bytes, NULL));
	}
	buf_printf(&answer->body, "%s %s", request->user, http_query(request, "a"));
}

static unsigned both_methods(void *arg, const char *path)
{
	(void)arg, (void)path;
	return HTTP_GET | HTTP_POST;
}

static void start(void)
{
	struct http_proxy proxy = { .user = geteuid(), .group = getegid(), .header = HEADER };
	struct http_server_options token = { .address = "127.0.0.1:0", .handle = never };
	struct http_server_options proxied = { .address = proxy_path,
					       .handle = handle_proxied,
					       .methods = both_methods,
					       .proxy = &proxy };
	struct web_options options = {
		.config = &config, .directory = folder, .address = web_path, .base = ""
	};
	struct err err = { 0 };

	must(mkdtemp(folder) != NULL, "no directory");
	snprintf(web_path, sizeof(web_path), "%s/web", folder);
	snprintf(proxy_path, sizeof(proxy_path), "%s/proxy", folder);
	config_init(&config);
	must(web_start(&web, &options, &err) >= 0, err.text);
	must(http_server_start(&with_token, &token, &err) >= 0, err.text);
	must(http_server_start(&behind_proxy, &proxied, &err) >= 0, err.text);
	atexit(remove_folder);
}

static int connect_to(unsigned kind)
{
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	struct sockaddr_in port = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				    .sin_port = htons((uint16_t)http_server_port(with_token)) };
	int fd = socket(kind == 1 ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	strcpy(path.sun_path, kind == 0 ? web_path : proxy_path);
	r = kind == 1 ? connect(fd, (struct sockaddr *)&port, sizeof(port))
		      : connect(fd, (struct sockaddr *)&path, sizeof(path));
	must(fd >= 0 && r == 0, "no connection");
	return fd;
}

/* Sends the bytes, and reads what the server answers to its end. The first bytes are kept. */
static void talk(unsigned kind, const char *bytes, size_t n, char *start_of_answer, size_t room)
{
	char rest[4096];
	size_t kept = 0;
	int fd = connect_to(kind);
	ssize_t r;

	/* The server may have refused it before all is sent. */
	while (n && (r = send(fd, bytes, n, MSG_NOSIGNAL)) > 0) {
		bytes += r;
		n -= (size_t)r;
	}
	shutdown(fd, SHUT_WR);
	while ((r = recv(fd, rest, sizeof(rest), 0)) > 0) {
		size_t some = (size_t)r < room - 1 - kept ? (size_t)r : room - 1 - kept;

		memcpy(start_of_answer + kept, rest, some);
		kept += some;
	}
	start_of_answer[kept] = 0;
	close(fd);
}

static void check_alive(void)
{
	static const char good[] = "GET /api/v1/about HTTP/1.1\r\nHost: localhost\r\n"
				   "Connection: close\r\n\r\n";
	char answer[256];

	talk(0, good, strlen(good), answer, sizeof(answer));
	must(strncmp(answer, "HTTP/1.1 200 ", 13) == 0, "a good request is not answered");
}

static void check_event(const char *text)
{
	AUTO_BUF struct buf piece = { 0 };
	const char *line;

	http_put_event(&piece, "name", text);
	must(strncmp(buf_text(&piece), "event: name\n", 12) == 0, "an event without its name");
	for (line = buf_text(&piece) + 12; *line != '\n'; line = strchr(line, '\n') + 1)
		must(strncmp(line, "data: ", 6) == 0, "data that is taken for something else");
	must(!line[1] && !strchr(buf_text(&piece), '\r'), "data that ends the event");
}

static void read_parts(const char *text, size_t n)
{
	struct body *body = body_read(text, n, NULL);

	if (body) {
		int64_t number;
		bool flag;

		(void)(body_text(body, "a") || body_integer(body, "a", &number));
		body_flag(body, "a", &flag);
		for (int i = 0; i < body_text_count(body, "a"); i++)
			must(body_text_at(body, "a", i) != NULL, "a text is missing");
	}
	body_free(body);
	if (portal_is_user(text))
		must(strlen(text) < 64 && !strpbrk(text, "\"'\\ ;/\n"), "a name that is not plain");
	must(http_token_equal(text, text), "a token differs from itself");
	http_is_loopback(text);
	check_event(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned count;
	char *text, answer[512];

	if (!web)
		start();
	if (!size)
		return 0;
	text = xstrndup((const char *)data + 1, size - 1);
	if (data[0] % 4 == 3)
		read_parts(text, strlen(text));
	else
		talk(data[0] % 4, (const char *)data + 1, size - 1, answer, sizeof(answer));
	free(text);
	if (++count % CHECK_PERIOD == 0)
		check_alive();
	return 0;
}
