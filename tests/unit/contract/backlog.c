/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The backlog: which target a new file gets, from the bytes and calls that were reported.
 */
#include "contract/backlog.h"

#include "check.h"

#define MIB (UINT64_C(1) << 20)
#define SECOND UINT64_C(1000000000)
#define NOW (1000 * SECOND)
enum { TARGETS = 4, PID = 100 };

static struct backlog backlog;
static struct backlog_view view;
static uint16_t indices[TARGETS], weights[TARGETS];
static _Atomic uint32_t files[TARGETS];
static struct backlog_choice choice;

/* An empty backlog with four targets that are equal by forecast; files have 1 MiB. */
static void start(void)
{
	memset(&backlog, 0, sizeof(backlog));
	for (int i = 0; i < TARGETS; i++) {
		int at = backlog_find_target(&backlog, backlog_key((char[]){ 'a', (char)i }, 2));

		REQUIRE(at >= 0);
		indices[i] = (uint16_t)at;
		weights[i] = 100;
		files[i] = 0;
	}
	choice = (struct backlog_choice){ .count = TARGETS,
					  .targets = indices,
					  .weights = weights,
					  .bytes = MIB,
					  .now_ns = NOW };
}

static unsigned choose(void)
{
	return backlog_choose(&backlog, &choice, &view);
}

static struct backlog_file *add_file(unsigned target, uint64_t bytes)
{
	return backlog_add_file(&backlog, indices[target], PID, bytes, choice.now_ns);
}

/* A call from now on that takes so many seconds. */
static void make_call(struct backlog_file *file, enum backlog_call call, uint64_t bytes,
		      double seconds)
{
	uint64_t begin = choice.now_ns;

	backlog_begin_call(file, call, bytes, begin);
	choice.now_ns += (uint64_t)(seconds * 1e9);
	backlog_end_call(&backlog, file, call, bytes, begin, choice.now_ns);
}

/* Shows the rate of a target by one synchronous write. */
static void show_rate(unsigned target, double mib_per_s)
{
	struct backlog_file *file = add_file(target, MIB);

	make_call(file, BACKLOG_STORED_WRITE, 4 * MIB, 4 / mib_per_s);
	backlog_remove_file(&backlog, file, choice.now_ns);
}

static void equal_targets_take_turns(void)
{
	start();
	for (unsigned i = 0; i < 3 * TARGETS; i++) {
		choice.turn = i;
		CHECK_INT(choose(), i % TARGETS);
	}
}

/* A serial program has no file outstanding when it creates the next one. */
static void each_target_is_tried_and_similar_ones_share(void)
{
	start();
	choice.files = files;
	for (int i = 0; i < 40; i++) {
		unsigned at = choose();

		files[at]++;
		show_rate(at, at == 3 ? 20 : at == 2 ? 110 : 100);
	}
	CHECK(files[3] >= 1 && files[3] <= 4);
	CHECK(files[0] >= 11 && files[1] >= 11 && files[2] >= 11);
}

static void open_files_move_new_ones_elsewhere(void)
{
	bool is_used[TARGETS] = { false };

	start();
	for (int i = 0; i < TARGETS; i++) {
		unsigned at = choose();

		CHECK(!is_used[at]);
		is_used[at] = true;
		REQUIRE(add_file(at, MIB));
	}
}

static void forecast_decides_until_something_was_seen(void)
{
	unsigned got[TARGETS] = { 0 };

	start();
	weights[2] = 300;
	for (int i = 0; i < 12; i++) {
		unsigned at = choose();

		got[at]++;
		add_file(at, MIB);
	}
	CHECK(got[2] >= 6 && got[2] <= 7);
	CHECK(got[0] >= 1 && got[0] <= 2);
}

static void each_write_updates_its_target(void)
{
	start();
	for (unsigned i = 0; i < TARGETS; i++)
		show_rate(i, i == 1 ? 400 : 100);
	CHECK_NEAR(backlog_rate(&backlog.targets[indices[1]], choice.now_ns) / (double)MIB, 400, 1);
	CHECK_INT(choose(), 1);
	/* A file of 400 MiB is outstanding there: the others finish a new one earlier. */
	add_file(1, 400 * MIB);
	CHECK(choose() != 1);
	/* It becomes slow. */
	start();
	for (unsigned i = 0; i < TARGETS; i++)
		show_rate(i, 100);
	show_rate(1, 2);
	for (unsigned i = 0; i < TARGETS; i++) {
		choice.turn = i;
		CHECK(choose() != 1);
	}
}

static void what_was_seen_is_forgotten(void)
{
	start();
	for (unsigned i = 0; i < TARGETS; i++)
		show_rate(i, i == 1 ? 10 : 100);
	weights[1] = 200;
	CHECK(choose() != 1);
	choice.now_ns += 40 * BACKLOG_HALF_LIFE_NS;
	CHECK_INT(choose(), 1);
}

static void call_that_does_not_return_slows_its_target(void)
{
	struct backlog_file *file;

	start();
	for (unsigned i = 0; i < TARGETS; i++)
		show_rate(i, i == 0 ? 200 : 100);
	file = add_file(0, 0);
	backlog_begin_call(file, BACKLOG_STORED_WRITE, 1, choice.now_ns);
	CHECK_INT(choose(), 0);
	choice.now_ns += SECOND;
	CHECK(choose() != 0);
}

static void concurrent_calls_add_up(void)
{
	struct backlog_file *file[4];

	start();
	for (int i = 0; i < 4; i++) {
		file[i] = add_file(0, MIB);
		backlog_begin_call(file[i], BACKLOG_STORED_WRITE, MIB, NOW);
	}
	for (int i = 0; i < 4; i++)
		backlog_end_call(&backlog, file[i], BACKLOG_STORED_WRITE, MIB, NOW, NOW + SECOND);
	CHECK_NEAR(backlog_rate(&backlog.targets[indices[0]], NOW + SECOND), 4 * MIB, 1);
}

static void page_cache_tells_nothing_until_the_sync(void)
{
	struct backlog_file *file;

	start();
	file = add_file(0, MIB);
	make_call(file, BACKLOG_CACHED_WRITE, 8 * MIB, 0.001);
	CHECK_NEAR(backlog_rate(&backlog.targets[indices[0]], choice.now_ns), 0, 0);
	make_call(file, BACKLOG_SYNC, 0, 2);
	CHECK_NEAR(backlog_rate(&backlog.targets[indices[0]], choice.now_ns), 4 * MIB, 1);
	/* A fast write is the cache's again; a slow one is the target's. */
	make_call(file, BACKLOG_CACHED_WRITE, 8 * MIB, 0.001);
	CHECK_NEAR(backlog_rate(&backlog.targets[indices[0]], choice.now_ns), 4 * MIB, 1);
	make_call(file, BACKLOG_CACHED_WRITE, 8 * MIB, 6);
	CHECK_NEAR(backlog_rate(&backlog.targets[indices[0]], choice.now_ns), 2 * MIB, 1);
}

static void cached_bytes_stay_outstanding_after_the_close(void)
{
	unsigned got[TARGETS] = { 0 };

	start();
	/* Nothing is ever synchronized: all targets get the same number of bytes. */
	for (int i = 0; i < 40; i++) {
		unsigned at = choose();
		struct backlog_file *file = add_file(at, MIB);

		got[at]++;
		make_call(file, BACKLOG_CACHED_WRITE, MIB, at == 2 ? 0.00001 : 0.001);
		make_call(file, BACKLOG_CLOSE, 0, 0.000001);
		backlog_remove_file(&backlog, file, choice.now_ns);
	}
	for (int i = 0; i < TARGETS; i++)
		CHECK(got[i] >= 8 && got[i] <= 12);
	/* At a known rate they are written after a while. */
	start();
	for (unsigned i = 0; i < TARGETS; i++)
		show_rate(i, i == 3 ? 200 : 100);
	CHECK_INT(choose(), 3);
	make_call(add_file(3, 0), BACKLOG_CACHED_WRITE, 100 * MIB, 0.0001);
	backlog_remove_process(&backlog, PID, choice.now_ns);
	CHECK(choose() != 3);
	choice.now_ns += 2 * SECOND;
	CHECK_INT(choose(), 3);
}

static void limits_of_the_site_hold(void)
{
	start();
	choice.files = files;
	choice.most = 1.5;
	choice.least = 0.5;
	weights[0] = 4000;
	weights[1] = 1;
	for (int i = 0; i < 64; i++)
		files[choose()]++;
	CHECK(files[0] <= 25 && files[0] >= 23);
	CHECK(files[1] >= 7);
}

static bool is_alive(int32_t pid)
{
	return pid != PID;
}

static void files_of_dead_processes_are_released(void)
{
	start();
	add_file(0, 100 * MIB);
	choice.is_alive = is_alive;
	CHECK(choose() != 0);
	choice.now_ns += 2 * BACKLOG_CHECK_NS;
	CHECK_INT(choose(), 0);
	CHECK_INT(backlog.files[0].owner, 0);
}

/* What a dead process has left in the cache is still written; without a known rate it is forgotten.
 */
static void cached_bytes_of_dead_processes_are_outstanding_for_a_while(void)
{
	struct backlog_file *file;

	start();
	file = add_file(0, 100 * MIB);
	make_call(file, BACKLOG_CACHED_WRITE, 8 * MIB, 0);
	choice.is_alive = is_alive;
	choice.now_ns += 2 * BACKLOG_CHECK_NS;
	CHECK(choose() != 0);
	CHECK_INT(file->owner, 0);
	CHECK_INT(backlog.targets[indices[0]].left, 8 * MIB);
	choice.now_ns += 6 * BACKLOG_HALF_LIFE_NS;
	CHECK_INT(choose(), 0);
}

/* Another process may have got the number of a dead one, or a program keeps a file open. */
static void file_without_calls_does_not_count_for_ever(void)
{
	struct backlog_file *file;

	start();
	file = add_file(0, 100 * MIB);
	CHECK(choose() != 0);
	choice.now_ns += 40 * BACKLOG_HALF_LIFE_NS;
	CHECK_INT(choose(), 0);
	/* A call that has not returned is different. */
	backlog_begin_call(file, BACKLOG_CACHED_WRITE, MIB, choice.now_ns);
	choice.now_ns += 40 * BACKLOG_HALF_LIFE_NS;
	CHECK(choose() != 0);
}

static void backlog_of_another_format_or_start_is_not_valid(void)
{
	start();
	CHECK(!backlog_is_valid(&backlog, NOW));
	backlog.magic = BACKLOG_MAGIC;
	show_rate(1, 10);
	CHECK(backlog_is_valid(&backlog, choice.now_ns));
	CHECK(!backlog_is_valid(&backlog, SECOND));
}

static void full_backlog_is_no_failure(void)
{
	start();
	for (int i = 0; i < BACKLOG_FILES; i++)
		REQUIRE(add_file(0, MIB));
	CHECK(!add_file(0, MIB));
	for (uint64_t key = 1; backlog_find_target(&backlog, key) >= 0; key++)
		;
	CHECK(choose() != 0);
}

TESTS(TEST(equal_targets_take_turns), TEST(each_target_is_tried_and_similar_ones_share),
      TEST(open_files_move_new_ones_elsewhere), TEST(forecast_decides_until_something_was_seen),
      TEST(each_write_updates_its_target), TEST(what_was_seen_is_forgotten),
      TEST(call_that_does_not_return_slows_its_target), TEST(concurrent_calls_add_up),
      TEST(page_cache_tells_nothing_until_the_sync),
      TEST(cached_bytes_stay_outstanding_after_the_close), TEST(limits_of_the_site_hold),
      TEST(files_of_dead_processes_are_released),
      TEST(cached_bytes_of_dead_processes_are_outstanding_for_a_while),
      TEST(file_without_calls_does_not_count_for_ever),
      TEST(backlog_of_another_format_or_start_is_not_valid), TEST(full_backlog_is_no_failure))
