/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes that macros move. Guest.
 *
 * In optimized programs getc_unlocked, putc_unlocked and similar functions are macros, which take
 * bytes from the buffer of a stream or put them there. They call __uflow or __overflow when the
 * buffer is empty or full. From the first such call on the stream is followed: each recorded call
 * on it notes the positions in the buffer when it returns. If they differ when the next one begins,
 * macros have moved the bytes between. __uflow and __overflow report these bytes; a record below
 * the call that closes the stream reports the rest.
 *
 * Bytes are reported too low, never twice, if a program mixes functions and macros: the macros that
 * precede the first __uflow or __overflow are not seen, nor are those in one thread while another
 * is inside a function on the same stream.
 *
 * A program that does not use these macros pays one load and one test per recorded call.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_FOLLOWED_H
#define SLUICE_CAPTURE_LIBRARIES_FOLLOWED_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/record/frame.h"

struct followed;

#pragma GCC visibility push(hidden)

extern _Atomic uint32_t followed_count;

__attribute__((cold)) struct followed *followed_enter_slow(FILE *stream);
__attribute__((cold)) void followed_leave(struct followed *followed, FILE *stream);

/* After __uflow or __overflow: follows the stream from now on, unless it is followed already. */
__attribute__((cold)) void followed_start(struct followed *followed, FILE *stream);

/* Returns the bytes to report and resets them. followed may be NULL. */
__attribute__((cold)) uint64_t followed_take_read(struct followed *followed);
__attribute__((cold)) uint64_t followed_take_written(struct followed *followed);

/* Before a stream is closed: reports the rest, and follows it no longer. */
__attribute__((cold)) void followed_close_slow(FILE *stream);

#pragma GCC visibility pop

/* Before a recorded call on a stream: NULL if it is not followed. */
INLINE struct followed *followed_enter(FILE *stream)
{
	return likely(!atomic_load_explicit(&followed_count, memory_order_relaxed))
		       ? NULL
		       : followed_enter_slow(stream);
}

INLINE void followed_close(FILE *stream)
{
	if (unlikely(atomic_load_explicit(&followed_count, memory_order_relaxed)))
		followed_close_slow(stream);
}

#endif
