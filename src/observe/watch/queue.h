/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A bounded, lock-free queue of messages between two processes in shared memory, with one producer
 * and one consumer. Neither side ever waits. A message is a kind and some bytes, which are stored
 * contiguously.
 *
 * The memory is divided into chunks, which are filled one after the other and returned when they
 * have been read. Returned chunks are used first. If the consumer keeps up, both sides work on a
 * few chunks that stay in the cache, and unused memory is never touched.
 * Papers: SIOX-27.
 */
#ifndef SLUICE_OBSERVE_WATCH_QUEUE_H
#define SLUICE_OBSERVE_WATCH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue;

#define QUEUE_CHUNK_BYTES (64u * 1024)
#define QUEUE_MESSAGE_MAX (QUEUE_CHUNK_BYTES - 8)

/*
 * Allocates anonymous shared memory, which fork() inherits. bytes is rounded up to whole chunks, at
 * least two. Returns NULL if there is no memory.
 */
struct queue *queue_new(size_t bytes);
void queue_free(struct queue *queue);

/*
 * Producer: returns space for a message of up to `bytes` bytes, aligned to 8, or NULL if the queue
 * is full or the message is larger than QUEUE_MESSAGE_MAX. queue_push() passes it to the consumer.
 */
void *queue_room(struct queue *queue, size_t bytes);
void queue_push(struct queue *queue, uint32_t kind, size_t bytes);
/* Producer: no more messages will follow. */
void queue_finish(struct queue *queue);

/* Consumer: returns the oldest message, valid until queue_pop(), or NULL if there is none now. */
const void *queue_peek(struct queue *queue, uint32_t *kind, size_t *bytes);
void queue_pop(struct queue *queue);
/* Has the producer finished, and were all messages read? */
bool queue_is_over(struct queue *queue);

#endif
