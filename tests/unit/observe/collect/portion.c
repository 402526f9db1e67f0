/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests which records a pass takes if not all fit, with a spool that the test writes itself.
 */
#include "observe/collect/portion.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "contract/call.h"
#include "contract/calls.h"

#define SEGMENTS 16
#define CHUNKS (SPOOL_FIRST_CHUNKS + (SEGMENTS - 1) * SPOOL_SEGMENT_CHUNKS)

static const char path[] = "portion-test.spool";
static struct spool_header *guest;
static struct spool spool;
static struct pending *list;
static size_t list_count, list_cap;
static struct portion portion;

static void start(void)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct err err;

	REQUIRE(fd >= 0 && ftruncate(fd, (off_t)spool_chunk_offset(CHUNKS)) == 0);
	guest = mmap(NULL, spool_chunk_offset(CHUNKS), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(guest != MAP_FAILED);
	close(fd);
	guest->magic = SPOOL_MAGIC;
	guest->version = SPOOL_VERSION;
	guest->segment_map[0] = (1u << SEGMENTS) - 1;
	for (uint32_t i = 0; i < CHUNKS; i++)
		guest->free_map[i / 64] |= UINT64_C(1) << i % 64;
	atomic_store(&guest->state, SPOOL_LIVE);
	REQUIRE(spool_open(&spool, path, &err) == 0);
	portion = (struct portion){ 0 };
}

static void end(void)
{
	portion_release(&portion);
	spool_close(&spool);
	munmap(guest, spool_chunk_offset(CHUNKS));
	unlink(path);
	free(list);
	list = NULL;
	list_count = list_cap = 0;
}

/* Fills a chunk with records that end at time, time + step, ...; returns their number. */
static uint32_t fill_chunk(uint32_t number, uint32_t thread, uint64_t time, uint64_t step)
{
	struct chunk *chunk = (void *)((char *)guest + spool_chunk_offset(number));
	unsigned words = RECORD_HEAD_WORDS + call_table[CALL_read].field_count;
	uint32_t n = 0;

	for (; (n + 1) * words <= CHUNK_WORDS; n++) {
		uint64_t *w = chunk->words + (size_t)n * words;

		w[0] = record_word0(n + 1, CALL_read);
		w[1] = time + n * step - 1;
		w[2] = record_word2(1, words);
	}
	guest->free_map[number / 64] &= ~(UINT64_C(1) << number % 64);
	chunk->thread = thread;
	chunk->committed = n * words;
	atomic_store(&chunk->state, CHUNK_FULL);
	return n;
}

/* Takes a portion; returns the number of its records that end by the time it is complete to. */
static size_t take_portion(uint64_t *until)
{
	size_t taken = 0;

	list_count = 0;
	spool_pending(&spool, &list, &list_count, &list_cap);
	portion_sort(list, list_count);
	*until = portion_load(&portion, list, list_count, UINT64_MAX - 1);
	for (size_t i = 0; i < list_count; i++) {
		const uint64_t *at = list[i].records, *before = at, *r;

		while (at && at < list[i].end && (r = pending_next(&list[i], &at))) {
			if (record_start(r) + record_duration(r) > *until)
				break;
			before = at;
			taken++;
		}
		if (list[i].records)
			spool_consume(&list[i], before);
	}
	return taken;
}

/* Reads everything; returns the number of passes. */
static unsigned take_all(size_t expected)
{
	uint64_t until, last = 0;
	unsigned passes = 0;
	size_t taken = 0, n;

	while ((n = take_portion(&until))) {
		CHECK(until >= last);
		last = until;
		taken += n;
		passes++;
	}
	CHECK_INT(taken, expected);
	CHECK_INT(spool.damaged_words, 0);
	return passes;
}

static void a_long_backlog_of_one_thread_is_read_in_order(void)
{
	uint64_t until;
	size_t n = 0;

	start();
	for (uint32_t i = 0; i < CHUNKS; i++)
		n += fill_chunk(CHUNKS - 1 - i, 1, 1000 + i * UINT64_C(100000), 10);
	CHECK(take_portion(&until) < n);
	/* The last chunk in time is the first in the file. */
	CHECK(until < 1000 + (CHUNKS - 1) * UINT64_C(100000));
	end();
	start();
	for (uint32_t i = 0, total = 0; i < CHUNKS; i++) {
		total += fill_chunk(i, 1, 1000 + i * UINT64_C(100000), 10);
		if (i + 1 == CHUNKS)
			CHECK(take_all(total) <= 3);
	}
	end();
}

/* Regression: with more chunks than a pass reads, each pass took one record per thread. */
static void many_threads_that_write_at_once_advance_together(void)
{
	size_t n = 0;

	start();
	for (uint32_t i = 0; i < CHUNKS; i++)
		n += fill_chunk(i, i, 1000 + i, 1000);
	CHECK(take_all(n) <= 6);
	end();
}

static void a_slow_thread_does_not_limit_a_fast_one(void)
{
	size_t n = 0;

	start();
	n += fill_chunk(0, 1, 1000, 1000000);
	for (uint32_t i = 1; i < CHUNKS; i++)
		n += fill_chunk(i, 2, 1000 + i * UINT64_C(10000), 5);
	CHECK(take_all(n) <= 4);
	end();
}

/* A program may write any times, but must not stop the records of others. */
static void wrong_times_do_not_stop_the_pass(void)
{
	size_t n = 0;

	start();
	for (uint32_t i = 0; i < CHUNKS / 2; i++)
		n += fill_chunk(i, 1, 1, 0);
	for (uint32_t i = CHUNKS / 2; i < CHUNKS; i++)
		n += fill_chunk(i, 2, 1000000 + i * UINT64_C(10000), 5);
	CHECK(take_all(n) <= 8);
	end();
}

TESTS(TEST(a_long_backlog_of_one_thread_is_read_in_order),
      TEST(many_threads_that_write_at_once_advance_together),
      TEST(a_slow_thread_does_not_limit_a_fast_one), TEST(wrong_times_do_not_stop_the_pass))
