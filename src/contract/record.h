/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The raw record: what a wrapper stores for one completed call. Guest-safe.
 *
 * A record is a sequence of 64-bit words: a fixed head of four words, then one word for each field
 * in the call's row of call_table, then its strings. A string is one word with its length in bytes,
 * followed by the bytes, padded with zeros to a whole word. It has no terminating zero.
 *
 *   word 0   sequence number (40 bits) | call number (16) | reserved (8)
 *   word 1   start, in ticks of the run's clock
 *   word 2   duration in ticks (48 bits, saturating) | length of the record in words (16)
 *   word 3   sequence number of the enclosing call of this thread (40 bits, 0: none) |
 *            error (16) | reserved (8)
 *   word 4.. fields
 *
 * The id of an activity consists of its thread number and the call's sequence number in that
 * thread. Thread numbers are unique among a process and its ancestors: a forked child continues the
 * numbering of its parent. So an id whose thread number is below the first of the process was made
 * by an ancestor before the fork.
 * Papers: SIOX-7.
 */
#ifndef SLUICE_CONTRACT_RECORD_H
#define SLUICE_CONTRACT_RECORD_H

#include <sluice/call.h>
#include <stdbool.h>
#include <stdint.h>

#define RECORD_HEAD_WORDS 4
#define RECORD_STRING_MAX 4096 /* bytes; a longer string is truncated */
#define RECORD_FIXED_MAX 11    /* fields of one word */
#define RECORD_WORDS_MAX (RECORD_HEAD_WORDS + RECORD_FIXED_MAX + 2 * (1 + RECORD_STRING_MAX / 8))

#define RECORD_SEQ_BITS 40
#define RECORD_SEQ_MASK ((UINT64_C(1) << RECORD_SEQ_BITS) - 1)
#define RECORD_DURATION_MAX ((UINT64_C(1) << 48) - 1)

#define ID_THREAD_BITS 22
#define ID_THREAD_MAX ((1u << ID_THREAD_BITS) - 1)
#define ID_MASK ((UINT64_C(1) << (RECORD_SEQ_BITS + ID_THREAD_BITS)) - 1)

/* The kind of a handle: the two bits above the id in a LINK word. */
#define LINK_KIND_SHIFT 62
enum link_kind {
	LINK_UNKNOWN, /* with id 0: the handle is unknown */
	LINK_FILE,    /* regular file, directory, device */
	LINK_NETWORK, /* socket or pipe */
	LINK_OWN,     /* a stream without a descriptor (memory stream, cookie) */
};

static inline uint64_t id_make(uint32_t thread, uint64_t seq)
{
	return ((uint64_t)thread << RECORD_SEQ_BITS) | (seq & RECORD_SEQ_MASK);
}

static inline uint32_t id_thread(uint64_t id)
{
	return (uint32_t)((id & ID_MASK) >> RECORD_SEQ_BITS);
}

static inline uint64_t id_seq(uint64_t id)
{
	return id & RECORD_SEQ_MASK;
}

static inline uint64_t link_make(enum link_kind kind, uint64_t id)
{
	return ((uint64_t)kind << LINK_KIND_SHIFT) | id;
}

static inline enum link_kind link_kind(uint64_t link)
{
	return (enum link_kind)(link >> LINK_KIND_SHIFT);
}

/* The layer of a call on the handle: that of libc on a socket or a pipe is the network. */
static inline unsigned link_layer(uint64_t link, unsigned layer)
{
	bool is_libc = layer == LAYER_POSIX || layer == LAYER_STDIO;

	return is_libc && link_kind(link) == LINK_NETWORK ? LAYER_NETWORK : layer;
}

static inline uint64_t record_word0(uint64_t seq, unsigned call)
{
	return seq | ((uint64_t)call << RECORD_SEQ_BITS);
}

static inline uint64_t record_word2(uint64_t ticks, uint64_t words)
{
	return (ticks < RECORD_DURATION_MAX ? ticks : RECORD_DURATION_MAX) | words << 48;
}

static inline uint64_t record_word3(uint64_t parent_seq, int error)
{
	return parent_seq | (uint64_t)(uint16_t)error << RECORD_SEQ_BITS;
}

static inline uint64_t record_seq(const uint64_t *r)
{
	return r[0] & RECORD_SEQ_MASK;
}

static inline unsigned record_call(const uint64_t *r)
{
	return (uint16_t)(r[0] >> RECORD_SEQ_BITS);
}

static inline uint64_t record_start(const uint64_t *r)
{
	return r[1];
}

static inline uint64_t record_duration(const uint64_t *r)
{
	return r[2] & RECORD_DURATION_MAX;
}

static inline unsigned record_words(const uint64_t *r)
{
	return (unsigned)(r[2] >> 48);
}

static inline uint64_t record_parent(const uint64_t *r)
{
	return r[3] & RECORD_SEQ_MASK;
}

/* Signed, because libraries have negative error codes. */
static inline int record_error(const uint64_t *r)
{
	return (int16_t)(r[3] >> RECORD_SEQ_BITS);
}

#endif
