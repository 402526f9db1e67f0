/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/durations.h"

#include "store/store_internal.h"
#include "store_sample.h"

static void bins_are_contiguous_and_an_eighth_of_an_octave_wide(void)
{
	CHECK_INT(durations_bin(-5), 0);
	CHECK_INT(durations_bin(INT64_MAX), DURATIONS_BINS - 1);
	for (unsigned i = 0; i < DURATIONS_BINS; i++) {
		int64_t from = durations_bin_ns(i), to = durations_bin_ns(i + 1);

		CHECK(to > from);
		CHECK(to - from <= (from < 8 ? 1 : from / 8));
		CHECK_INT(durations_bin(from), i);
		CHECK_INT(durations_bin(to - 1), i);
	}
	CHECK(durations_bin_ns(DURATIONS_BINS) > 3600ll * 1000000000);
}

static void quantiles_match_the_durations_added(void)
{
	static struct durations d, none;

	CHECK_INT(durations_quantile(&none, 0.5), 0);
	for (int i = 1; i <= 100000; i++)
		durations_add(&d, i * 10);
	CHECK_INT(d.calls, 100000);
	for (int percent = 1; percent <= 98; percent++) {
		int64_t expected = percent * 10000;
		int64_t off = durations_quantile(&d, percent / 100.0) - expected;

		/* Interpolation is accurate, because the calls are spread evenly within a bin. */
		CHECK(llabs(off) <= expected / 100);
	}
}

static void size_classes_are_powers_of_four(void)
{
	CHECK_INT(durations_size_class(0), 0);
	CHECK_INT(durations_size_class(1), 1);
	CHECK_INT(durations_size_class(3), 1);
	CHECK_INT(durations_size_class(4), 2);
	CHECK_INT(durations_size_class(65535), 8);
	CHECK_INT(durations_size_class(65536), 9);
	CHECK_INT(durations_size_class(UINT64_MAX), 32);
	for (unsigned i = 1; i <= 32; i++)
		CHECK_INT(durations_size_class(durations_class_bytes(i)), i);
}

struct found {
	int count;
	struct durations last;
	char name[64];
};

static int note_histogram(void *arg, const char *host, const char *layer, const char *call,
			  unsigned size_class, const struct durations *durations)
{
	struct found *found = arg;

	found->count++;
	found->last = *durations;
	snprintf(found->name, sizeof(found->name), "%s %s %s %u", host, layer, call, size_class);
	return 0;
}

static void runs_add_up_in_the_store(void)
{
	static struct durations a, b;
	static struct found found;
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	for (int i = 0; i < 100; i++) {
		durations_add(&a, 1000);
		durations_add(&b, 50000);
	}
	CHECK_INT(durations_merge(store, "n1", "POSIX", "read", 7, &a, NULL), 0);
	CHECK_INT(durations_merge(store, "n1", "POSIX", "read", 7, &b, NULL), 0);
	CHECK_INT(durations_merge(store, "n1", "POSIX", "read", 7, &b, NULL), 0);
	CHECK_INT(durations_merge(store, "n1", "POSIX", "read", 8, &a, NULL), 0);
	CHECK_INT(durations_merge(store, "n2", "POSIX", "write", 0, &a, NULL), 0);
	CHECK_INT(durations_list(store, NULL, note_histogram, &found, NULL), 0);
	CHECK_INT(found.count, 3);
	CHECK_TEXT(found.name, "n2 POSIX write 0");
	found.count = 0;
	CHECK_INT(durations_list(store, "n1", note_histogram, &found, NULL), 0);
	CHECK_INT(found.count, 2);
	CHECK_INT(found.last.calls, 100);
	store_close(store);
	sample_remove(&sample);
}

static void histograms_are_bounded_and_forget(void)
{
	static struct durations old, fresh;
	static struct found found;
	struct sample sample;
	struct store *store;
	int runs = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	for (int i = 0; i < 1000000; i++) {
		durations_add(&old, 1000 + i % 100);
		durations_add(&fresh, 90000 + i % 100);
	}
	for (int i = 0; i < 5; i++)
		CHECK_INT(durations_merge(store, "n1", "POSIX", "read", 7, &old, NULL), 0);
	CHECK_INT(durations_list(store, "n1", note_histogram, &found, NULL), 0);
	CHECK(found.last.calls <= DURATIONS_KEPT_MAX);
	CHECK(found.last.calls >= DURATIONS_KEPT_MAX / 4);
	/* The machine has changed: the median must follow within a few runs. */
	while (runs < 10 && durations_quantile(&found.last, 0.5) < 50000) {
		CHECK_INT(durations_merge(store, "n1", "POSIX", "read", 7, &fresh, NULL), 0);
		CHECK_INT(durations_list(store, "n1", note_histogram, &found, NULL), 0);
		runs++;
	}
	CHECK(runs >= 1 && runs <= 4);
	store_close(store);
	sample_remove(&sample);
}

static void rows_out_of_range_are_ignored(void)
{
	static struct found found;
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(store_run(store, NULL,
			    "INSERT INTO duration VALUES ('n', 'L', 'c', 1, -1, 5),"
			    " ('n', 'L', 'c', 1, 400, 5), ('n', 'L', 'c', 1, 3, -5),"
			    " ('n', 'L', 'c', 1, 4, 7), ('n', 'L', 'c', 99, 4, 7)",
			    ""),
		  0);
	/* PostgreSQL checks types. */
	if (!sample.is_server)
		CHECK_INT(store_run(store, NULL,
				    "INSERT INTO duration VALUES ('n', 'L', 'd', 1, 4, 'x')", ""),
			  0);
	CHECK_INT(durations_list(store, "n", note_histogram, &found, NULL), 0);
	CHECK_INT(found.count, 1);
	CHECK_INT(found.last.calls, 7);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(bins_are_contiguous_and_an_eighth_of_an_octave_wide),
      TEST(quantiles_match_the_durations_added), TEST(size_classes_are_powers_of_four),
      TEST(runs_add_up_in_the_store), TEST(histograms_are_bounded_and_forget),
      TEST(rows_out_of_range_are_ignored))
