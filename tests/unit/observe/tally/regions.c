/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/regions.h"

#include "check.h"

static enum sharing compare(const struct regions *a, const struct regions *b)
{
	const struct regions *each[] = { a, b };

	return regions_compare(each, 2);
}

static void contiguous_accesses_are_one_run(void)
{
	struct regions r = { 0 };

	for (int i = 0; i < 1000; i++)
		regions_add(&r, i * 10, 10, false);
	regions_add(&r, 5000, 10, false); /* again: part of it */
	CHECK_INT(r.count, 1);
	CHECK_INT(r.low, 0);
	CHECK_INT(r.high, 10000);
	regions_release(&r);
}

static void a_constant_stride_is_one_run_and_repeating_it_adds_none(void)
{
	struct regions r = { 0 };

	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 1000; i++)
			regions_add(&r, i * 100, 10, false);
	}
	CHECK(r.count <= 2);
	CHECK_INT(r.runs[0].count, 1000);
	CHECK_INT(r.high, 99910);
	regions_release(&r);
}

static void too_many_runs_become_one_unknown_range(void)
{
	struct regions scattered = { 0 }, inside = { 0 }, outside = { 0 };

	for (int64_t i = 1; i <= 1000; i++)
		regions_add(&scattered, i * i * 100, i, false);
	CHECK(scattered.count <= REGIONS_RUNS_MAX);
	regions_add(&inside, 150, 1, false);
	regions_add(&outside, 100000000 + 1000, 1, false);
	CHECK_INT(compare(&scattered, &inside), SHARING_UNKNOWN);
	CHECK_INT(compare(&scattered, &outside), SHARING_DISJOINT);
	regions_release(&scattered);
	regions_release(&inside);
	regions_release(&outside);
}

static void invalid_positions_are_unplaced(void)
{
	struct regions r = { 0 }, other = { 0 };

	regions_add(&other, 0, 1, false);
	regions_add(&r, -1, 10, false);
	regions_add(&r, INT64_MAX - 5, 10, false);
	regions_add(&r, 5, INT64_MAX, false);
	CHECK(r.unplaced);
	CHECK_INT(r.count, 0);
	CHECK_INT(compare(&r, &other), SHARING_UNKNOWN);
	regions_release(&r);
	regions_release(&other);
}

static void none_and_one_are_distinguished(void)
{
	struct regions none = { 0 }, one = { 0 };

	CHECK_INT(compare(&none, &none), SHARING_NONE);
	regions_add(&one, 0, 1, false);
	CHECK_INT(compare(&none, &one), SHARING_ONE);
	regions_release(&one);
}

#define SPACE 4096

static void mark(unsigned char *bytes, const struct region_run *run)
{
	for (uint64_t i = 0; i < run->count; i++) {
		for (int64_t b = 0; b < run->bytes; b++)
			bytes[run->from + (int64_t)i * run->stride + b] = 1;
	}
}

static struct region_run random_run(unsigned *seed)
{
	struct region_run run = { .from = rand_r(seed) % 500, .bytes = 1 + rand_r(seed) % 40 };

	run.count = 1 + (uint64_t)rand_r(seed) % 20;
	run.stride = run.bytes + 1 + rand_r(seed) % 100;
	return run;
}

static void add_run(struct regions *r, const struct region_run *run)
{
	for (uint64_t i = 0; i < run->count; i++)
		regions_add(r, run->from + (int64_t)i * run->stride, run->bytes, false);
}

static enum sharing by_bytes(const unsigned char *x, const unsigned char *y)
{
	int first[2] = { -1, -1 }, last[2] = { -1, -1 };

	for (int i = 0; i < SPACE; i++) {
		if (x[i] && y[i])
			return SHARING_OVERLAPPING;
		if (x[i])
			first[0] = first[0] < 0 ? i : first[0], last[0] = i;
		if (y[i])
			first[1] = first[1] < 0 ? i : first[1], last[1] = i;
	}
	return last[0] < first[1] || last[1] < first[0] ? SHARING_DISJOINT : SHARING_INTERLEAVED;
}

/* Compares the arithmetic on runs with every byte of a small file. */
static void runs_compare_like_their_bytes(void)
{
	int seen[SHARINGS] = { 0 };
	unsigned seed = 1;

	for (int i = 0; i < 20000; i++) {
		struct region_run a = random_run(&seed), b = random_run(&seed);
		struct regions x = { 0 }, y = { 0 };
		unsigned char in_x[SPACE] = { 0 }, in_y[SPACE] = { 0 };
		enum sharing expected;

		if (i % 2) { /* equal strides interleave more often */
			b.stride = a.stride > b.bytes ? a.stride : b.bytes + 1;
			a.stride = b.stride;
		}
		add_run(&x, &a);
		add_run(&y, &b);
		mark(in_x, &a);
		mark(in_y, &b);
		expected = by_bytes(in_x, in_y);
		seen[expected]++;
		if (compare(&x, &y) != expected) {
			printf("(%ld,%ld,%ld,%lu) (%ld,%ld,%ld,%lu)\n", (long)a.from, (long)a.bytes,
			       (long)a.stride, (unsigned long)a.count, (long)b.from, (long)b.bytes,
			       (long)b.stride, (unsigned long)b.count);
			CHECK_INT(compare(&x, &y), expected);
		}
		regions_release(&x);
		regions_release(&y);
	}
	CHECK(seen[SHARING_OVERLAPPING] > 100);
	CHECK(seen[SHARING_INTERLEAVED] > 100);
	CHECK(seen[SHARING_DISJOINT] > 10);
}

TESTS(TEST(contiguous_accesses_are_one_run),
      TEST(a_constant_stride_is_one_run_and_repeating_it_adds_none),
      TEST(too_many_runs_become_one_unknown_range), TEST(invalid_positions_are_unplaced),
      TEST(none_and_one_are_distinguished), TEST(runs_compare_like_their_bytes))
