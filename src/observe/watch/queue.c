/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A ring with positions that only ever grow; a message never wraps around: what is left at the end
 * of the ring becomes a gap.
 */
#include "observe/watch/queue.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT 8
#define KIND_GAP UINT32_MAX

struct head {
	uint32_t kind;
	uint32_t bytes; /* of the message, or of a gap including this head */
};

struct queue {
	size_t size; /* of the ring; a power of two */
	/* Producer's. */
	_Alignas(64) _Atomic uint64_t written;
	uint64_t read_seen; /* `read` as it last looked */
	_Atomic uint32_t finished;
	/* Consumer's. */
	_Alignas(64) _Atomic uint64_t read;
	uint64_t written_seen;
	_Alignas(64) unsigned char ring[];
};

static size_t step_of(size_t bytes)
{
	return sizeof(struct head) + ((bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
}

struct queue *queue_new(size_t bytes)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct queue *queue;

	while (size < bytes && size < SIZE_MAX / 4)
		size *= 2;
	queue = mmap(NULL, sizeof(*queue) + size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (queue == MAP_FAILED)
		return NULL;
	queue->size = size;
	return queue;
}

void queue_free(struct queue *queue)
{
	if (queue)
		munmap(queue, sizeof(*queue) + queue->size);
}

/* Leaves the rest of the ring out. The caller knows that it is free. */
static uint64_t gap_make(struct queue *queue, uint64_t at)
{
	size_t offset = at & (queue->size - 1);
	struct head *head = (struct head *)(queue->ring + offset);

	*head = (struct head){ KIND_GAP, (uint32_t)(queue->size - offset) };
	at += queue->size - offset;
	/* Publishes the gap; pairs with the acquire in queue_peek(). */
	atomic_store_explicit(&queue->written, at, memory_order_release);
	return at;
}

void *queue_room(struct queue *queue, size_t bytes)
{
	uint64_t at = atomic_load_explicit(&queue->written, memory_order_relaxed);
	size_t step = step_of(bytes), rest = queue->size - (at & (queue->size - 1));

	if (bytes > UINT32_MAX / 2 || step > queue->size)
		return NULL;
	/* Pairs with the release in queue_pop(): what was read may be written over. */
	queue->read_seen = atomic_load_explicit(&queue->read, memory_order_acquire);
	if (step > rest && at + rest - queue->read_seen <= queue->size)
		at = gap_make(queue, at);
	else if (step > rest)
		return NULL;
	if (at + step - queue->read_seen > queue->size)
		return NULL;
	return queue->ring + (at & (queue->size - 1)) + sizeof(struct head);
}

void queue_push(struct queue *queue, uint32_t kind, size_t bytes)
{
	uint64_t at = atomic_load_explicit(&queue->written, memory_order_relaxed);
	struct head *head = (struct head *)(queue->ring + (at & (queue->size - 1)));

	*head = (struct head){ kind, (uint32_t)bytes };
	/* Hands the message over; pairs with the acquire in queue_peek(). */
	atomic_store_explicit(&queue->written, at + step_of(bytes), memory_order_release);
}

void queue_finish(struct queue *queue)
{
	/* Comes after the last message; pairs with the acquire in queue_is_over(). */
	atomic_store_explicit(&queue->finished, 1, memory_order_release);
}

const void *queue_peek(struct queue *queue, uint32_t *kind, size_t *bytes)
{
	uint64_t at = atomic_load_explicit(&queue->read, memory_order_relaxed);

	for (;;) {
		struct head *head = (struct head *)(queue->ring + (at & (queue->size - 1)));

		if (at == queue->written_seen)
			queue->written_seen =
				atomic_load_explicit(&queue->written, memory_order_acquire);
		if (at == queue->written_seen)
			return NULL;
		if (head->kind != KIND_GAP) {
			*kind = head->kind;
			*bytes = head->bytes;
			return head + 1;
		}
		at += head->bytes;
		atomic_store_explicit(&queue->read, at, memory_order_release);
	}
}

void queue_pop(struct queue *queue)
{
	uint64_t at = atomic_load_explicit(&queue->read, memory_order_relaxed);
	const struct head *head = (struct head *)(queue->ring + (at & (queue->size - 1)));

	/* Gives the space back; pairs with the acquire in queue_room(). */
	atomic_store_explicit(&queue->read, at + step_of(head->bytes), memory_order_release);
}

bool queue_is_over(const struct queue *queue)
{
	if (!atomic_load_explicit(&queue->finished, memory_order_acquire))
		return false;
	return atomic_load_explicit(&queue->read, memory_order_relaxed) ==
	       atomic_load_explicit(&queue->written, memory_order_relaxed);
}
