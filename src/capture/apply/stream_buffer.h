/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The buffer of streams that fopen() opens: parameter stdio_buffer_size. Guest.
 *
 * glibc ignores the size in setvbuf(stream, NULL, ...), so the stream gets memory of the guest,
 * which is mapped when the stream is opened and unmapped after it was closed. Only regular files
 * get it. A later setvbuf() of the program replaces it. Streams that the program does not open by
 * fopen() are never touched: standard streams, pipes, descriptors and memory.
 */
#ifndef SLUICE_CAPTURE_APPLY_STREAM_BUFFER_H
#define SLUICE_CAPTURE_APPLY_STREAM_BUFFER_H

#include <stdio.h>

#include "capture/apply/rules.h"
#include "capture/record/frame.h"

/* The memory of a stream that is being closed; NULL: none of the guest's. */
struct stream_buffer {
	void *memory;
	size_t bytes;
};

#pragma GCC visibility push(hidden)

/* At the start of the process: finds the real setvbuf() if there are rules. */
void stream_buffer_load(void);

void stream_buffer_opened_slow(FILE *stream, const char *path);
void stream_buffer_closing_slow(struct stream_buffer *buffer, const FILE *stream);
void stream_buffer_closed_slow(const struct stream_buffer *buffer);

#pragma GCC visibility pop

/* After fopen(); stream is its result. Keeps errno. */
static inline void stream_buffer_opened(FILE *stream, const char *path)
{
	if (unlikely(rules_has(PLACE_STREAM)) && stream)
		stream_buffer_opened_slow(stream, path);
}

/* Before and after fclose(). Another stream may have the same address when fclose() returns. */
static inline void stream_buffer_closing(struct stream_buffer *buffer, const FILE *stream)
{
	buffer->memory = NULL;
	if (unlikely(rules_has(PLACE_STREAM)))
		stream_buffer_closing_slow(buffer, stream);
}

static inline void stream_buffer_closed(const struct stream_buffer *buffer)
{
	if (unlikely(buffer->memory))
		stream_buffer_closed_slow(buffer);
}

#endif
