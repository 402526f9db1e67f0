/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a chunk: unused or returned -> opened by the producer, which records the order ->
 * read to the end by the consumer -> returned. Counters only grow. A chunk is closed when the next
 * one is opened.
 * Papers: SIOX-15.
 */
#include "observe/watch/queue.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT 8
#define NO_CHUNK UINT32_MAX

struct head {
	uint32_t kind, bytes;
};

/* One slot per chunk. The slots also hold two circular lists of chunk numbers. */
struct slot {
	_Atomic uint32_t used; /* bytes of complete messages */
	uint32_t order;	       /* slot n modulo count: the n-th chunk that was opened */
	uint32_t returned;     /* slot n modulo count: the n-th chunk that was returned */
};

struct queue {
	size_t mapped;
	uint32_t count; /* number of chunks */
	unsigned char *chunks;
	/* Fields of the producer. */
	_Alignas(64) _Atomic uint64_t opened;
	uint32_t writing;    /* current chunk, or NO_CHUNK */
	uint32_t written;    /* bytes in it */
	uint32_t touched;    /* number of chunks that were ever used */
	uint64_t taken_back; /* number of returned chunks that were reused */
	_Atomic uint32_t finished;
	/* Fields of the consumer. */
	_Alignas(64) _Atomic uint64_t returned;
	uint64_t closed; /* chunks read to their end; the next one is being read */
	uint32_t read;	 /* bytes read of that one */
	_Alignas(64) struct slot slots[];
};

static size_t message_step(size_t bytes)
{
	return sizeof(struct head) + ((bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
}

struct queue *queue_new(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t count = bytes / QUEUE_CHUNK_BYTES + (bytes % QUEUE_CHUNK_BYTES != 0);
	size_t front;
	struct queue *queue;

	if (count < 2)
		count = 2;
	if (count >= UINT32_MAX)
		return NULL;
	front = (sizeof(*queue) + count * sizeof(struct slot) + page - 1) / page * page;
	queue = mmap(NULL, front + count * QUEUE_CHUNK_BYTES, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (queue == MAP_FAILED)
		return NULL;
	queue->mapped = front + count * QUEUE_CHUNK_BYTES;
	queue->count = (uint32_t)count;
	queue->chunks = (unsigned char *)queue + front;
	queue->writing = NO_CHUNK;
	return queue;
}

void queue_free(struct queue *queue)
{
	if (queue)
		munmap(queue, queue->mapped);
}

static unsigned char *chunk_at(const struct queue *queue, uint32_t chunk, uint32_t offset)
{
	return queue->chunks + (size_t)chunk * QUEUE_CHUNK_BYTES + offset;
}

/* NO_CHUNK if all are in use. */
static uint32_t chunk_take(struct queue *queue)
{
	/* Pairs with the release in chunk_return(): the consumer has finished with the chunk. */
	if (queue->taken_back < atomic_load_explicit(&queue->returned, memory_order_acquire))
		return queue->slots[queue->taken_back++ % queue->count].returned;
	return queue->touched < queue->count ? queue->touched++ : NO_CHUNK;
}

static bool chunk_open(struct queue *queue)
{
	uint64_t opened = atomic_load_explicit(&queue->opened, memory_order_relaxed);
	uint32_t chunk = chunk_take(queue);

	if (chunk == NO_CHUNK)
		return false;
	atomic_store_explicit(&queue->slots[chunk].used, 0, memory_order_relaxed);
	queue->slots[opened % queue->count].order = chunk;
	queue->writing = chunk;
	queue->written = 0;
	/* Closes the previous chunk; pairs with the acquire in chunk_read(). */
	atomic_store_explicit(&queue->opened, opened + 1, memory_order_release);
	return true;
}

void *queue_room(struct queue *queue, size_t bytes)
{
	if (bytes > QUEUE_MESSAGE_MAX)
		return NULL;
	if ((queue->writing == NO_CHUNK ||
	     queue->written + message_step(bytes) > QUEUE_CHUNK_BYTES) &&
	    !chunk_open(queue))
		return NULL;
	return chunk_at(queue, queue->writing, queue->written) + sizeof(struct head);
}

void queue_push(struct queue *queue, uint32_t kind, size_t bytes)
{
	struct head *head = (struct head *)chunk_at(queue, queue->writing, queue->written);

	*head = (struct head){ kind, (uint32_t)bytes };
	queue->written += (uint32_t)message_step(bytes);
	/* Publishes the message; pairs with the acquire in chunk_read(). */
	atomic_store_explicit(&queue->slots[queue->writing].used, queue->written,
			      memory_order_release);
}

void queue_finish(struct queue *queue)
{
	/* Follows the last message; pairs with the acquire in queue_is_over(). */
	atomic_store_explicit(&queue->finished, 1, memory_order_release);
}

static void chunk_return(struct queue *queue, uint32_t chunk)
{
	uint64_t returned = atomic_load_explicit(&queue->returned, memory_order_relaxed);

	queue->slots[returned % queue->count].returned = chunk;
	queue->closed++;
	queue->read = 0;
	/* Returns the chunk; pairs with the acquire in chunk_take(). */
	atomic_store_explicit(&queue->returned, returned + 1, memory_order_release);
}

/* Returns the chunk with the next message, or NO_CHUNK if there is none now. */
static uint32_t chunk_read(struct queue *queue)
{
	for (;;) {
		uint64_t opened = atomic_load_explicit(&queue->opened, memory_order_acquire);
		uint32_t chunk;

		if (opened == queue->closed)
			return NO_CHUNK;
		chunk = queue->slots[queue->closed % queue->count].order;
		/* Read after `opened`: the value is final for a closed chunk. */
		if (queue->read <
		    atomic_load_explicit(&queue->slots[chunk].used, memory_order_acquire))
			return chunk;
		if (opened == queue->closed + 1)
			return NO_CHUNK;
		chunk_return(queue, chunk);
	}
}

const void *queue_peek(struct queue *queue, uint32_t *kind, size_t *bytes)
{
	uint32_t chunk = chunk_read(queue);
	const struct head *head;

	if (chunk == NO_CHUNK)
		return NULL;
	head = (const struct head *)chunk_at(queue, chunk, queue->read);
	*kind = head->kind;
	*bytes = head->bytes;
	return head + 1;
}

void queue_pop(struct queue *queue)
{
	uint32_t chunk = queue->slots[queue->closed % queue->count].order;
	const struct head *head = (const struct head *)chunk_at(queue, chunk, queue->read);

	queue->read += (uint32_t)message_step(head->bytes);
}

bool queue_is_over(struct queue *queue)
{
	return atomic_load_explicit(&queue->finished, memory_order_acquire) &&
	       chunk_read(queue) == NO_CHUNK;
}
