/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's lock-free half against the host's: threads record through the real hot path while the
 * main thread drains. The guest's sources are linked in; joining a run is replaced by a membership
 * of our own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "capture/capture.h"
#include "check.h"
#include "trace/calls.h"
#include "trace/drain.h"
#include "trace/group.h"

#define THREADS 6
#define CALLS 20000u

struct membership capture_membership;
static struct gate gate;
static struct control control;
static struct spool spool;

bool attach(void)
{
	return false;
}

static void *map_new(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	void *p;

	REQUIRE(fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(p != MAP_FAILED);
	close(fd);
	return p;
}

/* Guest and host through one mapping: a sanitizer knows memory by its address. */
static void addresses_share(uint32_t segments)
{
	struct membership *m = &capture_membership;

	for (uint32_t i = 0; i < segments; i++)
		REQUIRE(spool_grow());
	for (uint32_t i = 0; i < segments; i++)
		atomic_store(&m->segments[i], (unsigned char *)spool.header +
						      spool_chunk_offset(spool_segment_first(i)));
	munmap(m->header, SPOOL_HEADER_BYTES);
	m->header = spool.header;
}

/* A fresh spool of so many segments, with this thread's lanes empty. */
static void start(uint32_t segments, enum capture_mode mode)
{
	struct membership *m = &capture_membership;
	struct err err = { 0 };

	memset(m, 0, sizeof(*m));
	memset(&capture_self, 0, sizeof(capture_self));
	spool_forget();
	counters_forget();
	snprintf(m->path, sizeof(m->path), "/tmp/sluice-unit-%d%s", (int)getpid(), SPOOL_SUFFIX);
	m->header = map_new(m->path, SPOOL_HEADER_BYTES);
	m->header->magic = SPOOL_MAGIC;
	m->header->version = SPOOL_VERSION;
	atomic_store(&m->header->state, SPOOL_LIVE);
	m->header->pid = (int32_t)getpid();
	m->control = &control;
	control = (struct control){ .chunks_max = SPOOL_FIRST_CHUNKS +
						  (segments - 1) * SPOOL_SEGMENT_CHUNKS,
				    .clock = CLOCK_SOURCE_COUNTER };
	atomic_store(&control.mode, mode);
	gate.clock = CLOCK_SOURCE_COUNTER;
	atomic_store(&gate.mode, mode);
	capture_gate = &gate;
	REQUIRE(spool_open(&spool, m->path, &err) == 0);
	addresses_share(segments);
}

static void stop(void)
{
	AUTO_FREE char *counters = xstrdup(capture_membership.path);

	spool_close(&spool);
	unlink(capture_membership.path);
	strcpy(strstr(counters, SPOOL_SUFFIX), "");
	AUTO_FREE char *path = xprintf("%s%s", counters, COUNTERS_SUFFIX);
	unlink(path);
}

/* What a wrapper of fwrite does. */
static void record(uint64_t size)
{
	struct frame f;
	uint64_t *w;

	if (!frame_enter(&f))
		return;
	frame_stop(&f);
	w = frame_leave(&f, CALL_fwrite, 7, 0);
	w[4] = size;
	w[5] = 0;
	w[6] = size;
	frame_commit(&f, w, 7);
}

/* Per thread number: the last sequence number seen; records of a thread come in order. */
static uint64_t seen[64];
static uint64_t taken;

static void record_check(uint32_t thread, const uint64_t *r)
{
	REQUIRE(thread < 64);
	CHECK_INT(record_seq(r), seen[thread] + 1);
	CHECK_INT(record_call(r), CALL_fwrite);
	CHECK_INT(r[4], r[6]);
	CHECK_INT(r[4], record_seq(r));
	seen[thread] = record_seq(r);
	taken++;
}

static int by_seq(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	return record_seq(x->records) < record_seq(y->records) ? -1 : 1;
}

/* One pass; returns whether anything came. Chunks of one thread are put in order first. */
static bool drain(void)
{
	struct pending *list = NULL;
	size_t count = 0, cap = 0;

	spool_pending(&spool, &list, &count, &cap);
	if (count)
		qsort(list, count, sizeof(*list), by_seq);
	for (size_t i = 0; i < count; i++) {
		const uint64_t *at = list[i].records, *r;

		/* A later chunk may be complete while the one before was cut short by our look:
		 * leave it. */
		if (record_seq(at) != seen[list[i].thread] + 1)
			continue;
		while (at < list[i].end && (r = pending_next(&list[i], &at)))
			record_check(list[i].thread, r);
		spool_consume(&list[i], at);
	}
	free(list);
	return count > 0;
}

static atomic_int running;

static void *writer(void *unused)
{
	(void)unused;
	for (uint64_t i = 1; i <= CALLS; i++) {
		record(i);
		/* The spool has room for all that can be under way, if the reader gets a turn. */
		if (i % 512 == 0)
			usleep(200);
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void nothing_is_lost_or_torn_while_threads_write(void)
{
	pthread_t threads[THREADS];

	memset(seen, 0, sizeof(seen));
	taken = 0;
	start(64, CAPTURE_TRACE);
	atomic_store(&running, THREADS);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, writer, NULL) == 0);
	while (atomic_load(&running)) {
		drain();
		usleep(100);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while (drain())
		;
	CHECK_INT(taken, THREADS * CALLS);
	CHECK_INT(atomic_load(&capture_membership.header->lost_records), 0);
	CHECK_INT(spool.damaged_words, 0);
	stop();
}

static void a_full_spool_loses_and_counts(void)
{
	uint64_t room = SPOOL_FIRST_CHUNKS * (CHUNK_WORDS / 7), calls = room + 1000;

	memset(seen, 0, sizeof(seen));
	taken = 0;
	start(1, CAPTURE_TRACE);
	for (uint64_t i = 1; i <= calls; i++)
		record(i);
	drain();
	CHECK_INT(taken, room);
	CHECK_INT(atomic_load(&capture_membership.header->lost_records), 1000);
	stop();
}

static void emptied_chunks_are_used_again(void)
{
	uint64_t room = SPOOL_FIRST_CHUNKS * (CHUNK_WORDS / 7);

	memset(seen, 0, sizeof(seen));
	taken = 0;
	start(1, CAPTURE_TRACE);
	for (uint64_t i = 1; i <= 20 * room; i++) {
		record(i);
		if (i % 1000 == 0)
			drain();
	}
	drain();
	CHECK_INT(taken, 20 * room);
	CHECK_INT(atomic_load(&control.chunks), SPOOL_FIRST_CHUNKS);
	stop();
}

/* Calls of the group WRITE that belong to no handle, as the counters file has them. */
static uint64_t counted_writes(void)
{
	const char *path = capture_membership.path;
	int stem = (int)(strlen(path) - strlen(SPOOL_SUFFIX));
	AUTO_FREE char *name = xprintf("%.*s%s", stem, path, COUNTERS_SUFFIX);
	AUTO_CLOSE int fd = open(name, O_RDONLY);
	struct counters_file *file = xcalloc(1, sizeof(*file));
	uint64_t calls = 0;

	if (fd >= 0 && read(fd, file, sizeof(*file)) == (ssize_t)sizeof(*file))
		calls = atomic_load(&file->slots[LAYER_STDIO].groups[GROUP_WRITE].calls);
	free(file);
	return calls;
}

static void counters_mode_records_nothing_but_counts(void)
{
	memset(seen, 0, sizeof(seen));
	taken = 0;
	start(1, CAPTURE_COUNTERS);
	for (uint64_t i = 1; i <= 1000; i++)
		record(i);
	drain();
	CHECK_INT(taken, 0);
	CHECK_INT(atomic_load(&capture_membership.header->lost_records), 0);
	CHECK_INT(counted_writes(), 1000);
	stop();
}

static void a_call_left_by_longjmp_is_nobodys_parent(void)
{
	struct frame above[2], *deep = &above[0];
	struct lane *l = &capture_self.lanes[0];

	start(1, CAPTURE_TRACE);
	/* An abandoned frame lies below the next live one. */
	REQUIRE(frame_enter(deep));
	REQUIRE(l->current == 1);
	REQUIRE(frame_enter(&above[1]));
	CHECK_INT(above[1].parent, 0);
	stop();
}

TESTS(TEST(nothing_is_lost_or_torn_while_threads_write), TEST(a_full_spool_loses_and_counts),
      TEST(emptied_chunks_are_used_again), TEST(counters_mode_records_nothing_but_counts),
      TEST(a_call_left_by_longjmp_is_nobodys_parent))
