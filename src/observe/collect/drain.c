/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "contract/call.h"

static int header_check(const struct spool_header *h, const char *path, struct err *err)
{
	if (h->magic == 0)
		return -EAGAIN;
	if (h->magic != SPOOL_MAGIC)
		return err_set(err, EINVAL, "%s: not a spool", path);
	if (h->version != SPOOL_VERSION)
		return err_set(err, EINVAL,
			       "%s: spool has version %u, but this Sluice reads version %u", path,
			       h->version, SPOOL_VERSION);
	/* Pairs with the release in spool_make() of the guest: the header is complete. */
	if (atomic_load_explicit(&h->state, memory_order_acquire) != SPOOL_LIVE)
		return -EAGAIN;
	return 0;
}

int spool_open(struct spool *spool, const char *path, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
	uint64_t bytes = spool_chunk_offset(SPOOL_CHUNKS_MAX);
	struct stat st;
	void *p;
	int r;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (st.st_size < (off_t)SPOOL_HEADER_BYTES)
		return -EAGAIN;
	/*
	 * Reserves address space for the maximum size; pages exist only where the process allocated
	 * them.
	 */
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (p == MAP_FAILED)
		return err_set(err, errno, "%s: cannot map: %s", path, strerror(errno));
	r = header_check(p, path, err);
	if (r < 0) {
		munmap(p, bytes);
		return r;
	}
	*spool = (struct spool){ .path = xstrdup(path), .header = p, .mapped_bytes = bytes };
	return 0;
}

void spool_close(struct spool *spool)
{
	if (spool->header)
		munmap(spool->header, spool->mapped_bytes);
	free(spool->path);
	*spool = (struct spool){ 0 };
}

static struct chunk *chunk_at(const struct spool *spool, uint32_t chunk)
{
	return (struct chunk *)((unsigned char *)spool->header + spool_chunk_offset(chunk));
}

/*
 * A segment is accessed only after its bytes are known to be in the file: an access beyond the end
 * is fatal.
 */
static bool is_segment_present(struct spool *spool, uint32_t segment)
{
	uint64_t bit = UINT64_C(1) << segment % 64;
	uint64_t end =
		spool_chunk_offset(spool_segment_first(segment) + spool_segment_chunks(segment));
	struct stat st;

	if (spool->segments[segment / 64] & bit)
		return true;
	if (!(atomic_load(&spool->header->segment_map[segment / 64]) & bit))
		return false;
	if (stat(spool->path, &st) != 0 || (uint64_t)st.st_size < end)
		return false;
	spool->segments[segment / 64] |= bit;
	return true;
}

/* Returns the next claimed chunk at or after this one; SPOOL_CHUNKS_MAX if there is none. */
static uint32_t find_claimed(struct spool *spool, uint32_t chunk)
{
	while (chunk < SPOOL_CHUNKS_MAX) {
		uint32_t segment = spool_segment_of(chunk);
		uint64_t free;

		if (!is_segment_present(spool, segment)) {
			chunk = spool_segment_first(segment + 1);
			continue;
		}
		free = atomic_load_explicit(&spool->header->free_map[chunk / 64],
					    memory_order_acquire);
		if (!(free >> chunk % 64 & 1))
			return chunk;
		chunk++;
	}
	return SPOOL_CHUNKS_MAX;
}

static void chunk_free(struct spool *spool, uint32_t number)
{
	struct chunk *chunk = chunk_at(spool, number);

	atomic_store_explicit(&chunk->committed, 0, memory_order_relaxed);
	atomic_store_explicit(&chunk->state, CHUNK_FREE, memory_order_relaxed);
	chunk->drained = 0;
	/* The chunk is empty; pairs with the acquire in chunk_claim() of the guest. */
	atomic_fetch_or_explicit(&spool->header->free_map[number / 64], UINT64_C(1) << number % 64,
				 memory_order_release);
}

/* Describes the pending records of a claimed chunk; false if there are none. */
static bool chunk_pending(struct spool *spool, uint32_t number, struct pending *p)
{
	struct chunk *chunk = chunk_at(spool, number);
	/*
	 * The state is read before committed: a chunk seen as full has had its last record
	 * committed.
	 */
	uint32_t state = atomic_load_explicit(&chunk->state, memory_order_acquire);
	/* Pairs with the release in frame_commit(). */
	uint32_t end = atomic_load_explicit(&chunk->committed, memory_order_acquire);

	if (end > CHUNK_WORDS || chunk->drained > end || state == CHUNK_FREE)
		return false;
	if (chunk->drained == end) {
		if (state == CHUNK_FULL)
			chunk_free(spool, number);
		return false;
	}
	*p = (struct pending){ spool, number, chunk->thread, chunk->words + chunk->drained,
			       chunk->words + end };
	return true;
}

size_t spool_pending(struct spool *spool, struct pending **list, size_t *count, size_t *cap)
{
	size_t before = *count;
	uint32_t chunk = 0;

	while ((chunk = find_claimed(spool, chunk)) < SPOOL_CHUNKS_MAX) {
		*list = xgrow(*list, cap, *count + 1, sizeof(**list));
		*count += chunk_pending(spool, chunk++, &(*list)[*count]);
	}
	return *count - before;
}

/* Checks the length that the call's row implies: head, fields, and strings with their lengths. */
static bool record_is_sound(const uint64_t *r, const uint64_t *end)
{
	unsigned words = record_words(r), call = record_call(r);
	const struct call_info *info;
	const uint64_t *at;

	if (words < RECORD_HEAD_WORDS || words > (size_t)(end - r) || !call || call >= call_count)
		return false;
	info = &call_table[call];
	/* Strings come last, at most two of them: without strings the length is fixed. */
	if (info->field_count && info->fields[info->field_count - 1] < FIELD_PATH)
		return words == RECORD_HEAD_WORDS + (unsigned)info->field_count;
	if (words > RECORD_WORDS_MAX)
		return false;
	at = r + RECORD_HEAD_WORDS;
	for (unsigned i = 0; i < info->field_count; i++) {
		if (at >= r + words)
			return false;
		if (info->fields[i] >= FIELD_PATH) {
			if (*at > RECORD_STRING_MAX)
				return false;
			at += (*at + 7) / 8;
		}
		at++;
	}
	return at == r + words;
}

const uint64_t *pending_next(struct pending *p, const uint64_t **at)
{
	const uint64_t *r = *at;

	if (r + RECORD_HEAD_WORDS > p->end || !record_is_sound(r, p->end)) {
		p->spool->damaged_words += (uint64_t)(p->end - r);
		*at = p->end;
		return NULL;
	}
	*at = r + record_words(r);
	/* The process may overwrite its spool between the check and this line. */
	if (*at > p->end)
		*at = p->end;
	return r;
}

void spool_consume(struct pending *p, const uint64_t *at)
{
	struct chunk *chunk = chunk_at(p->spool, p->chunk);

	chunk->drained = (uint32_t)(at - chunk->words);
	if (atomic_load_explicit(&chunk->state, memory_order_acquire) == CHUNK_FULL &&
	    chunk->drained == atomic_load_explicit(&chunk->committed, memory_order_acquire))
		chunk_free(p->spool, p->chunk);
}

void spool_reap(struct spool *spool, bool (*alive)(int pid, int tid))
{
	for (uint32_t i = 0; (i = find_claimed(spool, i)) < SPOOL_CHUNKS_MAX; i++) {
		struct chunk *chunk = chunk_at(spool, i);

		if (atomic_load(&chunk->state) == CHUNK_OWNED &&
		    !alive(spool->header->pid, chunk->tid))
			atomic_store(&chunk->state, CHUNK_FULL);
	}
}
