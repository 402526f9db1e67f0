/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Answers that last: the streams of events of one server. A stream has the thread of its
 * connection, which waits for the next event, the end of the client, or the end of the server.
 */
#ifndef SLUICE_HTTP_STREAM_H
#define SLUICE_HTTP_STREAM_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdint.h>

struct http_answer;

struct http_streams {
	atomic_int count;
	int wake;	      /* an eventfd; readable: all streams end */
	int64_t heartbeat_ns; /* a comment is sent after so much silence */
};

/* Returns 0 or -errno. */
int http_streams_init(struct http_streams *streams, int64_t heartbeat_ns);
/* Ends all streams at once, and all later ones. */
void http_streams_end(const struct http_streams *streams);
/* No stream is left. Accepts what init has failed for. */
void http_streams_release(struct http_streams *streams);

/* Sends answer->stream, or refuses it with 503 if too many are open; releases it in any case. */
enum MHD_Result http_stream_send(struct http_streams *streams, struct MHD_Connection *connection,
				 struct http_answer *answer);

#endif
