/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests which hints the history plug-in chooses for kinds of accesses to a file.
 * Papers: SIOX-39.
 */
#include "history_answers.h"
#include "store/outcomes.h"

/* Adds what two runs have seen: seconds for 1000 bytes with the defaults, and with a set. */
static void learn_kind(struct store *store, const char *operation, unsigned size_class,
		       const char *hints, double defaults, double set)
{
	struct outcome_key key = { operation, "somebody", "app", "dat", "/", size_class };

	if (defaults > 0)
		outcomes_add(store, &key, "1", "", 1000, defaults, NULL);
	outcomes_add(store, &key, "2", hints, 1000, set, NULL);
}

static void check_answers(const struct sample *sample, const char *option, const char *expected)
{
	const char *const options[] = { "plugin.history.learn=1", option, NULL };
	AUTO_FREE char *text = history_answers(sample, options, NULL);

	CHECK_TEXT(text ? text : "", expected);
}

static void the_best_hints_of_each_kind_of_accesses_are_chosen(void)
{
	struct sample sample;
	struct store *store;

	setenv("USER", "somebody", 1);
	sample_make(&sample);
	store = sample_open(&sample);
	/* One set is better for all: it is used for the whole file. */
	learn_kind(store, "write_all", 9, "romio_cb_write=enable", 20, 4);
	learn_kind(store, "write_all strided", 4, "romio_cb_write=enable", 10, 5);
	check_answers(&sample, NULL,
		      "sluice-answers 2\nprogram app\nbest dat w romio_cb_write=enable\n"
		      "best dat b romio_cb_write=enable\n");
	/* Another one is better for strided accesses, and sets what the first one sets. */
	learn_kind(store, "write_all strided", 4, "romio_cb_write=disable", 0, 1);
	check_answers(&sample, NULL,
		      "sluice-answers 2\nprogram app\nbest dat w romio_cb_write=enable\n"
		      "best dat b romio_cb_write=enable\nchanges 32\nprogram app\n"
		      "alone dat w write_all 9 contiguous romio_cb_write=enable\n"
		      "alone dat w write_all 4 strided romio_cb_write=disable\n"
		      "beside dat w write_all 4 strided romio_cb_write=disable\n"
		      "alone dat b write_all 9 contiguous romio_cb_write=enable\n"
		      "alone dat b write_all 4 strided romio_cb_write=disable\n"
		      "beside dat b write_all 4 strided romio_cb_write=disable\n");
	check_answers(&sample, "plugin.history.changes=0",
		      "sluice-answers 2\nprogram app\nbest dat w romio_cb_write=enable\n"
		      "best dat b romio_cb_write=enable\n");
	check_answers(&sample, "plugin.history.margin=90%",
		      "sluice-answers 2\nprogram app\nbest dat w romio_cb_write=enable\n"
		      "best dat b romio_cb_write=enable\n");
	check_answers(&sample, "plugin.history.attributes=volume",
		      "sluice-answers 2\nprogram app\nbest dat w romio_cb_write=enable\n"
		      "best dat b romio_cb_write=enable\n");
	sample_remove(&sample);
	store_close(store);
}

/* No set is better for the whole file. */
static void a_file_may_be_opened_without_hints(void)
{
	struct sample sample;
	struct store *store;

	setenv("USER", "somebody", 1);
	sample_make(&sample);
	store = sample_open(&sample);
	learn_kind(store, "write_all", 9, "romio_cb_write=enable", 10, 2);
	learn_kind(store, "write_all strided", 4, "romio_cb_write=enable", 10, 20);
	check_answers(&sample, NULL,
		      "sluice-answers 2\nchanges 32\nprogram app\n"
		      "access dat w write_all 9 contiguous romio_cb_write=enable\n"
		      "access dat b write_all 9 contiguous romio_cb_write=enable\n");
	sample_remove(&sample);
	store_close(store);
}

/* Independent accesses to a file of several ranks keep the hints that it was opened with. */
static void hints_for_the_whole_file_are_kept_for_independent_accesses(void)
{
	struct sample sample;
	struct store *store;

	setenv("USER", "somebody", 1);
	sample_make(&sample);
	store = sample_open(&sample);
	learn_kind(store, "write", 9, "romio_ds_write=disable", 200, 40);
	learn_kind(store, "write_all", 9, "romio_ds_write=disable", 100, 90);
	learn_kind(store, "write_all", 9, "romio_cb_write=disable;romio_ds_write=enable", 0, 10);
	check_answers(
		&sample, "plugin.history.calls=MPI/MPI_File_write_all,MPI_File_write",
		"sluice-answers 2\nprogram app\nbest dat w romio_ds_write=disable\n"
		"best dat b romio_ds_write=disable\nchanges 32\n"
		"calls MPI_File_write_all MPI_File_write\nprogram app\n"
		"alone dat w write 9 contiguous romio_ds_write=disable\n"
		"alone dat w write_all 9 contiguous romio_cb_write=disable;romio_ds_write=enable\n"
		"beside dat w write_all 9 contiguous romio_cb_write=disable;romio_ds_write=enable\n"
		"alone dat b write 9 contiguous romio_ds_write=disable\n"
		"alone dat b write_all 9 contiguous romio_cb_write=disable;romio_ds_write=enable\n"
		"beside dat b write_all 9 contiguous "
		"romio_cb_write=disable;romio_ds_write=enable\n");
	sample_remove(&sample);
	store_close(store);
}

/* The number of aggregators is fixed when a file is opened. */
static void only_hints_that_can_change_are_chosen_for_accesses(void)
{
	struct sample sample;
	struct store *store;

	setenv("USER", "somebody", 1);
	sample_make(&sample);
	store = sample_open(&sample);
	learn_kind(store, "write_all", 9, "cb_nodes=2", 100, 20);
	learn_kind(store, "write_all strided", 4, "cb_nodes=2", 100, 300);
	check_answers(&sample, NULL, "sluice-answers 2\n");
	sample_remove(&sample);
	store_close(store);
}

TESTS(TEST(the_best_hints_of_each_kind_of_accesses_are_chosen),
      TEST(a_file_may_be_opened_without_hints),
      TEST(hints_for_the_whole_file_are_kept_for_independent_accesses),
      TEST(only_hints_that_can_change_are_chosen_for_accesses))
