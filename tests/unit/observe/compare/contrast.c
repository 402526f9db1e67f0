/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/compare/contrast.h"

#include "base/mem.h"
#include "check.h"
#include "learn/math/random.h"

#define RUNS_MOST 12

/* Both sides of a comparison, with rows that the tests add. */
struct sample {
	struct account accounts[SIDES][RUNS_MOST];
	size_t runs[SIDES];
	struct contrast contrast;
};

static struct account_row *add_row(struct account *account, enum account_table table,
				   const char *name, double calls, double time_ns)
{
	struct account_row *row;

	account->rows = xgrow(account->rows, &account->cap, account->count + 1, sizeof(*row));
	row = &account->rows[account->count++];
	*row = (struct account_row){ .table = table, .name = xstrdup(name) };
	row->sums[ACCOUNT_CALLS] = calls;
	row->sums[ACCOUNT_TIME_NS] = time_ns;
	return row;
}

static void sample_init(struct sample *sample, size_t a, size_t b)
{
	*sample = (struct sample){ .runs = { a, b } };
	for (int side = 0; side < SIDES; side++) {
		for (size_t i = 0; i < sample->runs[side]; i++) {
			struct account *account = &sample->accounts[side][i];

			*account = (struct account){ .command = xstrdup("./app"),
						     .directory = xstrdup("/old"),
						     .is_recorded = true };
			add_row(account, ACCOUNT_RUN, ACCOUNT_REQUESTED, 100, 1e6)
				->sums[ACCOUNT_RUN_NS] = 1e9;
		}
	}
}

static void sample_compare(struct sample *sample, enum contrast_measure primary, size_t top)
{
	const struct account *accounts[SIDES] = { sample->accounts[SIDE_A],
						  sample->accounts[SIDE_B] };

	contrast_init(&sample->contrast, accounts, sample->runs, primary, top);
}

static void sample_release(struct sample *sample)
{
	contrast_release(&sample->contrast);
	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; i < sample->runs[side]; i++)
			account_release(&sample->accounts[side][i]);
}

static const struct difference *find(const struct sample *sample, enum account_table table,
				     const char *name, enum contrast_measure measure)
{
	const struct contrast_row *row = contrast_find(&sample->contrast, table, name);

	REQUIRE(row);
	return &row->differences[measure];
}

static void one_run_of_each_compares_counts_but_not_times(void)
{
	struct sample s;
	const struct difference *d;

	sample_init(&s, 1, 1);
	add_row(&s.accounts[SIDE_A][0], ACCOUNT_FUNCTIONS, "write", 1000, 1e6);
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FUNCTIONS, "write", 10000, 1e9);
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	CHECK(!s.contrast.is_testable);
	d = find(&s, ACCOUNT_FUNCTIONS, "write", CONTRAST_CALLS);
	CHECK(d->verdict == VERDICT_EXACT && d->ratio == 10);
	CHECK(difference_exceeds(d, 9.9) && !difference_exceeds(d, 10));
	d = find(&s, ACCOUNT_FUNCTIONS, "write", CONTRAST_TIME);
	CHECK(d->verdict == VERDICT_UNTESTED && isnan(d->low));
	CHECK(!difference_is_real(d) && !difference_exceeds(d, 1.1));
	sample_release(&s);
}

/* Run times of 4 against 4 runs; the slowest of A is 1.04 s. */
static void set_run_times(struct sample *s, double b_factor)
{
	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; i < s->runs[side]; i++)
			s->accounts[side][i].rows[0].sums[ACCOUNT_RUN_NS] =
				(1e9 + 1e7 * (double)i) * (side == SIDE_B ? b_factor : 1);
}

static void four_runs_of_each_prove_a_clear_difference(void)
{
	struct sample s;
	const struct difference *d;

	sample_init(&s, 4, 4);
	set_run_times(&s, 1.5);
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	d = contrast_primary(&s.contrast);
	CHECK(d->verdict == VERDICT_SIGNIFICANT);
	CHECK(d->low > 1.4 && d->low < 1.5 && d->high > 1.5 && d->high < 1.6);
	CHECK_NEAR(d->ratio, 1.5, 0.02);
	CHECK(difference_exceeds(d, 1.1));
	/* The estimate exceeds 49 %, but the interval does not. */
	CHECK(!difference_exceeds(d, 1.49));
	sample_release(&s);
}

static void noise_is_never_claimed(void)
{
	struct sample s;
	const struct difference *d;

	sample_init(&s, 4, 4);
	set_run_times(&s, 1.01);
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	d = contrast_primary(&s.contrast);
	CHECK(d->verdict == VERDICT_NOISE);
	CHECK(d->low < 1 && d->high > 1);
	CHECK(!difference_exceeds(d, 1));
	sample_release(&s);
}

static void rows_that_one_side_lacks_differ_exactly(void)
{
	struct sample s;
	const struct difference *d;

	sample_init(&s, 2, 1);
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FUNCTIONS, "fsync", 5, 1e6);
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	d = find(&s, ACCOUNT_FUNCTIONS, "fsync", CONTRAST_CALLS);
	CHECK(d->verdict == VERDICT_EXACT && isinf(d->ratio));
	CHECK(find(&s, ACCOUNT_FUNCTIONS, "fsync", CONTRAST_TIME_PER_CALL)->verdict ==
	      VERDICT_UNDEFINED);
	sample_release(&s);
}

static void counts_that_vary_need_a_test(void)
{
	static const double calls[] = { 10, 12, 11, 13, 10 };
	struct sample s;

	sample_init(&s, 5, 5);
	for (int side = 0; side < SIDES; side++) {
		for (size_t i = 0; i < 5; i++) {
			add_row(&s.accounts[side][i], ACCOUNT_FUNCTIONS, "poll",
				calls[i] + (side == SIDE_B), 1e3);
			add_row(&s.accounts[side][i], ACCOUNT_FUNCTIONS, "read",
				calls[i] * (side == SIDE_B ? 10 : 1), 1e3);
		}
	}
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	CHECK(find(&s, ACCOUNT_FUNCTIONS, "poll", CONTRAST_CALLS)->verdict == VERDICT_NOISE);
	CHECK(find(&s, ACCOUNT_FUNCTIONS, "read", CONTRAST_CALLS)->verdict == VERDICT_SIGNIFICANT);
	sample_release(&s);
}

/* 20 functions without a difference: with a test of 5 % for each, most comparisons would claim
 * one. */
static void equal_sides_are_rarely_called_different(void)
{
	enum { ROUNDS = 200, FUNCTIONS = 20, RUNS = 8 };
	struct random random;
	size_t claims = 0;

	random_init(&random, 5);
	for (int round = 0; round < ROUNDS; round++) {
		struct sample s;
		bool claimed = false;

		sample_init(&s, RUNS, RUNS);
		for (int f = 0; f < FUNCTIONS; f++) {
			char name[8] = { 'f', (char)('a' + f) };

			for (int side = 0; side < SIDES; side++)
				for (size_t i = 0; i < RUNS; i++)
					add_row(&s.accounts[side][i], ACCOUNT_FUNCTIONS, name, 7,
						1e6 * exp(0.2 * random_normal(&random)));
		}
		sample_compare(&s, CONTRAST_RUN_TIME, 100);
		for (size_t i = 0; i < s.contrast.count; i++)
			for (int k = 0; k < CONTRAST_MEASURES; k++)
				claimed |= difference_is_real(&s.contrast.rows[i].differences[k]);
		claims += claimed;
		sample_release(&s);
	}
	CHECK(claims <= 0.09 * ROUNDS);
}

static void files_with_variable_names_are_matched(void)
{
	struct sample s;
	const struct difference *d;

	sample_init(&s, 2, 1);
	add_row(&s.accounts[SIDE_A][0], ACCOUNT_FILES, "/tmp/x.aB3dEf", 1, 1);
	add_row(&s.accounts[SIDE_A][1], ACCOUNT_FILES, "/tmp/x.Zz9yXw", 1, 1);
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FILES, "/tmp/x.q1W2e3", 1, 1);
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FILES, "/tmp/x.R4t5Y6", 1, 1);
	/* On both sides. */
	add_row(&s.accounts[SIDE_A][0], ACCOUNT_FILES, "/data/10000", 2, 1);
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FILES, "/data/10000", 2, 1);
	/* Different files of a single run. */
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FILES, "/other/20001", 2, 1);
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FILES, "/other/20002", 2, 1);
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	CHECK_INT(s.contrast.patterns, 1);
	CHECK_INT(contrast_find(&s.contrast, ACCOUNT_FILES, "/tmp/x.{random}")->files, 2);
	d = find(&s, ACCOUNT_FILES, "/tmp/x.{random}", CONTRAST_CALLS);
	CHECK(d->verdict == VERDICT_EXACT && d->ratio == 2);
	CHECK(contrast_find(&s.contrast, ACCOUNT_FILES, "/data/10000"));
	CHECK(contrast_find(&s.contrast, ACCOUNT_FILES, "/other/20001"));
	CHECK(contrast_find(&s.contrast, ACCOUNT_FILES, "/other/20002"));
	sample_release(&s);
}

static void directories_of_the_runs_do_not_matter(void)
{
	struct sample s;

	sample_init(&s, 1, 1);
	free(s.accounts[SIDE_B][0].directory);
	s.accounts[SIDE_B][0].directory = xstrdup("/new");
	add_row(&s.accounts[SIDE_A][0], ACCOUNT_FILES, "/old/out/x", 1, 1);
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FILES, "/new/out/x", 1, 1);
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	CHECK(find(&s, ACCOUNT_FILES, "out/x", CONTRAST_CALLS)->verdict == VERDICT_SAME);
	sample_release(&s);
}

static void statistics_that_were_not_sampled_are_not_zero(void)
{
	struct sample s;

	sample_init(&s, 1, 1);
	add_row(&s.accounts[SIDE_A][0], ACCOUNT_NODE, "utilization/cpu", 0, 0)
		->sums[ACCOUNT_LEVEL] = 50;
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	CHECK(find(&s, ACCOUNT_NODE, "utilization/cpu", CONTRAST_LEVEL)->verdict ==
	      VERDICT_UNDEFINED);
	sample_release(&s);
}

static void the_rows_with_the_most_time_are_compared(void)
{
	struct sample s;

	sample_init(&s, 1, 1);
	add_row(&s.accounts[SIDE_A][0], ACCOUNT_FUNCTIONS, "short", 1, 10);
	add_row(&s.accounts[SIDE_B][0], ACCOUNT_FUNCTIONS, "long", 1, 100);
	add_row(&s.accounts[SIDE_A][0], ACCOUNT_FUNCTIONS, "middle", 1, 50);
	sample_compare(&s, CONTRAST_RUN_TIME, 2);
	CHECK_INT(s.contrast.left_out[ACCOUNT_FUNCTIONS], 1);
	CHECK(!contrast_find(&s.contrast, ACCOUNT_FUNCTIONS, "short"));
	CHECK(contrast_find(&s.contrast, ACCOUNT_RUN, ACCOUNT_REQUESTED));
	sample_release(&s);
}

static void runs_that_were_only_timed_have_no_counts(void)
{
	struct sample s = { .runs = { 1, 1 } };

	account_init_time(&s.accounts[SIDE_A][0], "a", 1, 0);
	account_init_time(&s.accounts[SIDE_B][0], "b", 2, 0);
	sample_compare(&s, CONTRAST_RUN_TIME, 15);
	CHECK_NEAR(contrast_primary(&s.contrast)->ratio, 2, 1e-9);
	CHECK(find(&s, ACCOUNT_RUN, ACCOUNT_REQUESTED, CONTRAST_CALLS)->verdict ==
	      VERDICT_UNDEFINED);
	sample_release(&s);
}

/* Sockets change most and take the most time, but they are not what the program does. */
static void rows_aside_come_last(void)
{
	struct sample s;

	sample_init(&s, 1, 1);
	for (int side = 0; side < SIDES; side++) {
		struct account *account = &s.accounts[side][0];

		add_row(account, ACCOUNT_FUNCTIONS, "(sockets and pipes)", side + 1, side * 1e9)
			->is_aside = true;
		add_row(account, ACCOUNT_FUNCTIONS, "write", side + 3, 1e3);
		add_row(account, ACCOUNT_FUNCTIONS, "read", 1, 1e2);
	}
	sample_compare(&s, CONTRAST_RUN_TIME, 3);
	REQUIRE(s.contrast.count == 4);
	CHECK_TEXT(s.contrast.rows[1].name, "read");
	CHECK_TEXT(s.contrast.rows[2].name, "write");
	CHECK_TEXT(s.contrast.rows[3].name, "(sockets and pipes)");
	contrast_release(&s.contrast);
	sample_compare(&s, CONTRAST_RUN_TIME, 2);
	CHECK_INT(s.contrast.count, 3);
	CHECK_INT(s.contrast.left_out[ACCOUNT_FUNCTIONS], 1);
	CHECK(!contrast_find(&s.contrast, ACCOUNT_FUNCTIONS, "(sockets and pipes)"));
	sample_release(&s);
}

TESTS(TEST(rows_aside_come_last), TEST(one_run_of_each_compares_counts_but_not_times),
      TEST(four_runs_of_each_prove_a_clear_difference), TEST(noise_is_never_claimed),
      TEST(rows_that_one_side_lacks_differ_exactly), TEST(counts_that_vary_need_a_test),
      TEST(equal_sides_are_rarely_called_different), TEST(files_with_variable_names_are_matched),
      TEST(directories_of_the_runs_do_not_matter),
      TEST(statistics_that_were_not_sampled_are_not_zero),
      TEST(the_rows_with_the_most_time_are_compared),
      TEST(runs_that_were_only_timed_have_no_counts))
