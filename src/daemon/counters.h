/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the daemon counts since it was started, and the memory that it accounts for. Any thread may
 * change and read them.
 */
#ifndef SLUICE_DAEMON_COUNTERS_H
#define SLUICE_DAEMON_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a client or a message was refused: enum name, name in status and metrics, sentence. */
#define REFUSAL_LIST(X)                                                                      \
	X(CLIENTS, "clients", "the daemon has too many connections")                         \
	X(USER, "user", "the user has too many connections")                                 \
	X(MEMORY, "memory", "the daemon has reached its memory limit")                       \
	X(SLOW, "slow", "a message was not completed in time, or nothing was sent for long") \
	X(GARBAGE, "garbage", "the bytes are not a frame")                                   \
	X(VERSION, "version", "the frame has another version of the protocol")               \
	X(TYPE, "type", "a client may not send frames of this type")                         \
	X(LENGTH, "length", "the frame is too long")                                         \
	X(DAMAGED, "damaged", "the payload of the frame is damaged")                         \
	X(CONTENT, "content", "the payload of the frame is invalid")                         \
	X(DESCRIPTORS, "descriptors", "the descriptors do not belong to a spool")            \
	X(BUSY, "busy", "too many messages wait to be processed")                            \
	X(READER, "reader", "the client does not read its answers")

#define REFUSAL_ENUM(name, ...) REFUSAL_##name,
enum refusal { REFUSAL_LIST(REFUSAL_ENUM) REFUSAL_COUNT };
#undef REFUSAL_ENUM
extern const char *const refusal_names[REFUSAL_COUNT], *const refusal_sentences[REFUSAL_COUNT];

struct counters {
	_Atomic uint64_t connections; /* accepted so far */
	_Atomic uint64_t clients;     /* now */
	_Atomic uint64_t frames, bytes;
	_Atomic uint64_t hellos; /* spools that were handed over */
	_Atomic uint64_t refusals[REFUSAL_COUNT];
	/* Memory of connections and incomplete frames. */
	uint64_t memory_limit;
	_Atomic uint64_t memory, memory_peak;
};

static inline void counters_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static inline void counters_refuse(struct counters *counters, enum refusal why)
{
	counters_add(&counters->refusals[why], 1);
}

/* Reserves memory. False, with nothing reserved, if the limit would be exceeded. */
bool counters_take_memory(struct counters *counters, size_t bytes);
void counters_return_memory(struct counters *counters, size_t bytes);

#endif
