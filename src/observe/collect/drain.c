/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "contract/call.h"

/* Values of chunk_view.drained that are not a number of words. */
#define CHUNK_UNSEEN UINT16_MAX /* the chunk itself holds the number, from an earlier collector */
#define CHUNK_DAMAGED (UINT16_MAX - 1u) /* its head is invalid; it is never read again */

_Static_assert(CHUNK_WORDS < CHUNK_DAMAGED, "a number of words fits into a view");

/* Neither a link nor a FIFO, which the program may have put there. */
static int file_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* Leaves half of the descriptors for other purposes. */
static bool descriptors_are_scarce(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd >= limit.rlim_cur / 2;
}

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

static struct spool_header *header_of(const struct spool *spool)
{
	return spool->header.base;
}

static struct spool_identity identity_of(const struct spool_header *h)
{
	return (struct spool_identity){ .pid = h->pid,
					.ppid = h->ppid,
					.parent_number = h->parent_number,
					.first_thread = h->first_thread,
					.forked_thread = h->forked_thread,
					.forked_seq = h->forked_seq,
					.pid_namespace = h->pid_namespace,
					.process_start = h->process_start,
					.attached = h->attached };
}

/* Takes the descriptor away from its variable, which would close it. */
static int fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Maps the header and reads the identity. `name` is for messages. */
static int header_open(struct spool *spool, int fd, const char *name, struct err *err)
{
	struct stat st;
	int r;

	*spool = (struct spool){ .fd = -1 };
	if (fstat(fd, &st) != 0 || st.st_size < (off_t)SPOOL_HEADER_BYTES)
		return -EAGAIN;
	r = mapping_open(&spool->header, fd, SPOOL_HEADER_BYTES);
	if (r < 0)
		return err_set(err, -r, "%s: cannot map: %s", name, strerror(-r));
	r = header_check(header_of(spool), name, err);
	if (r < 0)
		mapping_close(&spool->header);
	else
		spool->identity = identity_of(header_of(spool));
	return r;
}

int spool_adopt(struct spool *spool, int fd, struct err *err)
{
	int r = header_open(spool, fd, "spool", err);

	if (r == -EAGAIN)
		r = err_set(err, EINVAL, "spool: the header is not complete");
	if (r >= 0)
		spool->fd = fd;
	return r;
}

int spool_open(struct spool *spool, const char *path, struct err *err)
{
	AUTO_CLOSE int fd = file_open(path);
	int r;

	*spool = (struct spool){ .fd = -1 };
	if (fd < 0)
		return err_set(err, -fd, "%s: %s", path, strerror(-fd));
	r = header_open(spool, fd, path, err);
	if (r < 0)
		return r;
	spool->path = xstrdup(path);
	if (!descriptors_are_scarce(fd))
		spool->fd = fd_take(&fd);
	return 0;
}

void spool_close(struct spool *spool)
{
	if (spool->header.base && spool->fd >= 0)
		close(spool->fd);
	mapping_close(&spool->header);
	free(spool->path);
	free(spool->views);
	*spool = (struct spool){ .fd = -1 };
}

void spool_copy_header(const struct spool *spool, struct spool_header *copy, bool texts)
{
	const struct spool_identity *is = &spool->identity;
	size_t bytes = texts ? sizeof(*copy) : offsetof(struct spool_header, program);

	memcpy((void *)copy, header_of(spool), bytes);
	atomic_thread_fence(memory_order_acquire);
	copy->pid = is->pid;
	copy->ppid = is->ppid;
	copy->parent_number = is->parent_number;
	copy->first_thread = is->first_thread;
	copy->forked_thread = is->forked_thread;
	copy->forked_seq = is->forked_seq;
	copy->pid_namespace = is->pid_namespace;
	copy->process_start = is->process_start;
	copy->attached = is->attached;
}

/* Returns the number of bytes read, fewer if the file is too short. */
static size_t read_at(const struct spool *spool, void *to, size_t bytes, uint64_t offset)
{
	AUTO_CLOSE int own = spool->fd < 0 ? file_open(spool->path) : -1;
	ssize_t n = pread(spool->fd < 0 ? own : spool->fd, to, bytes, (off_t)offset);

	return n < 0 ? 0 : (size_t)n;
}

static bool write_at(const struct spool *spool, const void *from, size_t bytes, uint64_t offset)
{
	AUTO_CLOSE int own = spool->fd < 0 ? file_open(spool->path) : -1;

	return pwrite(spool->fd < 0 ? own : spool->fd, from, bytes, (off_t)offset) ==
	       (ssize_t)bytes;
}

static void update_file_bytes(struct spool *spool)
{
	struct stat st;

	if ((spool->fd < 0 ? stat(spool->path, &st) : fstat(spool->fd, &st)) == 0)
		spool->file_bytes = (uint64_t)st.st_size;
}

/* Makes room for the views of a segment's chunks. */
static void grow_views(struct spool *spool, uint32_t segment)
{
	uint32_t count = spool_segment_first(segment) + spool_segment_chunks(segment);

	if (count <= spool->view_count)
		return;
	spool->views = xrealloc(spool->views, count, sizeof(*spool->views));
	while (spool->view_count < count)
		spool->views[spool->view_count++] = (struct chunk_view){ .drained = CHUNK_UNSEEN };
}

/* A segment counts only if its bytes are in the file; *checked: the size of the file is current. */
static bool is_segment_present(struct spool *spool, uint32_t segment, bool *checked)
{
	uint64_t bit = UINT64_C(1) << segment % 64;
	uint64_t end =
		spool_chunk_offset(spool_segment_first(segment) + spool_segment_chunks(segment));

	if (spool->segments[segment / 64] & bit)
		return true;
	if (!(atomic_load(&header_of(spool)->segment_map[segment / 64]) & bit))
		return false;
	if (spool->file_bytes < end && !*checked) {
		update_file_bytes(spool);
		*checked = true;
	}
	if (spool->file_bytes < end)
		return false;
	spool->segments[segment / 64] |= bit;
	grow_views(spool, segment);
	return true;
}

uint32_t spool_chunks(const struct spool *spool)
{
	uint32_t chunks = 0;

	for (uint32_t i = 0; i < SPOOL_SEGMENTS_MAX; i++)
		if (spool->segments[i / 64] >> i % 64 & 1)
			chunks += spool_segment_chunks(i);
	return chunks;
}

/* Returns the next claimed chunk at or after this one; SPOOL_CHUNKS_MAX if there is none. */
static uint32_t find_claimed(struct spool *spool, uint32_t chunk, bool *checked)
{
	while (chunk < SPOOL_CHUNKS_MAX && !spool->header.lost) {
		uint32_t segment = spool_segment_of(chunk);
		uint64_t free;

		if (!is_segment_present(spool, segment, checked)) {
			chunk = spool_segment_first(segment + 1);
			continue;
		}
		free = atomic_load_explicit(&header_of(spool)->free_map[chunk / 64],
					    memory_order_acquire);
		if (!(free >> chunk % 64 & 1) && spool->views[chunk].drained != CHUNK_DAMAGED)
			return chunk;
		chunk++;
	}
	return SPOOL_CHUNKS_MAX;
}

static void chunk_give_up(struct spool *spool, uint32_t number)
{
	spool->views[number] = (struct chunk_view){ .drained = CHUNK_DAMAGED };
	spool->damaged_words++;
}

static void chunk_free(struct spool *spool, uint32_t number)
{
	const struct chunk empty = { .state = CHUNK_FREE };

	if (!write_at(spool, &empty, offsetof(struct chunk, reserved),
		      spool_chunk_offset(number))) {
		chunk_give_up(spool, number);
		return;
	}
	spool->views[number] = (struct chunk_view){ 0 };
	/* The chunk is empty; pairs with the acquire in chunk_claim() of the guest. */
	atomic_fetch_or_explicit(&header_of(spool)->free_map[number / 64],
				 UINT64_C(1) << number % 64, memory_order_release);
}

/* Copies the head of a chunk; a chunk without one is given up. */
static bool head_read(struct spool *spool, uint32_t number, struct chunk *head)
{
	if (read_at(spool, head, sizeof(*head), spool_chunk_offset(number)) == sizeof(*head)) {
		/* Pairs with the releases in frame_commit() and spool_yield() of the guest. */
		atomic_thread_fence(memory_order_acquire);
		return true;
	}
	chunk_give_up(spool, number);
	return false;
}

/*
 * Updates the view of a chunk. Returns the number of committed words, and their thread in *thread
 * and *tid; -1 if the chunk is not in use. Of a chunk that is known to be full, *tid is 0.
 */
static int32_t chunk_look(struct spool *spool, uint32_t number, uint32_t *thread, int32_t *tid)
{
	struct chunk_view *view = &spool->views[number];
	struct chunk head;

	*thread = view->thread;
	*tid = 0;
	if (view->end)
		return view->end;
	if (!head_read(spool, number, &head) || head.state == CHUNK_FREE)
		return -1;
	/* The last record may have been committed while the head was copied. */
	if (head.state == CHUNK_FULL && !head_read(spool, number, &head))
		return -1;
	if (view->drained == CHUNK_UNSEEN && head.drained <= CHUNK_WORDS)
		view->drained = (uint16_t)head.drained;
	if (head.committed > CHUNK_WORDS || view->drained > head.committed ||
	    head.thread > ID_THREAD_MAX) {
		chunk_give_up(spool, number);
		return -1;
	}
	*thread = head.thread;
	*tid = head.tid;
	if (head.state == CHUNK_FULL && head.committed == view->drained) {
		chunk_free(spool, number);
		return -1;
	}
	if (head.state == CHUNK_FULL) {
		view->end = (uint16_t)head.committed;
		view->thread = head.thread;
	}
	return (int32_t)head.committed;
}

/* Describes the pending records of a claimed chunk; false if there are none. */
static bool chunk_pending(struct spool *spool, uint32_t number, struct pending *p)
{
	const struct chunk_view *view = &spool->views[number];
	uint32_t thread;
	int32_t tid, end = chunk_look(spool, number, &thread, &tid);

	if (end < 0 || end == view->drained)
		return false;
	*p = (struct pending){ .spool = spool,
			       .chunk = number,
			       .thread = thread,
			       .tid = tid,
			       .first = view->drained,
			       .words = (uint32_t)end - view->drained,
			       .full = view->end != 0 };
	return true;
}

size_t spool_pending(struct spool *spool, struct pending **list, size_t *count, size_t *cap)
{
	size_t before = *count;
	bool checked = false;
	uint32_t chunk = 0;

	while ((chunk = find_claimed(spool, chunk, &checked)) < SPOOL_CHUNKS_MAX) {
		*list = xgrow(*list, cap, *count + 1, sizeof(**list));
		*count += chunk_pending(spool, chunk++, &(*list)[*count]);
	}
	return *count - before;
}

static uint64_t words_offset(const struct pending *p)
{
	return spool_chunk_offset(p->chunk) + sizeof(struct chunk) +
	       (uint64_t)p->first * sizeof(uint64_t);
}

void pending_peek(struct pending *p)
{
	uint64_t head[RECORD_HEAD_WORDS] = { 0 };

	read_at(p->spool, head, sizeof(head), words_offset(p));
	p->time = record_start(head) + record_duration(head);
}

void pending_load(struct pending *p, uint64_t *to, uint32_t words)
{
	uint32_t wanted = words < p->words ? words : p->words;
	uint32_t got = (uint32_t)(read_at(p->spool, to, wanted * sizeof(*to), words_offset(p)) /
				  sizeof(*to));

	p->records = to;
	p->end = to + got;
	p->cut = got == wanted && wanted < p->words;
	/* Fewer, if the file was truncated. */
	p->dropped = got == wanted ? 0 : p->words - got;
	p->spool->damaged_words += p->dropped;
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

/* Does the copy end within this record? */
static bool is_cut(const struct pending *p, const uint64_t *r)
{
	size_t left = (size_t)(p->end - r);

	if (!p->cut || r == p->records)
		return false;
	return left < RECORD_HEAD_WORDS ||
	       (record_words(r) > left && record_words(r) <= RECORD_WORDS_MAX);
}

const uint64_t *pending_next(struct pending *p, const uint64_t **at)
{
	const uint64_t *r = *at;

	if (is_cut(p, r))
		return NULL;
	if (r + RECORD_HEAD_WORDS > p->end || !record_is_sound(r, p->end)) {
		p->spool->damaged_words += p->words - p->dropped - (uint64_t)(r - p->records);
		p->dropped = p->words - (uint32_t)(p->end - p->records);
		*at = p->end;
		return NULL;
	}
	*at = r + record_words(r);
	return r;
}

void spool_consume(struct pending *p, const uint64_t *at)
{
	uint32_t drained = p->first + (uint32_t)(at - p->records);

	if (at == p->end)
		drained += p->dropped;
	if (p->full && drained == p->first + p->words) {
		chunk_free(p->spool, p->chunk);
		return;
	}
	p->spool->views[p->chunk].drained = (uint16_t)drained;
	/* For recovery, if this collector dies. */
	write_at(p->spool, &drained, sizeof(drained),
		 spool_chunk_offset(p->chunk) + offsetof(struct chunk, drained));
}

void spool_reap(struct spool *spool, bool (*alive)(int pid, int tid))
{
	const uint32_t full = CHUNK_FULL;
	bool checked = false;

	for (uint32_t i = 0; (i = find_claimed(spool, i, &checked)) < SPOOL_CHUNKS_MAX; i++) {
		struct chunk head;

		if (!spool->views[i].end && head_read(spool, i, &head) &&
		    head.state == CHUNK_OWNED && !alive(spool->identity.pid, head.tid))
			write_at(spool, &full, sizeof(full),
				 spool_chunk_offset(i) + offsetof(struct chunk, state));
	}
}
