/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plug-in read_ahead with a simulated guest that only stores the advices.
 * Papers: SIOX-42, SIOX-43, SIOX-61, SIOX-AC-6.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/mem.h"
#include "capture/inline/read_ahead.h"
#include "check.h"

#define S 20480
#define LENGTH 1024

static const char *const *options; /* KEY, VALUE, ... NULL */
static atomic_int advices;
static struct {
	int fd;
	int64_t offset, bytes;
	int advice;
} advised[4096];
static int advice_error;
static long advice_takes_us;

static const char *option(void *self, const char *key)
{
	(void)self;
	for (const char *const *o = options; o && *o; o += 2)
		if (strcmp(o[0], key) == 0)
			return o[1];
	return NULL;
}

static int64_t advise(void *self, int fd, int64_t offset, int64_t bytes, int advice)
{
	int i = atomic_fetch_add(&advices, 1);

	(void)self;
	if (i < (int)(sizeof(advised) / sizeof(advised[0]))) {
		advised[i].fd = fd;
		advised[i].offset = offset;
		advised[i].bytes = bytes;
		advised[i].advice = advice;
	}
	return advice_error ? -advice_error : advice_takes_us * 1000;
}

static int yields;

static void yielded(void *self, const char *key, const char *value, const char *other)
{
	(void)self, (void)value, (void)other;
	CHECK_TEXT(key, "posix_fadvise");
	yields++;
}

static const struct sluice_guest guest = { .bytes = sizeof(guest),
					   .option = option,
					   .directory = "/",
					   .advise = advise,
					   .yielded = yielded };

static int start(const char *const *with)
{
	void *state;

	options = with;
	atomic_store(&advices, 0);
	advice_error = 0;
	/* Longer than an advice for cached data. */
	advice_takes_us = 0;
	return inline_read_ahead.in_line->start(&guest, &state);
}

static unsigned call_hook(struct sluice_called called)
{
	return inline_read_ahead.in_line->after(NULL, &called);
}

static struct sluice_called called(enum call_class class, uint64_t opening, int64_t offset,
				   int64_t result)
{
	return (struct sluice_called){ .class = (uint8_t) class,
				       .layer = LAYER_POSIX,
				       .handle = (int64_t)opening,
				       .opening = opening,
				       .offset = offset,
				       .size = LENGTH,
				       .result = result,
				       .duration_ns = 1000 };
}

static unsigned reads(uint64_t opening, int64_t offset)
{
	return call_hook(called(CLASS_READ, opening, offset, LENGTH));
}

/* n reads of stride S from offset 0. */
static void read_strides(uint64_t opening, int n)
{
	for (int i = 0; i < n; i++)
		reads(opening, (int64_t)i * S);
}

static void first_advice_follows_the_sixth_read(void)
{
	CHECK_INT(start(NULL), 0);
	read_strides(7, 5);
	CHECK_INT(advices, 0);
	CHECK_INT(reads(7, 5 * S), 1);
	CHECK_INT(advices, 1);
	CHECK_INT(advised[0].fd, 7);
	CHECK_INT(advised[0].offset, 6 * S);
	CHECK_INT(advised[0].bytes, LENGTH);
	CHECK_INT(advised[0].advice, POSIX_FADV_WILLNEED);
	for (int i = 6; i < 20; i++)
		CHECK_INT(reads(7, (int64_t)i * S), 1);
	CHECK_INT(advices, 15);
	CHECK_INT(advised[14].offset, 20 * S);
}

static void threshold_can_be_set(void)
{
	static const char *const with[] = { "threshold", "1", NULL };

	CHECK_INT(start(with), 0);
	read_strides(7, 2);
	CHECK_INT(advices, 0);
	CHECK_INT(reads(7, 2 * S), 1);
	CHECK_INT(advised[0].offset, 3 * S);
}

static void backward_strides_are_advised_until_the_beginning(void)
{
	CHECK_INT(start(NULL), 0);
	for (int i = 9; i >= 0; i--)
		reads(7, (int64_t)i * S);
	/* After reads 6 to 9; the stride would then lead below offset 0. */
	CHECK_INT(advices, 4);
	CHECK_INT(advised[0].offset, 3 * S);
	CHECK_INT(advised[3].offset, 0);
}

static void random_offsets_get_no_advice(void)
{
	uint64_t x = 88172645463325252u;

	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < 100000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		reads(7, (int64_t)(x % (1 << 20)) * 512);
	}
	CHECK_INT(advices, 0);
}

static void a_wrong_prediction_starts_again(void)
{
	CHECK_INT(start(NULL), 0);
	read_strides(7, 8);
	CHECK_INT(advices, 3);
	reads(7, 1000 * S);
	for (int i = 1001; i < 1005; i++)
		reads(7, (int64_t)i * S);
	CHECK_INT(advices, 3);
	/* The distance is known at 1001, and was confirmed four times at 1005. */
	reads(7, 1005 * S);
	CHECK_INT(advices, 4);
	CHECK_INT(advised[3].offset, 1006 * S);
}

static void sockets_and_streams_get_no_advice(void)
{
	struct sluice_called c;

	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < 20; i++) {
		c = called(CLASS_READ, 7, (int64_t)i * S, LENGTH);
		c.is_network = true;
		c.layer = LAYER_NETWORK;
		call_hook(c);
		c.is_network = false;
		c.layer = LAYER_STDIO;
		call_hook(c);
	}
	CHECK_INT(advices, 0);
}

static void failed_and_empty_reads_change_nothing(void)
{
	struct sluice_called c;

	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < 6; i++) {
		c = called(CLASS_READ, 7, (int64_t)i * 777, -1);
		c.error = 5;
		call_hook(c);
		call_hook(called(CLASS_READ, 7, (int64_t)i * 31, 0));
		reads(7, (int64_t)i * S);
	}
	CHECK_INT(advices, 1);
	CHECK_INT(advised[0].offset, 6 * S);
}

static void sequential_reads_are_left_to_the_kernel(void)
{
	static const char *const with[] = { "sequential", "yes", NULL };

	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < 50; i++)
		reads(7, (int64_t)i * LENGTH);
	CHECK_INT(advices, 0);
	CHECK_INT(start(with), 0);
	for (int i = 0; i < 6; i++)
		reads(7, (int64_t)i * LENGTH);
	CHECK_INT(advices, 1);
	CHECK_INT(advised[0].offset, 6 * LENGTH);
}

static void repeated_reads_are_not_a_stride(void)
{
	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < 50; i++)
		reads(7, 4096);
	CHECK_INT(advices, 0);
}

static void a_close_drops_the_state(void)
{
	CHECK_INT(start(NULL), 0);
	read_strides(7, 5);
	call_hook(called(CLASS_CLOSE, 7, -1, 0));
	reads(7, 5 * S);
	CHECK_INT(advices, 0);
}

/* With read() and lseek(), the plug-in has to follow the position. */
static void the_position_follows_reads_and_seeks(void)
{
	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < 6; i++) {
		call_hook(called(CLASS_READ, 7, -1, LENGTH));
		if (i < 5)
			call_hook(called(CLASS_SEEK, 7, S - LENGTH, (int64_t)(i + 1) * S));
	}
	CHECK_INT(advices, 1);
	CHECK_INT(advised[0].offset, 6 * S);
}

/* The open was not seen: the position is read from the kernel before the first advice. */
static void an_assumed_position_is_confirmed_first(void)
{
	static const char *const with[] = { "sequential", "yes", NULL };
	char path[] = "/tmp/sluice-unit-XXXXXX", block[LENGTH];
	AUTO_CLOSE int fd = mkstemp(path);

	REQUIRE(fd >= 0 && ftruncate(fd, 1 << 20) == 0);
	unlink(path);
	CHECK_INT(start(with), 0);
	REQUIRE(lseek(fd, 100 * LENGTH, SEEK_SET) == 100 * LENGTH);
	for (int i = 0; i < 6; i++) {
		struct sluice_called c = called(CLASS_READ, 7, -1, LENGTH);

		REQUIRE(read(fd, block, LENGTH) == LENGTH);
		c.handle = fd;
		call_hook(c);
	}
	CHECK_INT(advices, 1);
	CHECK_INT(advised[0].offset, 106 * LENGTH);
}

static void slow_reads_increase_the_depth(void)
{
	struct sluice_called c;

	CHECK_INT(start(NULL), 0);
	read_strides(7, 6);
	CHECK_INT(advices, 1);
	for (int i = 6; i < 20; i++) {
		c = called(CLASS_READ, 7, (int64_t)i * S, LENGTH);
		c.duration_ns = 200000;
		call_hook(c);
	}
	/* 1, 2, 4 and then 8 reads ahead; each read is advised once, in order. */
	CHECK_INT(advices, 14 + 8);
	for (int i = 0; i < advices; i++)
		CHECK_INT(advised[i].offset, (int64_t)(6 + i) * S);
}

static void depth_can_be_fixed(void)
{
	static const char *const with[] = { "depth", "3", "depth_max", "3", NULL };
	struct sluice_called c;

	CHECK_INT(start(with), 0);
	read_strides(7, 6);
	CHECK_INT(advices, 3);
	for (int i = 6; i < 10; i++) {
		c = called(CLASS_READ, 7, (int64_t)i * S, LENGTH);
		c.duration_ns = 200000;
		call_hook(c);
	}
	CHECK_INT(advices, 7);
	CHECK_INT(advised[6].offset, 12 * S);
}

static void cached_files_become_dormant(void)
{
	static const char *const with[] = { "idle_ns", "1000000000", NULL };
	static const char *const awake[] = { "idle_ns", "1000000000", "dormant", "no", NULL };
	struct sluice_called c;

	CHECK_INT(start(with), 0);
	read_strides(7, 5 + 64);
	CHECK_INT(advices, 64);
	/* Of 160 predictions the 16th is advised, one 32 later, and one 64 later. */
	for (int i = 69; i < 69 + 160; i++)
		reads(7, (int64_t)i * S);
	CHECK_INT(advices, 64 + 3);
	CHECK_INT(advised[64].offset, (int64_t)(69 + 16) * S);
	CHECK_INT(advised[65].offset, (int64_t)(69 + 16 + 32) * S);
	/* A slow read causes one advice, which shows that the file is still cached. */
	c = called(CLASS_READ, 7, 229 * (int64_t)S, LENGTH);
	c.duration_ns = 200000;
	CHECK_INT(call_hook(c), 1);
	CHECK_INT(reads(7, 230 * (int64_t)S), 0);
	/* A second slow read wakes it up. */
	c = called(CLASS_READ, 7, 231 * (int64_t)S, LENGTH);
	c.duration_ns = 200000;
	CHECK_INT(call_hook(c), 1);
	CHECK_INT(reads(7, 232 * (int64_t)S), 1);
	CHECK_INT(reads(7, 233 * (int64_t)S), 1);
	CHECK_INT(start(awake), 0);
	read_strides(7, 5 + 200);
	CHECK_INT(advices, 200);
}

static void a_slow_advice_keeps_a_file_awake(void)
{
	static const char *const with[] = { "idle_ns", "1000", NULL };

	CHECK_INT(start(with), 0);
	advice_takes_us = 5;
	read_strides(7, 5 + 300);
	CHECK_INT(advices, 300);
}

static void files_that_reject_advice_get_no_more(void)
{
	CHECK_INT(start(NULL), 0);
	advice_error = 29; /* ESPIPE */
	read_strides(7, 50);
	CHECK_INT(advices, 1);
}

static void interleaved_files_are_distinguished(void)
{
	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < 6; i++) {
		reads(7, (int64_t)i * S);
		reads(8, (int64_t)i * 3 * S);
	}
	CHECK_INT(advices, 2);
	CHECK_INT(advised[0].offset, 6 * S);
	CHECK_INT(advised[0].fd, 7);
	CHECK_INT(advised[1].offset, 18 * S);
	CHECK_INT(advised[1].fd, 8);
}

/* More openings than slots: evicted ones get no advice, the others work. */
static void the_table_is_bounded(void)
{
	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < 6; i++)
		for (uint64_t opening = 1; opening <= 100000; opening++)
			reads(opening, (int64_t)i * S);
	CHECK_INT(advices, 0);
	read_strides(200001, 6);
	CHECK_INT(advices, 1);
	CHECK_INT(advised[0].fd, 200001);
}

#define THREADS 4
#define ROUNDS 2000

static void *thread_strides(void *arg)
{
	uint64_t opening = 100 + (uint64_t)(uintptr_t)arg;

	read_strides(opening, ROUNDS);
	return NULL;
}

static void threads_with_separate_files_do_not_interfere(void)
{
	static const char *const with[] = { "dormant", "no", NULL };
	pthread_t threads[THREADS];

	CHECK_INT(start(with), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, thread_strides, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(advices, THREADS * (ROUNDS - 5));
}

static void *thread_shares(void *unused)
{
	(void)unused;
	read_strides(7, 20000);
	return NULL;
}

/* A thread that finds the slot locked skips the call; the sanitizers must find no race. */
static void threads_may_share_a_file(void)
{
	pthread_t threads[THREADS];

	CHECK_INT(start(NULL), 0);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, thread_shares, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	call_hook(called(CLASS_CLOSE, 7, -1, 0));
	atomic_store(&advices, 0);
	read_strides(7, 6);
	CHECK_INT(advices, 1);
}

static void a_restart_drops_the_state(void)
{
	CHECK_INT(start(NULL), 0);
	read_strides(7, 5);
	CHECK_INT(start(NULL), 0);
	reads(7, 5 * S);
	CHECK_INT(advices, 0);
}

static void advice_of_the_program_has_priority(void)
{
	CHECK_INT(start(NULL), 0);
	yields = 0;
	read_strides(7, 8);
	CHECK_INT(advices, 3);
	call_hook(called(CLASS_ADVISE, 7, 0, 0));
	call_hook(called(CLASS_ADVISE, 8, 0, 0));
	read_strides(8, 20);
	for (int i = 8; i < 20; i++)
		reads(7, (int64_t)i * S);
	CHECK_INT(advices, 3);
	/* It is noted once per opening, and only where the plug-in would have acted. */
	CHECK_INT(yields, 2);
	call_hook(called(CLASS_ADVISE, 9, 0, 0));
	read_strides(9, 3);
	CHECK_INT(yields, 2);
}

static void invalid_options_are_rejected(void)
{
	static const char *const wrong[][3] = {
		{ "threshold", "0", NULL },  { "threshold", "four", NULL },
		{ "depth", "", NULL },	     { "depth", "99999", NULL },
		{ "slow_us", "-1", NULL },   { "dormant", "maybe", NULL },
		{ "sequential", "1", NULL }, { "idle_ns", "99999999999999999999", NULL },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_INT(start(wrong[i]), -22);
}

TESTS(TEST(first_advice_follows_the_sixth_read), TEST(threshold_can_be_set),
      TEST(backward_strides_are_advised_until_the_beginning), TEST(random_offsets_get_no_advice),
      TEST(a_wrong_prediction_starts_again), TEST(sockets_and_streams_get_no_advice),
      TEST(failed_and_empty_reads_change_nothing), TEST(sequential_reads_are_left_to_the_kernel),
      TEST(repeated_reads_are_not_a_stride), TEST(a_close_drops_the_state),
      TEST(the_position_follows_reads_and_seeks), TEST(an_assumed_position_is_confirmed_first),
      TEST(slow_reads_increase_the_depth), TEST(depth_can_be_fixed),
      TEST(cached_files_become_dormant), TEST(a_slow_advice_keeps_a_file_awake),
      TEST(files_that_reject_advice_get_no_more), TEST(interleaved_files_are_distinguished),
      TEST(the_table_is_bounded), TEST(threads_with_separate_files_do_not_interfere),
      TEST(threads_may_share_a_file), TEST(a_restart_drops_the_state),
      TEST(advice_of_the_program_has_priority), TEST(invalid_options_are_rejected))
