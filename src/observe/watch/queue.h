/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A bounded queue of messages between two processes: shared memory, one producer, one consumer, no
 * lock, nobody waits. A message is a kind and some bytes, kept whole.
 *
 * Memory is divided into chunks, which are filled one after the other and come back when they are
 * read; those that came back are taken first. So a consumer that keeps up has the two work on a few
 * chunks that stay in the cache, and memory that is not needed is never touched.
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
 * In anonymous shared memory: inherited by fork. bytes is rounded up to whole chunks, at least two.
 * NULL without memory.
 */
struct queue *queue_new(size_t bytes);
void queue_free(struct queue *queue);

/*
 * Producer. Room for a message: where to write up to `bytes` bytes, aligned to 8; NULL if there is
 * none now, or if it is more than QUEUE_MESSAGE_MAX. Only queue_push() hands it over.
 */
void *queue_room(struct queue *queue, size_t bytes);
void queue_push(struct queue *queue, uint32_t kind, size_t bytes);
/* Nothing more will come. */
void queue_finish(struct queue *queue);

/* Consumer. The oldest message, valid until queue_pop(); NULL if there is none now. */
const void *queue_peek(struct queue *queue, uint32_t *kind, size_t *bytes);
void queue_pop(struct queue *queue);
/* Finished, and all of it taken? */
bool queue_is_over(struct queue *queue);

#endif
