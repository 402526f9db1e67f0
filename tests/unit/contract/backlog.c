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

/* What other users have at a target, in MiB and MiB/s; rate 0: nothing was seen. */
static struct backlog_sum others[BACKLOG_TARGETS];

static void hear(unsigned target, uint64_t outstanding, double mib_per_s)
{
	others[indices[target]].outstanding = outstanding * MIB;
	others[indices[target]].bytes = mib_per_s > 0 ? 64 * MIB : 0;
	others[indices[target]].busy_ns = mib_per_s > 0 ? (uint64_t)(64e9 / mib_per_s) : 0;
	backlog_set_others(&backlog, others, choice.now_ns);
}

static void start_with_others(void)
{
	start();
	memset(others, 0, sizeof(others));
}

static void bytes_of_others_move_new_files_elsewhere(void)
{
	start_with_others();
	CHECK_INT(choose(), 0);
	hear(0, 1, 0);
	hear(1, 1, 0);
	hear(2, 1, 0);
	CHECK_INT(choose(), 3);
	/* Also if the rates are known, and if it is little. */
	for (unsigned i = 0; i < TARGETS; i++)
		show_rate(i, 100);
	for (unsigned i = 0; i < TARGETS - 1; i++)
		others[indices[i]].outstanding = MIB / 8;
	backlog_set_others(&backlog, others, choice.now_ns);
	CHECK_INT(choose(), 3);
}

static void old_words_of_others_do_not_count(void)
{
	start_with_others();
	hear(0, 1, 0);
	choice.now_ns += BACKLOG_OTHERS_NS;
	CHECK(choose() != 0);
	choice.now_ns++;
	CHECK_INT(choose(), 0);
	/* Nor those from before a restart of the machine. */
	choice.now_ns = NOW;
	backlog.others_ns = NOW + 2 * BACKLOG_CHECK_NS;
	CHECK_INT(choose(), 0);
}

static void rates_of_others_count_until_there_are_own_ones(void)
{
	start_with_others();
	hear(0, 0, 5);
	for (unsigned i = 1; i < TARGETS; i++)
		hear(i, 0, 100);
	CHECK(choose() != 0);
	/* Own writes show that the target is as fast as the others. */
	for (unsigned i = 0; i < TARGETS; i++)
		for (int k = 0; k < 4; k++)
			show_rate(i, 100);
	hear(0, 0, 60);
	CHECK_INT(choose(), 0);
}

/* Whoever claims that all but one are loaded, or that one is fast, decides little. */
static void others_are_believed_within_limits(void)
{
	unsigned got[TARGETS] = { 0 };

	for (int own = 0; own < 2; own++) {
		start_with_others();
		memset(got, 0, sizeof(got));
		for (unsigned i = 0; own && i < TARGETS; i++)
			show_rate(i, 100);
		for (unsigned i = 0; i < TARGETS - 1; i++) {
			others[indices[i]] = (struct backlog_sum){ 0, UINT64_MAX, 1, UINT64_MAX };
			backlog_set_others(&backlog, others, choice.now_ns);
		}
		for (int i = 0; i < 44; i++) {
			unsigned at = choose();

			got[at]++;
			REQUIRE(add_file(at, MIB));
		}
		for (unsigned i = 0; i < TARGETS - 1; i++)
			CHECK(got[i] >= 3 && got[i] <= 5);
		CHECK(got[TARGETS - 1] >= 8 * 4 - 4);
	}
	/* A target that is said to be fast does not become faster than it is known to be. */
	start_with_others();
	for (unsigned i = 0; i < TARGETS; i++)
		show_rate(i, i == 2 ? 10 : 100);
	others[indices[2]] = (struct backlog_sum){ 0, 0, UINT64_MAX, 1 };
	backlog_set_others(&backlog, others, choice.now_ns);
	for (unsigned i = 0; i < TARGETS; i++) {
		choice.turn = i;
		CHECK(choose() != 2);
	}
}

static void forecast_decides_among_what_others_have_not_seen(void)
{
	start_with_others();
	weights[2] = 300;
	hear(0, 0, 100);
	CHECK_INT(choose(), 2);
}

static void sums_are_those_of_the_backlog(void)
{
	static struct backlog_sum sums[BACKLOG_TARGETS];
	struct backlog_file *file;

	start();
	show_rate(1, 50);
	make_call(add_file(1, 3 * MIB), BACKLOG_CACHED_WRITE, MIB, 0);
	file = add_file(2, MIB);
	make_call(file, BACKLOG_CACHED_WRITE, 5 * MIB, 0);
	backlog_remove_file(&backlog, file, choice.now_ns);
	backlog_sum_up(&backlog, choice.now_ns, &view, sums);
	CHECK_INT(sums[indices[1]].outstanding, 2 * MIB);
	CHECK_INT(sums[indices[1]].bytes, 4 * MIB);
	CHECK_NEAR(sums[indices[1]].busy_ns, 0.08e9, 1e3);
	CHECK_INT(sums[indices[2]].outstanding, 5 * MIB);
	CHECK_INT(sums[indices[0]].outstanding + sums[indices[0]].bytes, 0);
	CHECK(sums[indices[0]].key && !sums[TARGETS].key);
	/* A call that does not return shows that the target is slow. */
	file = add_file(1, MIB);
	backlog_begin_call(file, BACKLOG_STORED_WRITE, MIB, choice.now_ns);
	backlog_sum_up(&backlog, choice.now_ns + SECOND, &view, sums);
	CHECK_INT(sums[indices[1]].bytes, 5 * MIB);
	CHECK_NEAR(sums[indices[1]].busy_ns, 1.08e9, 1e3);
}

/* Whatever is in the memory, which its user can write. */
static void sums_of_garbage_are_limited(void)
{
	static struct backlog_sum sums[BACKLOG_TARGETS];
	unsigned char bytes[] = { 0xff, 0x7f, 0x80, 0x01, 0xa5 };

	for (size_t k = 0; k < sizeof(bytes); k++) {
		memset(&backlog, bytes[k], sizeof(backlog));
		backlog_sum_up(&backlog, NOW, &view, sums);
		for (int i = 0; i < BACKLOG_TARGETS; i++) {
			CHECK(sums[i].outstanding <= BACKLOG_SUM_MAX);
			CHECK(sums[i].bytes <= BACKLOG_SUM_MAX);
			CHECK(sums[i].busy_ns <= BACKLOG_SUM_MAX);
		}
	}
	for (size_t i = 0; i < sizeof(backlog); i++)
		((unsigned char *)&backlog)[i] = (unsigned char)(i * 2654435761u >> 13);
	for (int i = 0; i < TARGETS; i++)
		indices[i] = (uint16_t)i;
	CHECK(choose() < TARGETS);
}

static double shares[TARGETS];

static bool has_share(unsigned target, double share)
{
	return shares[target] > share - 0.02 && shares[target] < share + 0.02;
}

static void find_shares(void)
{
	double sum = 0;

	backlog_shares(&backlog, &choice, &view, shares);
	for (unsigned i = 0; i < TARGETS; i++)
		sum += shares[i];
	CHECK(sum > 1 - 1e-9 && sum < 1 + 1e-9);
}

static void file_on_several_targets_follows_their_rates(void)
{
	start();
	weights[0] = 200;
	find_shares();
	CHECK(has_share(0, 0.4) && has_share(3, 0.2));
	/* Rates that were seen often count more than the forecast. */
	for (int i = 0; i < 100; i++) {
		show_rate(0, 40);
		show_rate(1, 80);
		show_rate(2, 40);
		show_rate(3, 40);
	}
	find_shares();
	CHECK(has_share(0, 0.2) && has_share(1, 0.4) && has_share(2, 0.2) && has_share(3, 0.2));
	/* What is outstanding does not count. */
	add_file(1, 4096 * MIB);
	find_shares();
	CHECK(has_share(1, 0.4));
}

/* A file that is placed can try a target; one that is on all of them would wait for it. */
static void unseen_target_has_no_larger_share_than_by_forecast(void)
{
	start();
	for (int i = 0; i < 100; i++)
		show_rate((unsigned)i % 3, 40);
	find_shares();
	CHECK(has_share(3, 0.25));
	CHECK_INT(choose(), 3);
}

static void shares_respect_the_limits_of_the_site(void)
{
	start();
	weights[0] = 1000;
	choice.most = 1.2;
	find_shares();
	CHECK(has_share(0, 0.3) && has_share(1, 0.7 / 3));
	weights[0] = 1;
	choice.least = 0.5;
	find_shares();
	CHECK(has_share(0, 0.125) && has_share(1, 0.875 / 3));
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
      TEST(backlog_of_another_format_or_start_is_not_valid), TEST(full_backlog_is_no_failure),
      TEST(bytes_of_others_move_new_files_elsewhere), TEST(old_words_of_others_do_not_count),
      TEST(rates_of_others_count_until_there_are_own_ones), TEST(others_are_believed_within_limits),
      TEST(forecast_decides_among_what_others_have_not_seen), TEST(sums_are_those_of_the_backlog),
      TEST(sums_of_garbage_are_limited), TEST(file_on_several_targets_follows_their_rates),
      TEST(unseen_target_has_no_larger_share_than_by_forecast),
      TEST(shares_respect_the_limits_of_the_site))
