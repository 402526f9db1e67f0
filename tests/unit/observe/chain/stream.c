/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/stream.h"

#include <stdlib.h>

#include "check.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define CALL(start, stop, n)                                         \
	{                                                            \
		.start_ns = (start), .stop_ns = (stop), .bytes = (n) \
	}
#define SIDE(list)                                                             \
	{                                                                      \
		.calls = (list), .count = COUNT(list), .certain_ns = INT64_MAX \
	}

static void calls_that_share_bytes_are_partners(void)
{
	/* Two requests; the first arrives in two pieces, and the rest of it with the second. */
	struct stream_call out[] = { CALL(0, 1, 100), CALL(10, 11, 50) };
	struct stream_call in[] = { CALL(2, 3, 16), CALL(4, 5, 80), CALL(12, 13, 54) };
	struct stream_side sent = SIDE(out), received = SIDE(in);

	CHECK(stream_match(&sent, &received, 0));
	CHECK_INT(out[0].first, 0);
	CHECK_INT(out[0].count, 3);
	CHECK_INT(out[1].first, 2);
	CHECK_INT(out[1].count, 1);
	CHECK_INT(in[1].first, 0);
	CHECK_INT(in[1].count, 1);
	CHECK_INT(in[2].first, 0);
	CHECK_INT(in[2].count, 2);
	CHECK_INT(in[2].offset, 96);
}

static void bytes_that_nobody_read_have_no_partner(void)
{
	struct stream_call out[] = { CALL(0, 1, 8), CALL(2, 3, 8) };
	struct stream_call in[] = { CALL(4, 5, 8) };
	struct stream_side sent = SIDE(out), received = SIDE(in);

	CHECK(stream_match(&sent, &received, 0));
	CHECK_INT(out[0].count, 1);
	CHECK_INT(out[1].count, 0);
	CHECK(!out[1].is_cut && !out[1].is_partly_matched);
}

static void sums_that_differ_are_a_contradiction(void)
{
	struct stream_call out[] = { CALL(0, 1, 8), CALL(2, 3, 8) };
	struct stream_call in[] = { CALL(4, 5, 17) }, less[] = { CALL(4, 5, 15) };
	struct stream_side sent = SIDE(out), more = SIDE(in), ended = SIDE(less);

	CHECK(!stream_match(&sent, &more, 0));
	CHECK_INT(out[0].count, 0);
	CHECK_INT(in[0].count, 0);
	/* Less than was sent is possible, unless the receiver has seen the end. */
	CHECK(stream_match(&sent, &ended, 0));
	ended.has_ended = true;
	CHECK(!stream_match(&sent, &ended, 0));
}

static void bytes_are_not_received_before_they_are_sent(void)
{
	struct stream_call out[] = { CALL(100, 101, 8) };
	struct stream_call in[] = { CALL(80, 90, 8) };
	struct stream_side sent = SIDE(out), received = SIDE(in);

	CHECK(!stream_match(&sent, &received, 0));
	/* Unless the clocks differ. */
	CHECK(stream_match(&sent, &received, 10));
	CHECK(stream_match(&sent, &received, INT64_MAX));
	CHECK_INT(in[0].count, 1);
	/* A receive that waits begins before. */
	in[0].stop_ns = 102;
	CHECK(stream_match(&sent, &received, 0));
}

static void overlapping_calls_have_no_order(void)
{
	struct stream_call out[] = { CALL(0, 1, 10), CALL(2, 6, 10), CALL(4, 5, 10),
				     CALL(7, 8, 10) };
	struct stream_call in[] = { CALL(0, 9, 10), CALL(10, 11, 10), CALL(12, 13, 10),
				    CALL(14, 15, 10) };
	struct stream_side sent = SIDE(out), received = SIDE(in);

	CHECK(stream_match(&sent, &received, 0));
	CHECK_INT(in[0].count, 1);
	CHECK_INT(in[1].count, 0);
	CHECK_INT(in[2].count, 0);
	/* What follows is certain again. */
	CHECK_INT(in[3].count, 1);
	CHECK_INT(in[3].first, 3);
	CHECK(out[1].is_unordered && out[2].is_unordered && !out[3].is_unordered);
	CHECK_INT(out[1].count, 0);
	CHECK_INT(out[3].count, 1);
	CHECK(in[1].is_partly_matched);
}

static void nothing_is_matched_after_a_gap(void)
{
	struct stream_call out[] = { CALL(0, 1, 10), CALL(10, 11, 10), CALL(20, 21, 10) };
	struct stream_call in[] = { CALL(2, 3, 10), CALL(12, 13, 5), CALL(22, 23, 10) };
	struct stream_side sent = SIDE(out), received = SIDE(in);

	/* A receive of five bytes is missing between the last two. */
	received.certain_ns = 15;
	CHECK(stream_match(&sent, &received, 0));
	CHECK_INT(out[0].count, 1);
	CHECK_INT(in[1].count, 1);
	CHECK(in[2].is_cut);
	CHECK_INT(in[2].count, 0);
	/* Not all calls that received its bytes are known. */
	CHECK_INT(out[1].count, 0);
	CHECK(out[1].is_partly_matched);
	CHECK_INT(out[2].count, 0);
}

/* Any way to cut the same bytes into calls: a call has exactly the partners that share bytes. */
static void random_streams_are_matched_by_their_bytes(void)
{
	srand(7);
	for (int round = 0; round < 200; round++) {
		struct stream_call calls[2][40] = { 0 };
		struct stream_side side[2];
		size_t bytes = 200;

		for (int k = 0; k < 2; k++) {
			size_t left = bytes, n = 0;

			while (left && n < 39) {
				size_t take = 1 + (size_t)rand() % 12;

				take = take < left ? take : left;
				calls[k][n] = (struct stream_call)CALL((int64_t)(n * 10),
								       (int64_t)(n * 10 + 5), take);
				left -= take;
				n++;
			}
			if (left)
				calls[k][n++] = (struct stream_call)CALL(1000, 1001, left);
			side[k] = (struct stream_side){ .calls = calls[k],
							.count = n,
							.certain_ns = INT64_MAX,
							.has_ended = true };
		}
		CHECK(stream_match(&side[0], &side[1], INT64_MAX));
		for (size_t i = 0; i < side[0].count; i++)
			for (size_t j = 0; j < side[1].count; j++) {
				const struct stream_call *a = &calls[0][i], *b = &calls[1][j];
				bool share = a->offset < b->offset + b->bytes &&
					     b->offset < a->offset + a->bytes;

				CHECK(share == (j >= a->first && j < a->first + a->count));
				CHECK(share == (i >= b->first && i < b->first + b->count));
			}
	}
}

TESTS(TEST(calls_that_share_bytes_are_partners), TEST(bytes_that_nobody_read_have_no_partner),
      TEST(sums_that_differ_are_a_contradiction), TEST(bytes_are_not_received_before_they_are_sent),
      TEST(overlapping_calls_have_no_order), TEST(nothing_is_matched_after_a_gap),
      TEST(random_streams_are_matched_by_their_bytes))
