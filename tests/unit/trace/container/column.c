/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/container/column.h"

#include "base/buf.h"
#include "base/mem.h"
#include "trace_sample.h"

#define N 1000

static uint64_t values[N], others[N];

static size_t encoded(struct buf *out, enum column_guess guess, const uint32_t *order)
{
	buf_clear(out);
	column_put(out, &(struct column_source){ .values = values,
						 .other = others,
						 .order = order,
						 .count = N,
						 .guess = guess });
	return out->len;
}

static int decoded(const struct buf *in, size_t bytes, struct column *column,
		   enum column_guess guess)
{
	const uint8_t *at = (const uint8_t *)in->data;
	struct wire wire = { at, at + bytes, false };
	struct column other = { .values = others, .mask = SIZE_MAX };
	int r = column_get(&wire, column, N, &other, guess);

	return r < 0 ? r : (int)wire_left(&wire);
}

static void check_round_trip(enum column_guess guess)
{
	AUTO_BUF struct buf out = { 0 };
	struct column column = { 0 };
	size_t wrong = 0;

	CHECK_INT(decoded(&out, encoded(&out, guess, NULL), &column, guess), 0);
	for (size_t i = 0; i < N && column.values; i++)
		wrong += column_at(&column, i) != values[i];
	CHECK_INT(wrong, 0);
	column_release(&column);
}

static void every_value_is_exact(void)
{
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < N; i++) {
			values[i] = (uint64_t)sample_value() >> (round % 8) * 8;
			others[i] = (uint64_t)sample_value();
		}
		check_round_trip((enum column_guess)(round % 3));
	}
}

static void constant_steps_take_two_bytes_per_page(void)
{
	AUTO_BUF struct buf out = { 0 };

	for (int i = 0; i < N; i++)
		values[i] = (uint64_t)i * 3;
	CHECK(encoded(&out, GUESS_NONE, NULL) <= 1 + 4 * 2 + COLUMN_PAGE);
	check_round_trip(GUESS_NONE);
}

static void a_correct_guess_needs_no_space(void)
{
	AUTO_BUF struct buf out = { 0 };

	for (int i = 0; i < N; i++)
		others[i] = sample_random() % 100000;
	memcpy(values, others, sizeof(values));
	CHECK_INT(encoded(&out, GUESS_SAME, NULL), 1 + 4 * 2);
	check_round_trip(GUESS_SAME);
	values[0] = 0;
	for (int i = 1; i < N; i++)
		values[i] = values[i - 1] + others[i - 1];
	CHECK_INT(encoded(&out, GUESS_NEXT, NULL), 1 + 4 * 2);
	check_round_trip(GUESS_NEXT);
}

static void order_selects_the_rows(void)
{
	AUTO_BUF struct buf out = { 0 };
	uint32_t order[N];
	struct column column = { 0 };
	size_t wrong = 0;

	for (uint32_t i = 0; i < N; i++) {
		values[i] = sample_random();
		order[i] = N - 1 - i;
	}
	CHECK_INT(decoded(&out, encoded(&out, GUESS_NONE, order), &column, GUESS_NONE), 0);
	for (size_t i = 0; i < N; i++)
		wrong += column_at(&column, i) != values[N - 1 - i];
	CHECK_INT(wrong, 0);
	column_release(&column);
}

static void truncated_bytes_are_refused(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct column column = { 0 };
	size_t whole, accepted = 0;

	for (int i = 0; i < N; i++)
		values[i] = sample_random() >> i % 64;
	whole = encoded(&out, GUESS_NONE, NULL);
	for (size_t bytes = 0; bytes < whole; bytes++) {
		accepted += decoded(&out, bytes, &column, GUESS_NONE) >= 0;
		column_release(&column);
	}
	CHECK_INT(accepted, 0);
}

TESTS(TEST(every_value_is_exact), TEST(constant_steps_take_two_bytes_per_page),
      TEST(a_correct_guess_needs_no_space), TEST(order_selects_the_rows),
      TEST(truncated_bytes_are_refused))
