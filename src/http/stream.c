/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http/access.h"
#include "http/answer.h"
#include "http/server.h"

#define PERIOD_MS 500
#define BLOCK_BYTES 4096
/* Browsers connect again after so much time; the first bytes also carry the headers to them. */
#define OPENING "retry: 2000\n\n"
#define HEARTBEAT ":\n\n"
/* Tells browsers not to connect again. */
#define FINAL "end"

struct stream {
	struct http_streams *owner;
	struct http_stream hooks;
	int fd; /* of the connection */
	struct buf piece;
	size_t sent; /* of the piece */
	int64_t spoke_ns;
	bool is_last;
};

void http_put_event(struct buf *piece, const char *name, const char *data)
{
	buf_printf(piece, "event: %s\n", name);
	while (*data) {
		size_t n = strcspn(data, "\r\n");

		if (n)
			buf_printf(piece, "data: %.*s\n", (int)n, data);
		data += n;
		data += *data != 0;
	}
	buf_putc(piece, '\n');
}

int http_streams_init(struct http_streams *streams, int64_t heartbeat_ns)
{
	*streams = (struct http_streams){ .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
					  .heartbeat_ns = heartbeat_ns };
	return streams->wake < 0 ? -errno : 0;
}

void http_streams_end(const struct http_streams *streams)
{
	/* Cannot fail: the counter is far from its end. */
	eventfd_write(streams->wake, 1);
}

void http_streams_release(struct http_streams *streams)
{
	if (streams->wake >= 0)
		close(streams->wake);
	streams->wake = -1;
}

/* Returns false if the client has gone or the server is about to end. */
static bool wait_period(const struct stream *stream)
{
	struct pollfd ends[] = { { .fd = stream->owner->wake, .events = POLLIN },
				 { .fd = stream->fd, .events = POLLRDHUP } };
	int r = poll(ends, 2, (int)stream->hooks.period_ms);

	return r == 0 || (r < 0 && errno == EINTR);
}

/* Fills the piece; it may be empty. Returns false if the stream must end at once. */
static bool fetch_piece(struct stream *stream)
{
	int64_t now_ns;

	if (stream->spoke_ns && !wait_period(stream))
		return false;
	buf_clear(&stream->piece);
	stream->sent = 0;
	now_ns = clock_now_ns();
	if (!stream->spoke_ns)
		buf_puts(&stream->piece, OPENING);
	stream->is_last = !stream->hooks.next(stream->hooks.arg, &stream->piece);
	if (stream->is_last)
		http_put_event(&stream->piece, FINAL, "{}");
	if (!stream->piece.len && now_ns - stream->spoke_ns >= stream->owner->heartbeat_ns)
		buf_puts(&stream->piece, HEARTBEAT);
	if (stream->piece.len)
		stream->spoke_ns = now_ns;
	return true;
}

static ssize_t read_stream(void *arg, uint64_t position, char *room, size_t bytes)
{
	struct stream *stream = arg;
	size_t n;

	(void)position;
	while (stream->sent == stream->piece.len) {
		if (stream->is_last)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (!fetch_piece(stream))
			return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	n = stream->piece.len - stream->sent;
	n = n < bytes ? n : bytes;
	memcpy(room, stream->piece.data + stream->sent, n);
	stream->sent += n;
	return (ssize_t)n;
}

static void free_stream(void *arg)
{
	struct stream *stream = arg;

	if (stream->hooks.release)
		stream->hooks.release(stream->hooks.arg);
	buf_release(&stream->piece);
	atomic_fetch_sub(&stream->owner->count, 1);
	free(stream);
}

enum MHD_Result http_stream_send(struct http_streams *streams, struct MHD_Connection *connection,
				 struct http_answer *answer)
{
	struct stream *stream = xcalloc(1, sizeof(*stream));
	struct MHD_Response *response = NULL;
	enum MHD_Result result;

	*stream = (struct stream){ .owner = streams,
				   .hooks = answer->stream,
				   .fd = http_connection_fd(connection) };
	if (!stream->hooks.period_ms)
		stream->hooks.period_ms = PERIOD_MS;
	buf_release(&answer->body);
	if (atomic_fetch_add(&streams->count, 1) < HTTP_STREAMS_MAX)
		response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
							     read_stream, stream, free_stream);
	if (!response) {
		free_stream(stream);
		return http_refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				   "too many pages follow events; close some of them");
	}
	answer->type = "text/event-stream";
	http_add_headers(response, answer);
	/* A proxy must pass events on when they happen. */
	MHD_add_response_header(response, "X-Accel-Buffering", "no");
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}
