/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's side of the spool: claims chunks and adds segments. All of it is lock-free: a thread
 * that finds no free chunk grows the spool itself, so no thread ever waits for another.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/record/capture.h"
#include "capture/record/kernel.h"
#include "capture/record/sandbox.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Time to wait after a failure to grow before the next attempt. */
#define RETRY_NS 100000000u

static _Atomic uint64_t claimed_segments[SPOOL_SEGMENTS_MAX / 64];
static _Atomic uint64_t retry_at_ns;
static _Atomic uint32_t failure; /* enum loss_cause: why the spool could not grow */

struct signals_held signals_hold(void)
{
	struct signals_held held = { 0, false };
	uint64_t all = ~UINT64_C(0);

	if (!sandbox_is_sealed())
		held.is_held = kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &held.mask,
					   sizeof(held.mask)) == 0;
	return held;
}

void signals_release(struct signals_held held)
{
	if (held.is_held)
		kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &held.mask, NULL, sizeof(held.mask));
}

static uint32_t segment_claim(void)
{
	for (uint32_t i = 0; i < SPOOL_SEGMENTS_MAX / 64; i++) {
		uint64_t taken = atomic_load(&claimed_segments[i]);

		while (~taken) {
			uint64_t bit = ~taken & (taken + 1);

			taken = atomic_fetch_or(&claimed_segments[i], bit);
			if (!(taken & bit))
				return i * 64 + (uint32_t)__builtin_ctzll(bit);
		}
	}
	return SPOOL_SEGMENTS_MAX;
}

static void segment_release(uint32_t segment)
{
	atomic_fetch_and(&claimed_segments[segment / 64], ~(UINT64_C(1) << segment % 64));
}

enum loss_cause loss_cause_of(int error)
{
	uint32_t owner = capture_membership.control->owner;

	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return LOSS_NO_SPACE;
	case ENOMEM:
	case EAGAIN:
		return LOSS_ADDRESS_SPACE;
	case EFBIG:
		return LOSS_FILE_SIZE;
	case EMFILE:
	case ENFILE:
		return LOSS_DESCRIPTORS;
	case EACCES:
	case EPERM:
		return (uint32_t)kernel_call(SYS_geteuid) == owner ? LOSS_SANDBOX : LOSS_USER;
	case ENOENT:
	case ENOTDIR:
	case EROFS:
		return LOSS_NAMESPACE;
	default:
		return LOSS_UNKNOWN;
	}
}

enum loss_cause spool_failure(void)
{
	if (sandbox_is_sealed())
		return LOSS_SANDBOX;
	return (enum loss_cause)atomic_load_explicit(&failure, memory_order_relaxed);
}

static void set_failure(enum loss_cause cause)
{
	atomic_store_explicit(&failure, cause, memory_order_relaxed);
}

/* Allocates the segment's part of the file, then maps it. */
static unsigned char *segment_map(uint32_t segment)
{
	struct membership *m = &capture_membership;
	uint64_t offset = spool_chunk_offset(spool_segment_first(segment));
	size_t bytes = (size_t)spool_segment_chunks(segment) * SPOOL_CHUNK_BYTES;
	long directory = membership_directory_open(m);
	int error = (int)-directory;
	unsigned char *base = NULL;

	if (directory >= 0) {
		base = file_extend(directory, m->name, &m->spool_id, offset, bytes, &error);
		kernel_call(SYS_close, directory);
	}
	if (!base)
		set_failure(loss_cause_of(error));
	/* One call instead of a fault per page; older kernels fail and fault as usual. */
	if (base && segment)
		kernel_call(SYS_madvise, base, bytes, MADV_POPULATE_WRITE);
	return base;
}

/* Publishes the segment's chunks to all threads of the process and to the collector. */
static void segment_publish(uint32_t segment, unsigned char *base)
{
	struct membership *m = &capture_membership;
	uint32_t first = spool_segment_first(segment), end = first + spool_segment_chunks(segment);

	atomic_store_explicit(&m->segments[segment], base, memory_order_release);
	/* First the chunks become free: a chunk that is allocated and not free counts as claimed.
	 */
	for (uint32_t chunk = first; chunk < end; chunk++)
		atomic_fetch_or(&m->header->free_map[chunk / 64], UINT64_C(1) << chunk % 64);
	atomic_fetch_or(&m->header->segment_map[segment / 64], UINT64_C(1) << segment % 64);
}

/* Reserves the segment's chunks within the limit of the run. */
static bool reserve_chunks(uint32_t segment)
{
	struct control *c = capture_membership.control;
	uint32_t chunks = spool_segment_chunks(segment);

	if (atomic_fetch_add(&c->chunks, chunks) + chunks <= c->chunks_max)
		return true;
	atomic_fetch_sub(&c->chunks, chunks);
	return false;
}

/* Allocates and maps the segment; NULL if the limit is reached or the disk is full. */
static unsigned char *segment_create(uint32_t segment)
{
	unsigned char *base;

	if (!reserve_chunks(segment)) {
		set_failure(LOSS_SPOOL_LIMIT);
		return NULL;
	}
	base = segment_map(segment);
	if (!base)
		atomic_fetch_sub(&capture_membership.control->chunks,
				 spool_segment_chunks(segment));
	return base;
}

bool spool_grow(void)
{
	unsigned char *base = NULL;
	uint32_t segment;
	uint64_t now;

	if (sandbox_is_sealed())
		return false;
	now = clock_monotonic_ns();
	if (now < atomic_load_explicit(&retry_at_ns, memory_order_relaxed))
		return false;
	segment = segment_claim();
	if (segment < SPOOL_SEGMENTS_MAX)
		base = segment_create(segment);
	else
		set_failure(LOSS_SPOOL_LIMIT);
	if (base) {
		segment_publish(segment, base);
	} else {
		if (segment < SPOOL_SEGMENTS_MAX)
			segment_release(segment);
		atomic_store_explicit(&retry_at_ns, now + RETRY_NS, memory_order_relaxed);
	}
	return base != NULL;
}

void spool_forget(void)
{
	for (uint32_t i = 0; i < SPOOL_SEGMENTS_MAX / 64; i++)
		atomic_store(&claimed_segments[i], 0);
	atomic_store(&retry_at_ns, 0);
}

/* Claims the lowest free chunk, which is the most likely one to be in the CPU cache. */
static uint32_t chunk_claim(void)
{
	struct spool_header *h = capture_membership.header;

	for (uint32_t i = 0; i < SPOOL_MAP_WORDS; i++) {
		uint64_t free = atomic_load_explicit(&h->free_map[i], memory_order_relaxed);

		while (free) {
			uint64_t bit = free & -free;

			/* Pairs with the release in chunk_free(), which emptied the chunk. */
			free = atomic_fetch_and_explicit(&h->free_map[i], ~bit,
							 memory_order_acquire);
			if (free & bit)
				return i * 64 + (uint32_t)__builtin_ctzll(bit);
		}
	}
	return SPOOL_CHUNKS_MAX;
}

bool spool_claim(struct lane *lane)
{
	struct membership *m = &capture_membership;
	uint32_t number = chunk_claim(), segment;
	struct chunk *chunk;

	if (number == SPOOL_CHUNKS_MAX && spool_grow())
		number = chunk_claim();
	if (number == SPOOL_CHUNKS_MAX)
		return false;
	segment = spool_segment_of(number);
	chunk = (struct chunk *)(atomic_load_explicit(&m->segments[segment], memory_order_acquire) +
				 (size_t)(number - spool_segment_first(segment)) *
					 SPOOL_CHUNK_BYTES);
	chunk->thread = lane->thread;
	chunk->tid = capture_self.tid;
	atomic_store_explicit(&chunk->committed, 0, memory_order_relaxed);
	atomic_store_explicit(&chunk->state, CHUNK_OWNED, memory_order_release);
	lane->chunk = chunk;
	return true;
}

void spool_yield(struct lane *lane)
{
	if (!lane->chunk)
		return;
	/* Gives the chunk to the collector; pairs with the acquire in spool_pending(). */
	atomic_store_explicit(&lane->chunk->state, CHUNK_FULL, memory_order_release);
	lane->chunk = NULL;
	lane->write = lane->limit = NULL;
}
