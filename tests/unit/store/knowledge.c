/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/knowledge.h"

#include <errno.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "store_sample.h"

static const struct knowledge sample_row = {
	.key = { .program = "vpic",
		 .fingerprint = "f1",
		 .arguments = "--steps 4",
		 .platform = "aarch64-2",
		 .filesystem = "local",
		 .ranks = 4,
		 .size_class = 12 },
	.parameters = "{\"parameters\": []}",
	.objective = "io",
	.before = 1.42,
	.after = 0.61,
	.gain = 2.33,
	.gain_low = 2.05,
	.gain_high = 2.6,
	.found_ns = 1700000000000000000,
	.study = "7",
	.compared = "identical: 2 files",
};

struct found {
	struct buf text;
	int64_t id;
	double gain;
	size_t rows;
};

static int keep(void *arg, const struct knowledge *k)
{
	struct found *f = arg;

	f->id = k->id;
	f->gain = k->gain;
	f->rows++;
	buf_printf(&f->text, "%s/%s/%s/%s/%s/%u/%u %s%s (%s) ", k->key.program, k->key.fingerprint,
		   k->key.arguments, k->key.platform, k->key.filesystem, k->key.ranks,
		   k->key.size_class, k->study, k->pinned ? " pinned" : "", k->compared);
	return 0;
}

static void found_clear(struct found *found)
{
	buf_release(&found->text);
	*found = (struct found){ 0 };
}

static void an_entry_is_read_back_unchanged(void)
{
	struct found found = { 0 };
	struct sample sample;
	struct store *store;
	int64_t id = 0, again = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &sample_row, &id, NULL), 0);
	CHECK(id > 0);
	CHECK_INT(knowledge_get(store, id, keep, &found, NULL), 0);
	CHECK_TEXT(buf_text(&found.text),
		   "vpic/f1/--steps 4/aarch64-2/local/4/12 7 (identical: 2 files) ");
	CHECK(found.gain == 2.33);
	/* Adding it again changes nothing. */
	CHECK_INT(knowledge_put(store, &sample_row, &again, NULL), 0);
	CHECK_INT(again, id);
	found_clear(&found);
	CHECK_INT(knowledge_list(store, keep, &found, NULL), 0);
	CHECK_INT(found.rows, 1);
	found_clear(&found);
	store_close(store);
	sample_remove(&sample);
}

static void a_later_entry_replaces_one_that_is_not_pinned(void)
{
	struct knowledge better = sample_row;
	struct found found = { 0 };
	struct err err = { 0 };
	struct sample sample;
	struct store *store;
	int64_t id = 0;

	better.gain = 3;
	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &sample_row, &id, NULL), 0);
	CHECK_INT(knowledge_put(store, &better, &id, NULL), 0);
	CHECK_INT(knowledge_get(store, id, keep, &found, NULL), 0);
	CHECK(found.gain == 3);
	CHECK_INT(knowledge_pin(store, id, true, NULL), 0);
	better.gain = 4;
	CHECK_INT(knowledge_put(store, &better, &id, &err), -EEXIST);
	CHECK(strstr(err.text, "is pinned"));
	CHECK_INT(knowledge_get(store, id, keep, &found, NULL), 0);
	CHECK(found.gain == 3);
	CHECK_INT(knowledge_pin(store, id, false, NULL), 0);
	CHECK_INT(knowledge_put(store, &better, &id, NULL), 0);
	CHECK_INT(knowledge_get(store, id, keep, &found, NULL), 0);
	CHECK(found.gain == 4);
	CHECK_INT(knowledge_forget(store, id, NULL), 0);
	CHECK_INT(knowledge_forget(store, id, &err), -ENOENT);
	CHECK_INT(knowledge_get(store, id, keep, &found, &err), -ENOENT);
	CHECK_INT(knowledge_pin(store, id, true, &err), -ENOENT);
	CHECK_INT(err.code, ENOENT);
	/* The failures have left no transaction open. */
	CHECK_INT(knowledge_put(store, &better, &id, NULL), 0);
	found_clear(&found);
	store_close(store);
	sample_remove(&sample);
}

/* Returns the differences of the entry that is found, or -1. */
static int find(struct store *store, struct knowledge_key key, double *gain)
{
	struct found found = { 0 };
	unsigned differs = 0;
	int r = knowledge_find(store, &key, keep, &found, &differs, NULL);

	CHECK_INT(found.rows, r);
	*gain = found.gain;
	found_clear(&found);
	return r > 0 ? (int)differs : -1;
}

static void the_best_fit_is_found(void)
{
	struct knowledge row = sample_row;
	struct knowledge_key key = sample_row.key;
	struct sample sample;
	struct store *store;
	double gain;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(find(store, key, &gain), -1);
	row.key.fingerprint = "f0";
	row.gain = 1;
	CHECK_INT(knowledge_put(store, &row, NULL, NULL), 0);
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_CODE);
	row.key.fingerprint = "f1";
	row.key.arguments = "--steps 9";
	row.gain = 2;
	CHECK_INT(knowledge_put(store, &row, NULL, NULL), 0);
	row.key.size_class = 9;
	row.gain = 2.5;
	row.found_ns++;
	CHECK_INT(knowledge_put(store, &row, NULL, NULL), 0);
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_ARGUMENTS);
	CHECK(gain == 2); /* the same size */
	key.size_class = KNOWLEDGE_ANY_SIZE;
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_ARGUMENTS);
	CHECK(gain == 2.5); /* the latest */
	key = sample_row.key;
	row = sample_row;
	row.gain = 3;
	CHECK_INT(knowledge_put(store, &row, NULL, NULL), 0);
	CHECK_INT(find(store, key, &gain), 0);
	CHECK(gain == 3);
	store_close(store);
	sample_remove(&sample);
}

static void every_difference_is_told(void)
{
	struct knowledge_key key = sample_row.key;
	struct sample sample;
	struct store *store;
	double gain;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &sample_row, NULL, NULL), 0);
	key.ranks = 8;
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_RANKS);
	key.size_class = 13;
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_RANKS | KNOWLEDGE_SIZE);
	key = sample_row.key;
	key.platform = "x86_64-64";
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_PLATFORM);
	key = sample_row.key;
	key.filesystem = "lustre";
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_FILESYSTEM);
	key = sample_row.key;
	key.program = "copy-of-vpic";
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_NAME);
	key.fingerprint = "f2";
	CHECK_INT(find(store, key, &gain), -1);
	/* A program that was not found may have any code. */
	key = sample_row.key;
	key.fingerprint = "";
	CHECK_INT(find(store, key, &gain), KNOWLEDGE_CODE);
	store_close(store);
	sample_remove(&sample);
}

/* A tuning that found nothing: it has no parameters. */
static struct knowledge found_nothing(void)
{
	struct knowledge row = sample_row;

	row.parameters = "";
	row.gain = row.gain_low = row.gain_high = 1;
	return row;
}

static void a_tuning_that_found_nothing_wins_over_other_entries(void)
{
	struct knowledge other = sample_row, nothing = found_nothing();
	struct sample sample;
	struct store *store;
	double gain;

	sample_make(&sample);
	store = sample_open(&sample);
	other.key.arguments = "--steps 9";
	CHECK_INT(knowledge_put(store, &other, NULL, NULL), 0);
	CHECK_INT(find(store, sample_row.key, &gain), KNOWLEDGE_ARGUMENTS);
	CHECK_INT(knowledge_put(store, &nothing, NULL, NULL), 0);
	CHECK_INT(find(store, sample_row.key, &gain), 0);
	CHECK(gain == 1);
	/* It says nothing about other runs. */
	CHECK_INT(find(store, other.key, &gain), 0);
	CHECK(gain == 2.33);
	nothing.key.ranks = 8;
	CHECK_INT(find(store, nothing.key, &gain), KNOWLEDGE_RANKS | KNOWLEDGE_ARGUMENTS);
	CHECK(gain == 2.33);
	store_close(store);
	sample_remove(&sample);
}

static void a_tuning_that_found_nothing_keeps_an_earlier_gain(void)
{
	struct knowledge nothing = found_nothing();
	struct err err = { 0 };
	struct sample sample;
	struct store *store;
	int64_t id = 0;
	double gain;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &sample_row, &id, NULL), 0);
	CHECK_INT(knowledge_put(store, &nothing, NULL, &err), -EEXIST);
	CHECK_INT(find(store, sample_row.key, &gain), 0);
	CHECK(gain == 2.33);
	/* Unless it has lost. */
	CHECK_INT(knowledge_demote(store, id, 1, "it was slower", NULL), 0);
	CHECK_INT(knowledge_put(store, &nothing, NULL, NULL), 0);
	CHECK_INT(find(store, sample_row.key, &gain), 0);
	CHECK(gain == 1);
	CHECK_INT(knowledge_put(store, &sample_row, NULL, NULL), 0);
	CHECK_INT(find(store, sample_row.key, &gain), 0);
	CHECK(gain == 2.33);
	store_close(store);
	sample_remove(&sample);
}

static int keep_demotion(void *arg, const struct knowledge *k)
{
	buf_printf(arg, "%lld %s", (long long)k->demoted_ns, k->demoted_why);
	return 0;
}

static void check_demotion(struct store *store, int64_t id, const char *expected)
{
	AUTO_BUF struct buf text = { 0 };

	CHECK_INT(knowledge_get(store, id, keep_demotion, &text, NULL), 0);
	CHECK_TEXT(buf_text(&text), expected);
}

static void a_demoted_entry_is_enabled_by_a_pin_or_a_tuning(void)
{
	struct knowledge_key key = sample_row.key;
	struct sample sample;
	struct store *store;
	int64_t id = 0;
	double gain;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &sample_row, &id, NULL), 0);
	check_demotion(store, id, "0 ");
	CHECK_INT(knowledge_demote(store, id, 42, "it was slower", NULL), 0);
	check_demotion(store, id, "42 it was slower");
	/* It is still found for its own runs, but not suggested for others. */
	CHECK_INT(find(store, key, &gain), 0);
	key.ranks = 8;
	CHECK_INT(find(store, key, &gain), -1);
	CHECK_INT(knowledge_pin(store, id, true, NULL), 0);
	check_demotion(store, id, "0 ");
	CHECK_INT(knowledge_pin(store, id, false, NULL), 0);
	CHECK_INT(knowledge_demote(store, id, 42, "it was slower", NULL), 0);
	CHECK_INT(knowledge_put(store, &sample_row, &id, NULL), 0);
	check_demotion(store, id, "0 ");
	store_close(store);
	sample_remove(&sample);
}

/* Each process opens the store itself. No entry is lost, and the shared entry exists once. */
static void concurrent_processes_lose_no_entry(void)
{
	struct found found = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store_close(sample_open(&sample));
	for (int p = 0; p < 4; p++) {
		if (fork())
			continue;
		store = sample_open(&sample);
		for (int i = 0; i < 10; i++) {
			struct knowledge row = sample_row;

			row.key.ranks = (uint32_t)(p * 100 + i + 1);
			if (knowledge_put(store, &row, NULL, NULL) < 0 ||
			    knowledge_put(store, &sample_row, NULL, NULL) < 0)
				_exit(1);
		}
		store_close(store);
		_exit(0);
	}
	for (int p = 0; p < 4; p++) {
		int status = -1;

		wait(&status);
		CHECK_INT(status, 0);
	}
	store = sample_open(&sample);
	CHECK_INT(knowledge_list(store, keep, &found, NULL), 0);
	CHECK_INT(found.rows, 40); /* ranks 4 of the first process is the shared one */
	found_clear(&found);
	store_close(store);
	sample_remove(&sample);
}

static void an_entry_of_version_4_is_kept_without_a_comparison(void)
{
	struct found found = { 0 };
	struct sample sample;
	struct store *store;
	int64_t id = 0;

	sample_make(&sample);
	store = sample_open(&sample);
	CHECK_INT(knowledge_put(store, &sample_row, &id, NULL), 0);
	store_close(store);
	sample_regress(&sample, 4);
	store = sample_open(&sample);
	CHECK_INT(knowledge_get(store, id, keep, &found, NULL), 0);
	CHECK_TEXT(buf_text(&found.text), "vpic/f1/--steps 4/aarch64-2/local/4/12 7 () ");
	CHECK_INT(knowledge_put(store, &sample_row, &id, NULL), 0);
	found_clear(&found);
	CHECK_INT(knowledge_get(store, id, keep, &found, NULL), 0);
	CHECK_WORDS(buf_text(&found.text), "identical");
	found_clear(&found);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(an_entry_is_read_back_unchanged), TEST(a_later_entry_replaces_one_that_is_not_pinned),
      TEST(the_best_fit_is_found), TEST(every_difference_is_told),
      TEST(a_tuning_that_found_nothing_wins_over_other_entries),
      TEST(a_tuning_that_found_nothing_keeps_an_earlier_gain),
      TEST(a_demoted_entry_is_enabled_by_a_pin_or_a_tuning),
      TEST(concurrent_processes_lose_no_entry),
      TEST(an_entry_of_version_4_is_kept_without_a_comparison))
