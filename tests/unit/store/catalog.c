/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-12, SIOX-13.
 */
#include "store/catalog.h"

#include <sys/wait.h>

#include "base/buf.h"
#include "store_sample.h"

static void the_same_name_gets_the_same_id(void)
{
	struct sample sample;
	struct store *store;
	int64_t a, b, c, node;

	sample_make(&sample);
	store = sample_open(&sample);
	a = catalog_attribute(store, "POSIX", "quantity/BytesToRead", "bytes", NULL);
	b = catalog_attribute(store, "MPI", "quantity/BytesToRead", "bytes", NULL);
	c = catalog_attribute(store, "POSIX", "quantity/BytesToRead", "other", NULL);
	CHECK(a > 0 && b > 0 && a != b);
	CHECK_INT(c, a);

	node = catalog_thing(store, THING_NODE, 0, "sda", NULL);
	a = catalog_thing(store, THING_DEVICE, node, "sda", NULL);
	CHECK(node > 0 && a > 0 && a != node);
	CHECK_INT(catalog_thing(store, THING_DEVICE, node, "sda", NULL), a);
	CHECK(catalog_thing(store, THING_DEVICE, a, "sda", NULL) != a);
	store_close(store);
	sample_remove(&sample);
}

static int fact_list(void *arg, const char *run, int32_t process, const char *key,
		     const char *value)
{
	buf_printf(arg, "%s/%d/%s=%s ", run, process, key, value);
	return 0;
}

static int thing_first(void *arg, int64_t id, int64_t of, const char *name, const char *of_name)
{
	buf_printf(arg, "%s of %s ", name, of_name);
	return id > 0 && of > 0;
}

static int attribute_list(void *arg, int64_t id, const char *domain, const char *name,
			  const char *type)
{
	(void)id;
	buf_printf(arg, "%s/%s:%s ", domain, name, type);
	return 0;
}

static void facts_are_replaced_and_lists_are_in_order(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	store = sample_open(&sample);
	catalog_attribute(store, "POSIX", "file/position", "bytes", NULL);
	catalog_attribute(store, "MPI", "file/position", "bytes", NULL);
	CHECK_INT(catalog_attributes(store, attribute_list, &out, NULL), 0);
	CHECK_TEXT(buf_text(&out), "POSIX/file/position:bytes MPI/file/position:bytes ");
	buf_clear(&out);
	CHECK_INT(catalog_fact_set(store, "r2", -1, "user", "me", NULL), 0);
	CHECK_INT(catalog_fact_set(store, "r1", 3, "program", "/bin/a", NULL), 0);
	CHECK_INT(catalog_fact_set(store, "r1", 3, "program", "/bin/b", NULL), 0);
	CHECK_INT(catalog_fact_set(store, "r1", -1, "user", "me", NULL), 0);
	CHECK_INT(catalog_facts(store, NULL, fact_list, &out, NULL), 0);
	CHECK_TEXT(buf_text(&out), "r1/-1/user=me r1/3/program=/bin/b r2/-1/user=me ");
	buf_clear(&out);
	CHECK_INT(catalog_facts(store, "r2", fact_list, &out, NULL), 0);
	CHECK_TEXT(buf_text(&out), "r2/-1/user=me ");
	store_close(store);
	sample_remove(&sample);
}

static void a_stopped_list_does_not_block_writers(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct sample sample;
	struct store *store, *other;
	int64_t node;

	sample_make(&sample);
	store = sample_open(&sample);
	node = catalog_thing(store, THING_NODE, 0, "n1", NULL);
	catalog_thing(store, THING_DEVICE, node, "sda", NULL);
	catalog_thing(store, THING_DEVICE, node, "sdb", NULL);
	CHECK_INT(catalog_things(store, THING_DEVICE, thing_first, &out, NULL), 0);
	CHECK_TEXT(buf_text(&out), "sda of n1 ");
	other = sample_open(&sample);
	CHECK(catalog_thing(other, THING_DEVICE, node, "sdc", NULL) > 0);
	store_close(other);
	store_close(store);
	sample_remove(&sample);
}

#define WRITERS 8
#define SHARED 16
#define OWN 4

/* Registers shared names and some of its own, and reports the ids of the shared names. */
static void run_writer(const struct sample *sample, int number, int out)
{
	struct store *store = sample_open(sample);
	int64_t ids[SHARED];
	struct err err = { 0 };
	char name[32];

	for (int i = 0; i < SHARED; i++) {
		/* Each writer starts with another name. */
		int which = (i + number * 5) % SHARED;

		snprintf(name, sizeof(name), "shared %d", which);
		ids[which] = which % 2 ? catalog_thing(store, THING_CALL, 0, name, &err)
				       : catalog_attribute(store, "X", name, "t", &err);
		if (ids[which] <= 0) {
			printf("%s\n", err.text);
			exit(1);
		}
	}
	for (int i = 0; i < OWN; i++) {
		snprintf(name, sizeof(name), "own %d %d", number, i);
		if (catalog_thing(store, THING_CALL, 0, name, &err) <= 0)
			exit(1);
	}
	store_close(store);
	exit(write(out, ids, sizeof(ids)) != (ssize_t)sizeof(ids));
}

static int thing_count(void *arg, int64_t id, int64_t of, const char *name, const char *of_name)
{
	(void)id, (void)of, (void)name, (void)of_name;
	++*(int *)arg;
	return 0;
}

static void concurrent_writers_agree_on_every_id(void)
{
	int64_t first[SHARED], ids[SHARED];
	int ends[2], status, count = 0;
	struct sample sample;
	struct store *store;

	sample_make(&sample);
	REQUIRE(pipe(ends) == 0);
	fflush(stdout);
	/* The file does not exist when the writers start. */
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = fork();

		REQUIRE(pid >= 0);
		if (!pid)
			run_writer(&sample, i, ends[1]);
	}
	close(ends[1]);
	for (int i = 0; i < WRITERS; i++) {
		REQUIRE(wait(&status) > 0);
		CHECK_INT(status, 0);
		REQUIRE(read(ends[0], i ? ids : first, sizeof(ids)) == (ssize_t)sizeof(ids));
		CHECK(!i || memcmp(ids, first, sizeof(ids)) == 0);
	}
	close(ends[0]);
	store = sample_open(&sample);
	CHECK_INT(catalog_things(store, THING_CALL, thing_count, &count, NULL), 0);
	CHECK_INT(count, SHARED / 2 + WRITERS * OWN);
	store_close(store);
	sample_remove(&sample);
}

TESTS(TEST(the_same_name_gets_the_same_id), TEST(facts_are_replaced_and_lists_are_in_order),
      TEST(a_stopped_list_does_not_block_writers), TEST(concurrent_writers_agree_on_every_id))
