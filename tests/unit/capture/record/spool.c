/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's and the host's side of the spool: threads record on the real hot path while the main
 * thread drains the chunks. The sources of the guest are linked in.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"
#include "capture/record/hooks.h"
#include "check.h"
#include "contract/calls.h"
#include "contract/group.h"
#include "guest.h"
#include "observe/collect/drain.h"

#define THREADS 6
#define CALLS 20000u

static void nothing_to_flush(struct self *s)
{
	(void)s;
}

const struct record_hooks record_hooks = { .flush = nothing_to_flush };

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

/* The last sequence number by thread number; the records of a thread come in order. */
static uint64_t seen[64];
static uint64_t taken;

static void check_record(uint32_t thread, const uint64_t *r)
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

static uint64_t copies[256][CHUNK_WORDS];

/* A sanitizer does not see that pread() reads what a thread has published in this chunk. */
static void acquire_chunk(uint32_t number)
{
	uint32_t segment = spool_segment_of(number);
	struct chunk *chunk = (struct chunk *)(atomic_load(&capture_membership.segments[segment]) +
					       (size_t)(number - spool_segment_first(segment)) *
						       SPOOL_CHUNK_BYTES);

	atomic_load_explicit(&chunk->committed, memory_order_acquire);
	atomic_load_explicit(&chunk->state, memory_order_acquire);
}

/* Makes one pass; returns whether there were records. Sorts the chunks of a thread first. */
static bool drain(void)
{
	struct pending *list = NULL;
	size_t count = 0, cap = 0;

	spool_pending(&spool, &list, &count, &cap);
	REQUIRE(count <= sizeof(copies) / sizeof(copies[0]));
	for (size_t i = 0; i < count; i++) {
		acquire_chunk(list[i].chunk);
		pending_load(&list[i], copies[i], CHUNK_WORDS);
	}
	if (count)
		qsort(list, count, sizeof(*list), by_seq);
	for (size_t i = 0; i < count; i++) {
		const uint64_t *at = list[i].records, *r;

		/* A later chunk may be complete although the earlier one was read only in part: it
		 * is left for the next pass. */
		if (record_seq(at) != seen[list[i].thread] + 1)
			continue;
		while (at < list[i].end && (r = pending_next(&list[i], &at)))
			check_record(list[i].thread, r);
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
		/* The spool is large enough if the reader gets some CPU time. */
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
	guest_start(64, CAPTURE_TRACE);
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
	CHECK_INT(spool_lost_records(capture_membership.header), 0);
	CHECK_INT(spool.damaged_words, 0);
	guest_stop();
}

static void a_full_spool_counts_lost_records(void)
{
	uint64_t room = SPOOL_FIRST_CHUNKS * (CHUNK_WORDS / 7), calls = room + 1000;

	memset(seen, 0, sizeof(seen));
	taken = 0;
	guest_start(1, CAPTURE_TRACE);
	for (uint64_t i = 1; i <= calls; i++)
		record(i);
	drain();
	CHECK_INT(taken, room);
	CHECK_INT(atomic_load(&capture_membership.header->lost_records[LOSS_SPOOL_LIMIT]), 1000);
	CHECK_INT(spool_lost_records(capture_membership.header), 1000);
	guest_stop();
}

static void drained_chunks_are_reused(void)
{
	uint64_t room = SPOOL_FIRST_CHUNKS * (CHUNK_WORDS / 7);

	memset(seen, 0, sizeof(seen));
	taken = 0;
	guest_start(1, CAPTURE_TRACE);
	for (uint64_t i = 1; i <= 20 * room; i++) {
		record(i);
		if (i % 1000 == 0)
			drain();
	}
	drain();
	CHECK_INT(taken, 20 * room);
	CHECK_INT(atomic_load(&control.chunks), SPOOL_FIRST_CHUNKS);
	guest_stop();
}

/* Calls of the group WRITE without a handle, from the counters file. */
static uint64_t counted_writes(void)
{
	AUTO_FREE char *name = guest_path(COUNTERS_SUFFIX);
	AUTO_CLOSE int fd = open(name, O_RDONLY);
	struct counters_file *file = xcalloc(1, sizeof(*file));
	uint64_t calls = 0;

	if (fd >= 0 && read(fd, file, sizeof(*file)) == (ssize_t)sizeof(*file))
		calls = atomic_load(&file->slots[LAYER_STDIO].groups[GROUP_WRITE].calls);
	free(file);
	return calls;
}

static void counters_mode_counts_and_records_nothing(void)
{
	memset(seen, 0, sizeof(seen));
	taken = 0;
	guest_start(1, CAPTURE_COUNTERS);
	for (uint64_t i = 1; i <= 1000; i++)
		record(i);
	drain();
	CHECK_INT(taken, 0);
	CHECK_INT(spool_lost_records(capture_membership.header), 0);
	CHECK_INT(counted_writes(), 1000);
	guest_stop();
}

static void the_overhead_is_known_when_a_chunk_is_full(void)
{
	struct spool_header *h;
	uint64_t begin, all, records, ticks;

	guest_start(1, CAPTURE_TRACE);
	h = capture_membership.header;
	begin = clock_ticks(CLOCK_SOURCE_COUNTER);
	for (uint64_t i = 1; i <= CHUNK_WORDS / 7 + 1; i++)
		record(i);
	all = clock_ticks(CLOCK_SOURCE_COUNTER) - begin;
	records = atomic_load(&h->cost_records);
	ticks = atomic_load(&h->cost_ticks);
	/* The call that found the chunk full, and perhaps the first one, are counted with the
	 * change. */
	CHECK(records >= CHUNK_WORDS / 7 && records <= CHUNK_WORDS / 7 + 1);
	CHECK(ticks > 0 && capture_self.record_ticks > 0);
	/* Not more than the measured time, with a margin of 50 % for the resolution of the clock.
	 */
	CHECK(ticks <= all + all / 2);
	guest_stop();
}

static void counted_calls_have_an_overhead_too(void)
{
	struct spool_header *h;

	guest_start(1, CAPTURE_COUNTERS);
	h = capture_membership.header;
	for (uint64_t i = 1; i <= 64 * 10; i++)
		record(i);
	CHECK_INT(atomic_load(&h->cost_records), 640);
	CHECK(atomic_load(&h->cost_ticks) > 0);
	CHECK_INT(capture_self.lanes[0].costed, capture_self.lanes[0].seq);
	guest_stop();
}

static void *write_a_little(void *unused)
{
	(void)unused;
	for (uint64_t i = 1; i <= 10; i++)
		record(i);
	return NULL;
}

static void the_overhead_of_a_thread_is_complete_when_it_ends(void)
{
	pthread_t thread;

	guest_start(1, CAPTURE_TRACE);
	REQUIRE(pthread_create(&thread, NULL, write_a_little, NULL) == 0);
	pthread_join(thread, NULL);
	CHECK_INT(atomic_load(&capture_membership.header->cost_records), 10);
	guest_stop();
}

static void a_call_left_by_longjmp_is_not_a_parent(void)
{
	struct frame above[2], *deep = &above[0];
	struct lane *l = &capture_self.lanes[0];

	guest_start(1, CAPTURE_TRACE);
	/* An abandoned frame is below the next live one. */
	REQUIRE(frame_enter(deep));
	REQUIRE(l->current == 1);
	REQUIRE(frame_enter(&above[1]));
	CHECK_INT(above[1].parent, 0);
	guest_stop();
}

TESTS(TEST(nothing_is_lost_or_torn_while_threads_write), TEST(a_full_spool_counts_lost_records),
      TEST(drained_chunks_are_reused), TEST(counters_mode_counts_and_records_nothing),
      TEST(the_overhead_is_known_when_a_chunk_is_full), TEST(counted_calls_have_an_overhead_too),
      TEST(the_overhead_of_a_thread_is_complete_when_it_ends),
      TEST(a_call_left_by_longjmp_is_not_a_parent))
