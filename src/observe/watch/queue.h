/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A bounded queue of messages between two processes: shared memory, one producer, one consumer, no
 * lock, nobody waits. A message is a kind and some bytes, kept whole.
 */
#ifndef SLUICE_OBSERVE_WATCH_QUEUE_H
#define SLUICE_OBSERVE_WATCH_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue;

/* In anonymous shared memory: inherited by fork. bytes is rounded up to a power of two pages. NULL
 * without memory. */
struct queue *queue_new(size_t bytes);
void queue_free(struct queue *queue);

/* Producer. Room for a message: where to write up to `bytes` bytes, NULL if there is none now. Only
 * queue_push() hands it over. */
void *queue_room(struct queue *queue, size_t bytes);
void queue_push(struct queue *queue, uint32_t kind, size_t bytes);
/* Nothing more will come. */
void queue_finish(struct queue *queue);

/* Consumer. The oldest message, valid until queue_pop(); NULL if there is none now. */
const void *queue_peek(struct queue *queue, uint32_t *kind, size_t *bytes);
void queue_pop(struct queue *queue);
/* Finished, and all of it taken? */
bool queue_is_over(const struct queue *queue);

#endif
