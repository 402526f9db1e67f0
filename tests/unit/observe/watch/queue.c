/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-15, SIOX-27, SIOX-AC-16.
 */
#include "observe/watch/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define MESSAGES 20000
/* The smallest possible queue. */
#define SMALL (2 * QUEUE_CHUNK_BYTES)

static bool push_text(struct queue *q, uint32_t kind, const char *text)
{
	void *at = queue_room(q, strlen(text) + 1);

	if (!at)
		return false;
	memcpy(at, text, strlen(text) + 1);
	queue_push(q, kind, strlen(text) + 1);
	return true;
}

static void messages_come_whole_and_in_order(void)
{
	struct queue *q = queue_new(SMALL);
	size_t bytes;
	uint32_t kind;
	const char *text;

	REQUIRE(q);
	CHECK(!queue_peek(q, &kind, &bytes));
	CHECK(push_text(q, 7, "one"));
	CHECK(push_text(q, 8, "number two"));
	text = queue_peek(q, &kind, &bytes);
	CHECK_TEXT(text, "one");
	CHECK_INT(kind, 7);
	CHECK_INT(bytes, 4);
	CHECK(queue_peek(q, &kind, &bytes) == text); /* until it is popped */
	queue_pop(q);
	text = queue_peek(q, &kind, &bytes);
	CHECK_TEXT(text, "number two");
	CHECK_INT(kind, 8);
	queue_pop(q);
	CHECK(!queue_peek(q, &kind, &bytes));
	queue_free(q);
}

static void a_full_queue_refuses_until_it_is_read(void)
{
	struct queue *q = queue_new(SMALL);
	size_t pushed = 0, taken = 0, bytes;
	uint32_t kind;

	REQUIRE(q);
	while (queue_room(q, 1000)) {
		queue_push(q, (uint32_t)pushed++, 1000);
		REQUIRE(pushed <= SMALL);
	}
	CHECK_INT(pushed, 2 * (QUEUE_CHUNK_BYTES / 1008));
	/* A chunk is returned when all of it was read and the next one is accessed. */
	for (size_t i = 0; i <= pushed / 2; i++) {
		CHECK(queue_peek(q, &kind, &bytes));
		CHECK_INT(kind, taken++);
		queue_pop(q);
	}
	REQUIRE(queue_room(q, 1000));
	queue_push(q, (uint32_t)pushed++, 1000);
	while (queue_peek(q, &kind, &bytes)) {
		CHECK_INT(kind, taken++);
		queue_pop(q);
	}
	CHECK_INT(taken, pushed);
	queue_free(q);
}

static void a_fast_consumer_uses_few_chunks(void)
{
	struct queue *q = queue_new(100 * QUEUE_CHUNK_BYTES);
	const char *lowest = NULL, *highest = NULL;
	size_t bytes;
	uint32_t kind;

	REQUIRE(q);
	for (int i = 0; i < 1000; i++) {
		const char *at = queue_room(q, 20000);

		REQUIRE(at);
		lowest = !lowest || at < lowest ? at : lowest;
		highest = at > highest ? at : highest;
		queue_push(q, 1, 20000);
		CHECK(queue_peek(q, &kind, &bytes));
		queue_pop(q);
	}
	CHECK(highest - lowest < 2 * (long)QUEUE_CHUNK_BYTES);
	queue_free(q);
}

static void a_message_that_never_fits_is_refused(void)
{
	struct queue *q = queue_new(SMALL);

	REQUIRE(q);
	CHECK(!queue_room(q, QUEUE_MESSAGE_MAX + 1));
	CHECK(!queue_room(q, SIZE_MAX));
	for (int i = 0; i < 2; i++) {
		CHECK(queue_room(q, QUEUE_MESSAGE_MAX));
		queue_push(q, 1, QUEUE_MESSAGE_MAX);
	}
	CHECK(!queue_room(q, 0));
	queue_free(q);
}

static void a_queue_ends_when_it_is_finished_and_empty(void)
{
	struct queue *q = queue_new(SMALL);
	size_t bytes;
	uint32_t kind;

	REQUIRE(q);
	CHECK(push_text(q, 1, "x"));
	CHECK(!queue_is_over(q));
	queue_finish(q);
	CHECK(!queue_is_over(q));
	CHECK(queue_peek(q, &kind, &bytes));
	queue_pop(q);
	CHECK(queue_is_over(q));
	queue_free(q);
}

/* Sizes differ, so that chunks end at different places. */
static size_t length_of(uint64_t number)
{
	return 8 + number * 7919 % 6000;
}

static bool number_push(struct queue *q, uint64_t number)
{
	size_t n = length_of(number);
	unsigned char *at = queue_room(q, n);

	if (!at)
		return false;
	memcpy(at, &number, sizeof(number));
	memset(at + 8, (int)(number & 255), n - 8);
	queue_push(q, (uint32_t)(number & 1023), n);
	return true;
}

/* Expects this number next; false if there is none yet. */
static bool number_take(struct queue *q, uint64_t number)
{
	size_t bytes;
	uint32_t kind;
	const unsigned char *at = queue_peek(q, &kind, &bytes);

	if (!at)
		return false;
	if (kind != (number & 1023) || bytes != length_of(number) || memcmp(at, &number, 8) ||
	    at[bytes - 1] != (bytes > 8 ? (number & 255) : at[bytes - 1])) {
		check_failures++;
		printf("message %llu is torn\n", (unsigned long long)number);
	}
	queue_pop(q);
	return true;
}

static void *producer(void *arg)
{
	for (uint64_t i = 0; i < MESSAGES; i++)
		while (!number_push(arg, i))
			sched_yield();
	queue_finish(arg);
	return NULL;
}

static void two_threads_lose_and_tear_nothing(void)
{
	struct queue *q = queue_new(SMALL);
	uint64_t next = 0;
	pthread_t thread;

	REQUIRE(q);
	REQUIRE(pthread_create(&thread, NULL, producer, q) == 0);
	while (!queue_is_over(q)) {
		if (number_take(q, next))
			next++;
		else
			sched_yield();
	}
	pthread_join(thread, NULL);
	CHECK_INT(next, MESSAGES);
	queue_free(q);
}

static void two_processes_lose_and_tear_nothing(void)
{
	struct queue *q = queue_new(SMALL);
	uint64_t next = 0;
	int status = -1;
	pid_t pid;

	REQUIRE(q);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		producer(q);
		_exit(0);
	}
	while (!queue_is_over(q)) {
		if (number_take(q, next))
			next++;
		else
			sched_yield();
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
	CHECK_INT(next, MESSAGES);
	queue_free(q);
}

TESTS(TEST(messages_come_whole_and_in_order), TEST(a_full_queue_refuses_until_it_is_read),
      TEST(a_fast_consumer_uses_few_chunks), TEST(a_message_that_never_fits_is_refused),
      TEST(a_queue_ends_when_it_is_finished_and_empty), TEST(two_threads_lose_and_tear_nothing),
      TEST(two_processes_lose_and_tear_nothing))
