/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends answers: compressed if the client accepts it, with headers that forbid browsers to load
 * anything from elsewhere.
 */
#ifndef SLUICE_HTTP_ANSWER_H
#define SLUICE_HTTP_ANSWER_H

#include <microhttpd.h>

struct http_answer;

/* Sends the answer and releases its body. A stream is sent by http_stream_send(). */
enum MHD_Result http_send(struct MHD_Connection *connection, struct http_answer *answer);

/* Sends a sentence as text. */
enum MHD_Result http_refuse(struct MHD_Connection *connection, unsigned status,
			    const char *sentence);

/* Adds the headers that all answers have. */
void http_add_headers(struct MHD_Response *response, const struct http_answer *answer);

#endif
