/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/answer.h"

#include <microhttpd.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "http/server.h"

#define UNPACKED_MAX (8u << 20)
#define PACK_BYTES 1024 /* shorter answers are not worth packing */
#define GZIP_WINDOW (MAX_WBITS + 16)

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

void http_add_headers(struct MHD_Response *response, const struct http_answer *answer)
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
	if (answer->allow)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
}

enum MHD_Result http_send(struct MHD_Connection *connection, struct http_answer *answer)
{
	bool is_packed = false;
	struct MHD_Response *response = make_response(connection, answer, &is_packed);
	enum MHD_Result result;

	buf_release(&answer->body);
	if (!response)
		return MHD_NO;
	http_add_headers(response, answer);
	if (is_packed)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

enum MHD_Result http_refuse(struct MHD_Connection *connection, unsigned status,
			    const char *sentence)
{
	struct http_answer answer = { .status = status, .type = "text/plain; charset=utf-8" };

	buf_printf(&answer.body, "%s\n", sentence);
	return http_send(connection, &answer);
}
