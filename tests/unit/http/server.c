/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The server is the real one, on a unix socket; the clients write raw bytes.
 */
#include "http/server.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/err.h"
#include "check.h"

#define MARK "X-Sluice: 1\r\n"
#define JSON "Content-Type: application/json\r\n"
#define WAIT_MS 60000 /* only catches a server that hangs */

static char folder[] = "/tmp/sluice-http.XXXXXX", address[64];
static atomic_int streams, changes, calls;

static bool next_count(void *arg, struct buf *piece)
{
	atomic_int *count = arg;

	if (++*count > 3)
		return false;
	http_put_event(piece, "count", "one\ntwo");
	return true;
}

static bool next_nothing(void *arg, struct buf *piece)
{
	(void)arg, (void)piece;
	atomic_fetch_add(&calls, 1);
	return true;
}

static void release_count(void *arg)
{
	free(arg);
	atomic_fetch_sub(&streams, 1);
}

static void on_request(void *arg, const struct http_request *request, struct http_answer *answer)
{
	(void)arg;
	if (strcmp(request->path, "/count") == 0 || strcmp(request->path, "/quiet") == 0) {
		bool is_quiet = request->path[1] == 'q';

		atomic_fetch_add(&streams, 1);
		answer->stream =
			(struct http_stream){ is_quiet ? next_nothing : next_count, release_count,
					      calloc(1, sizeof(atomic_int)), 10 };
	} else if (request->method == HTTP_POST) {
		atomic_fetch_add(&changes, 1);
		buf_printf(&answer->body, "changed %zu %.10s", request->body_bytes, request->body);
	} else {
		buf_puts(&answer->body, "{}");
	}
}

static unsigned find_methods(void *arg, const char *path)
{
	(void)arg;
	return strcmp(path, "/change") == 0 ? HTTP_POST : HTTP_GET;
}

static struct http_server *start(unsigned patience_s)
{
	struct http_server_options options = { .address = address,
					       .base = "",
					       .handle = on_request,
					       .methods = find_methods,
					       .patience_s = patience_s };
	struct http_server *server = NULL;
	struct err err = { 0 };

	if (http_server_start(&server, &options, &err) < 0) {
		printf("%s\n", err.text);
		exit(1);
	}
	return server;
}

static int open_client(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(to.sun_path, address);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		perror(address);
		exit(1);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return fd;
}

static void say(int fd, const char *text)
{
	CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

/* Reads until the text contains a word, or to the end of the connection if it is NULL. */
static const char *hear(int fd, const char *word)
{
	static char text[65536];
	size_t n = 0;
	ssize_t r;

	text[0] = 0;
	while (n < sizeof(text) - 1 && !(word && strstr(text, word))) {
		r = recv(fd, text + n, sizeof(text) - 1 - n, 0);
		if (r <= 0)
			break;
		n += (size_t)r;
		text[n] = 0;
	}
	return text;
}

/* The status of the answer to a request without its last empty line; 0: no answer. */
static int ask(const char *request, const char *body)
{
	int fd = open_client();
	const char *answer;

	say(fd, request);
	say(fd, "Connection: close\r\n\r\n");
	send(fd, body, strlen(body), MSG_NOSIGNAL); /* may be refused before it is sent */
	answer = hear(fd, NULL);
	close(fd);
	return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? atoi(answer + 9) : 0;
}

#define POST "POST /change HTTP/1.1\r\nHost: localhost:80\r\n"
#define TWO "Content-Length: 2\r\n"

static void wait_until_zero(atomic_int *counter)
{
	for (int i = 0; i < WAIT_MS / 10 && atomic_load(counter); i++)
		clock_sleep_ns(10 * NS_PER_MS);
	CHECK_INT(atomic_load(counter), 0);
}

static void change_needs_its_marks(void)
{
	struct http_server *server = start(0);
	static const struct {
		int status;
		const char *request;
	} cases[] = {
		{ 200, POST MARK JSON TWO },
		{ 200, POST MARK "Content-Type: application/json; charset=utf-8\r\n" TWO },
		{ 200, POST MARK JSON TWO "Origin: http://localhost:80\r\n" },
		{ 200, POST MARK JSON TWO "Sec-Fetch-Site: same-origin\r\n" },
		{ 403, POST JSON TWO },
		{ 403, POST "X-Sluice: 0\r\n" JSON TWO },
		{ 403, POST MARK JSON TWO "Origin: http://localhost:81\r\n" },
		{ 403, POST MARK JSON TWO "Origin: http://evil.example\r\n" },
		{ 403, POST MARK JSON TWO "Origin: null\r\n" },
		{ 403, POST MARK JSON TWO "Origin: \r\n" },
		{ 403, POST MARK JSON TWO "Sec-Fetch-Site: same-site\r\n" },
		{ 403, POST MARK JSON TWO "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: "
					  "navigate\r\n" },
		{ 403, POST MARK JSON TWO "Sec-Fetch-Site: none\r\n" },
		{ 403, "POST /change HTTP/1.1\r\nHost: evil.example\r\n" MARK JSON TWO },
		{ 415, POST MARK "Content-Type: text/plain\r\n" TWO },
		{ 415, POST MARK "Content-Type: application/jsonx\r\n" TWO },
		{ 415, POST MARK TWO },
		{ 411, POST MARK JSON "Transfer-Encoding: chunked\r\n" },
		{ 413, POST MARK JSON "Content-Length: 65537\r\n" },
		{ 413, POST MARK JSON "Content-Length: 18446744073709551615\r\n" },
		{ 405, "POST / HTTP/1.1\r\nHost: localhost\r\n" MARK JSON TWO },
		{ 405, "DELETE /change HTTP/1.1\r\nHost: localhost\r\n" MARK JSON TWO },
		{ 405, "GET /change HTTP/1.1\r\nHost: localhost\r\n" },
		{ 200, "GET / HTTP/1.1\r\nHost: localhost\r\n" },
		{ 200, "GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n"
		       "Sec-Fetch-Mode: navigate\r\n" },
		{ 403, "GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n"
		       "Sec-Fetch-Mode: no-cors\r\n" },
	};
	int changed = 0;

	atomic_store(&changes, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = ask(cases[i].request, "{}");

		if (status != cases[i].status)
			printf("%s", cases[i].request);
		CHECK_INT(status, cases[i].status);
		changed += status == 200 && strncmp(cases[i].request, "POST", 4) == 0;
	}
	CHECK_INT(atomic_load(&changes), changed);
	CHECK_INT(changed, 4);
	http_server_stop(server);
}

static void largest_body_arrives_and_connection_stays(void)
{
	struct http_server *server = start(0);
	char *body = calloc(1, HTTP_BODY_MAX + 1), request[256];
	int fd = open_client();

	memset(body, 'x', HTTP_BODY_MAX);
	snprintf(request, sizeof(request), POST MARK JSON "Content-Length: %u\r\n\r\n",
		 HTTP_BODY_MAX);
	for (int i = 0; i < 2; i++) {
		say(fd, request);
		say(fd, body);
		CHECK(strstr(hear(fd, "xxxx"), "changed 65536 xxxxxxxxxx"));
	}
	/* A client that goes away in the middle of its body. */
	say(fd, request);
	say(fd, "half");
	close(fd);
	CHECK_INT(ask("GET / HTTP/1.1\r\nHost: localhost\r\n", ""), 200);
	free(body);
	http_server_stop(server);
}

static void slow_body_is_given_up(void)
{
	struct http_server *server = start(1);
	int fd = open_client();
	struct pollfd end = { .fd = fd, .events = POLLIN | POLLRDHUP };

	atomic_store(&changes, 0);
	say(fd, POST MARK JSON "Content-Length: 60000\r\n\r\n");
	/* Faster than the limit on idle clients. */
	for (int i = 0; i < WAIT_MS / 100 && poll(&end, 1, 100) == 0; i++)
		send(fd, "x", 1, MSG_NOSIGNAL);
	CHECK(end.revents);
	CHECK(!strstr(hear(fd, NULL), "200 OK"));
	CHECK_INT(atomic_load(&changes), 0);
	close(fd);
	http_server_stop(server);
}

static void stream_ends_by_itself(void)
{
	struct http_server *server = start(0);
	int fd = open_client();
	const char *text;

	say(fd, "GET /count HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
	text = hear(fd, NULL);
	CHECK(strstr(text, "text/event-stream"));
	CHECK(strstr(text, "X-Accel-Buffering: no"));
	for (int i = 0; i < 3; i++) {
		text = strstr(text, "event: count\ndata: one\ndata: two\n\n");
		CHECK(text);
		text = text ? text + 1 : "";
	}
	CHECK(strstr(text, "event: end\ndata: {}\n\n"));
	close(fd);
	wait_until_zero(&streams);
	CHECK_INT(ask("HEAD /count HTTP/1.1\r\nHost: localhost\r\n", ""), 200);
	wait_until_zero(&streams);
	http_server_stop(server);
}

static void client_that_has_gone_is_noticed(void)
{
	struct http_server *server = start(0);
	int fd = open_client();

	say(fd, "GET /quiet HTTP/1.1\r\nHost: localhost\r\n\r\n");
	CHECK(strstr(hear(fd, "retry:"), "retry:"));
	CHECK_INT(atomic_load(&streams), 1);
	close(fd);
	wait_until_zero(&streams);
	http_server_stop(server);
}

static void quiet_stream_has_a_heartbeat(void)
{
	struct http_server *server = start(2);
	int fd = open_client();

	say(fd, "GET /quiet HTTP/1.1\r\nHost: localhost\r\n\r\n");
	for (int i = 0; i < 3; i++)
		CHECK(strstr(hear(fd, ":\n\n"), ":\n\n"));
	close(fd);
	http_server_stop(server);
}

static void streams_are_bounded_and_end_with_the_server(void)
{
	struct http_server *server = start(0);
	int fds[100], open = 0, refused = 0, at_stop;

	for (int i = 0; i < 100; i++) {
		const char *text;

		fds[i] = open_client();
		say(fds[i], "GET /quiet HTTP/1.1\r\nHost: localhost\r\n\r\n");
		text = hear(fds[i], "\r\n\r\n");
		open += strstr(text, " 200 ") != NULL;
		refused += strstr(text, " 503 ") != NULL;
		/* One that was refused leaves its connection to others. */
		if (!strstr(text, " 200 ")) {
			close(fds[i]);
			fds[i] = -1;
		}
	}
	CHECK_INT(open, HTTP_STREAMS_MAX);
	CHECK_INT(refused, 100 - HTTP_STREAMS_MAX);
	CHECK_INT(ask("GET / HTTP/1.1\r\nHost: localhost\r\n", ""), 200);
	http_server_stop(server);
	at_stop = atomic_load(&calls);
	CHECK_INT(atomic_load(&streams), 0);
	for (int i = 0; i < 100; i++)
		if (fds[i] >= 0) {
			hear(fds[i], NULL);
			close(fds[i]);
		}
	CHECK_INT(atomic_load(&calls), at_stop);
	CHECK(access(address, F_OK) < 0);
}

static void make_folder(void)
{
	CHECK(mkdtemp(folder));
	snprintf(address, sizeof(address), "%s/socket", folder);
}

static void remove_folder(void)
{
	CHECK(rmdir(folder) == 0);
}

TESTS(TEST(make_folder), TEST(change_needs_its_marks),
      TEST(largest_body_arrives_and_connection_stays), TEST(slow_body_is_given_up),
      TEST(stream_ends_by_itself), TEST(client_that_has_gone_is_noticed),
      TEST(quiet_stream_has_a_heartbeat), TEST(streams_are_bounded_and_end_with_the_server),
      TEST(remove_folder))
