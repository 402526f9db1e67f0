/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/objects.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define INODE 0x100000001fcu
#define STORE "/var/lib/ceph/osd/ceph-0"
#define GROUP STORE "/current/2.49_head/"

static struct objects objects;
static enum objects_state states[4096];
static uint32_t call_count[2]; /* of clients and servers */

/* One object holds all of the file. */
static const struct objects_layout whole = { 1 << 20, 1, 1 << 30 };

static const int64_t no_errors_ns[2];
static struct objects_clocks clocks = { 0, no_errors_ns };

static void start(void)
{
	objects_release(&objects);
	call_count[0] = call_count[1] = 0;
	clocks = (struct objects_clocks){ 0, no_errors_ns };
}

static uint32_t add_client(const struct objects_layout *layout, uint64_t offset, uint64_t bytes,
			   int64_t start_ns, int64_t stop_ns)
{
	struct objects_write write = { .inode = INODE,
				       .bytes = bytes,
				       .start_ns = start_ns,
				       .stop_ns = stop_ns,
				       .call = call_count[0]++ };

	REQUIRE(objects_add_client(&objects, layout, &write, offset));
	return write.call;
}

static uint32_t add_server(uint64_t number, uint64_t offset, uint64_t bytes, int64_t start_ns)
{
	struct objects_write write = { .inode = INODE,
				       .number = number,
				       .offset = offset,
				       .bytes = bytes,
				       .start_ns = start_ns,
				       .stop_ns = start_ns + 1,
				       .store = 1,
				       .call = call_count[1]++ };

	REQUIRE(objects_add_server(&objects, &write));
	return write.call;
}

static void match(void)
{
	objects_match(&objects, &clocks, states, call_count[1]);
}

static bool is_linked(uint32_t to, uint32_t from)
{
	for (size_t i = 0; i < objects.link_count; i++)
		if (objects.links[i].to == to && objects.links[i].from == from)
			return true;
	return false;
}

static void path_of_an_object_is_read(void)
{
	struct objects_name name;

	CHECK_INT(objects_read_name(&name, GROUP "100000001fc.0000000a__head_EC82060C__2"),
		  strlen(STORE));
	CHECK_INT(name.inode, INODE);
	CHECK_INT(name.number, 10);
	CHECK_INT(name.pool, 2);
	CHECK_INT(objects_read_name(&name, STORE
				    "/current/17.1f_head/DIR_C/1.00000000__head_EC82060C__11"),
		  strlen(STORE));
	CHECK_INT(name.pool, 17);
	CHECK_INT(objects_read_name(&name, "/a/current/b/current/2.0_head/"
					   "1.00000000__head_EC82060C__2"),
		  strlen("/a/current/b"));
}

static void other_paths_are_no_objects(void)
{
	static const char *const paths[] = {
		"",
		"/",
		GROUP,
		"100000001fc.0000000a__head_EC82060C__2",
		"/current/2.49_head/100000001fc.0000000a__head_EC82060C__2",
		/* Of another pool than its group. */
		GROUP "100000001fc.0000000a__head_EC82060C__3",
		/* A snapshot, a namespace, a key, and a shard of an erasure-coded pool. */
		GROUP "100000001fc.0000000a__4_EC82060C__2",
		GROUP "100000001fc.0000000a__head_EC82060C_name_2",
		GROUP "100000001fc.0000000a_key_head_EC82060C__2",
		GROUP "100000001fc.0000000a__head_EC82060C__2_ffffffffffffffff_0",
		STORE "/current/2.49s0_head/100000001fc.0000000a__head_EC82060C__2",
		STORE "/current/2.49_TEMP/100000001fc.0000000a__head_EC82060C__2",
		STORE "/current/meta/100000001fc.0000000a__head_EC82060C__2",
		/* Names that are no numbers. */
		GROUP "0100000001fc.0000000a__head_EC82060C__2",
		GROUP "0.0000000a__head_EC82060C__2",
		GROUP "100000001fc.a__head_EC82060C__2",
		GROUP "100000001fc.0000000A__head_EC82060C__2",
		GROUP "100000001fc.0000000a__head_ec82060c__2",
		GROUP "100000001fc.0000000a__head_EC82060C__2x",
		GROUP "100000001fc.0000000a__head_EC82060C__",
		GROUP "11111111111111111.0000000a__head_EC82060C__2",
		GROUP "__head_00000049__2",
		GROUP "mds0\\uinotable__head_EC82060C__2",
		GROUP "-1.0000000a__head_EC82060C__2",
		GROUP " 1.0000000a__head_EC82060C__2",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct objects_name name;

		if (objects_read_name(&name, paths[i]))
			printf("%s\n", paths[i]);
		CHECK(!objects_read_name(&name, paths[i]));
	}
}

static void invalid_layouts_are_known(void)
{
	CHECK(objects_layout_is_valid(&whole));
	CHECK(!objects_layout_is_valid(&(struct objects_layout){ 0, 1, 4 }));
	CHECK(!objects_layout_is_valid(&(struct objects_layout){ 4, 0, 4 }));
	CHECK(!objects_layout_is_valid(&(struct objects_layout){ 4, 1, 0 }));
	CHECK(!objects_layout_is_valid(&(struct objects_layout){ 4, 1, 6 }));
	CHECK(!objects_layout_is_valid(
		&(struct objects_layout){ 4, UINT64_C(1) << 62, UINT64_C(1) << 62 }));
}

static void bytes_go_to_the_objects_of_the_layout(void)
{
	/* Objects of 8 bytes: 0 has bytes 0-3 and 8-11, 1 has 4-7 and 12-15; then 2 and 3. */
	static const struct objects_layout layout = { 4, 2, 8 };

	start();
	add_client(&layout, 2, 17, 0, 1);
	REQUIRE(objects.client_count == 5);
	for (size_t i = 0; i < 5; i++) {
		static const uint64_t expected[5][3] = {
			{ 0, 2, 2 }, { 1, 0, 4 }, { 0, 4, 4 }, { 1, 4, 4 }, { 2, 0, 3 }
		};

		CHECK_INT(objects.clients[i].number, expected[i][0]);
		CHECK_INT(objects.clients[i].offset, expected[i][1]);
		CHECK_INT(objects.clients[i].bytes, expected[i][2]);
	}
	/* Units of one object follow each other. */
	start();
	add_client(&(struct objects_layout){ 4, 1, 16 }, 2, 20, 0, 1);
	REQUIRE(objects.client_count == 2);
	CHECK_INT(objects.clients[0].bytes, 14);
	CHECK_INT(objects.clients[1].number, 1);
	CHECK_INT(objects.clients[1].bytes, 6);
}

static void server_write_leads_to_all_writes_of_its_bytes(void)
{
	uint32_t a, b, c, stored, rest;

	start();
	a = add_client(&whole, 0, 100, 10, 20);
	b = add_client(&whole, 100, 50, 12, 22);
	c = add_client(&whole, 150, 50, 14, 24);
	stored = add_server(0, 0, 160, 500);
	rest = add_server(0, 160, 40, 600);
	match();
	CHECK(states[stored] == OBJECTS_MATCHED && states[rest] == OBJECTS_MATCHED);
	CHECK(is_linked(stored, a) && is_linked(stored, b) && is_linked(stored, c));
	CHECK(is_linked(rest, c));
	CHECK_INT(objects.link_count, 4);
}

static void unknown_bytes_are_not_linked(void)
{
	uint32_t client, early, other, beside, partly;

	start();
	client = add_client(&whole, 100, 100, 10, 20);
	early = add_server(0, 100, 100, 5);
	other = add_server(1, 100, 100, 30);
	beside = add_server(0, 200, 100, 30);
	partly = add_server(0, 50, 100, 40);
	match();
	CHECK(states[early] == OBJECTS_NO_WRITE && states[other] == OBJECTS_NO_WRITE);
	CHECK(states[beside] == OBJECTS_NO_WRITE);
	CHECK(states[partly] == OBJECTS_MATCHED && is_linked(partly, client));
	CHECK_INT(objects.link_count, 1);
}

static void writes_of_the_same_bytes_lead_to_their_own(void)
{
	uint32_t first, second, one, two, three;

	start();
	first = add_client(&whole, 0, 100, 10, 20);
	second = add_client(&whole, 0, 100, 30, 40);
	one = add_server(0, 0, 100, 25);
	two = add_server(0, 0, 100, 50);
	/* Somebody else's. */
	three = add_server(0, 0, 100, 60);
	match();
	CHECK(is_linked(one, first) && is_linked(two, second));
	CHECK(states[three] == OBJECTS_NO_WRITE);
	CHECK_INT(objects.link_count, 2);
}

static void replaced_bytes_are_not_linked(void)
{
	uint32_t second, one, two;

	start();
	add_client(&whole, 0, 100, 10, 20);
	second = add_client(&whole, 0, 50, 30, 40);
	one = add_server(0, 0, 100, 50);
	match();
	/* The rest of the first one is certain. */
	CHECK(states[one] == OBJECTS_SEVERAL);
	CHECK_INT(objects.link_count, 1);
	/* If the bytes are stored again, these are the later ones, */
	start();
	add_client(&whole, 0, 100, 10, 20);
	second = add_client(&whole, 0, 100, 30, 40);
	one = add_server(0, 0, 100, 50);
	two = add_server(0, 0, 100, 60);
	match();
	CHECK(states[one] == OBJECTS_SEVERAL && states[two] == OBJECTS_MATCHED);
	CHECK(is_linked(two, second) && objects.link_count == 1);
	/* unless it is not known which were written later. */
	start();
	add_client(&whole, 0, 100, 10, 35);
	add_client(&whole, 0, 100, 30, 40);
	one = add_server(0, 0, 100, 50);
	two = add_server(0, 0, 100, 60);
	match();
	CHECK(states[one] == OBJECTS_SEVERAL && states[two] == OBJECTS_SEVERAL);
	CHECK_INT(objects.link_count, 0);
}

static void each_store_has_a_copy(void)
{
	uint32_t client, one, two;

	start();
	client = add_client(&whole, 0, 100, 10, 20);
	one = add_server(0, 0, 100, 30);
	two = add_server(0, 0, 100, 31);
	objects.servers[1].store = 2;
	match();
	CHECK(is_linked(one, client) && is_linked(two, client));
}

static void uncertain_clocks_leave_no_choice(void)
{
	static const int64_t errors_ns[2] = { 5, 6 };
	uint32_t first, one, two;

	start();
	clocks = (struct objects_clocks){ 2, errors_ns };
	first = add_client(&whole, 0, 100, 10, 20);
	add_client(&whole, 0, 100, 40, 50);
	one = add_server(0, 0, 100, 30);
	match();
	CHECK(states[one] == OBJECTS_MATCHED && is_linked(one, first));
	/* On another host, the second one may be earlier. */
	start();
	clocks = (struct objects_clocks){ 2, errors_ns };
	add_client(&whole, 0, 100, 10, 20);
	add_client(&whole, 0, 100, 40, 50);
	one = add_server(0, 0, 100, 30);
	objects.servers[0].host = 1;
	match();
	CHECK(states[one] == OBJECTS_SEVERAL);
	/* A single one may seem to be later. */
	start();
	clocks = (struct objects_clocks){ 2, errors_ns };
	first = add_client(&whole, 0, 100, 40, 50);
	one = add_server(0, 0, 100, 39);
	two = add_server(0, 0, 100, 37);
	match();
	CHECK(is_linked(one, first) && states[two] == OBJECTS_NO_WRITE);
}

static void damaged_ranges_end(void)
{
	struct objects_write write = { .inode = INODE, .bytes = INT64_MAX };

	start();
	CHECK(!objects_add_client(&objects, &(struct objects_layout){ 1, 2, 1 }, &write,
				  INT64_MAX));
	CHECK_INT(objects.client_count, OBJECTS_WRITES_MAX);
	start();
	add_client(&whole, 0, 10, 0, 1);
	add_server(0, INT64_MAX, INT64_MAX, 2);
	add_server(UINT64_MAX, 0, INT64_MAX, 2);
	match();
	CHECK_INT(objects.link_count, 0);
}

#define FILE_BYTES 96
#define NOBODY UINT32_MAX

/* A cache of a file, and which call has written each byte that a server stores. */
struct cache {
	struct objects_layout layout;
	uint32_t owners[FILE_BYTES]; /* of bytes that are not stored yet */
	uint32_t stored[4096][FILE_BYTES];
	int64_t now_ns;
};

/* The byte of the file, computed from all bytes before it. */
static void find_place(const struct objects_layout *l, unsigned byte, uint64_t *number,
		       uint64_t *offset)
{
	uint64_t at = 0, first = 0, filled = 0, unit = 0;

	for (unsigned i = 0; i < byte; i++) {
		if (++at % l->unit)
			continue;
		if (++unit == l->count) {
			unit = 0;
			filled += l->unit;
		}
		if (filled == l->object_bytes) {
			filled = 0;
			first += l->count;
		}
	}
	*number = first + unit;
	*offset = filled + at % l->unit;
}

static void cache_write(struct cache *cache)
{
	unsigned from = (unsigned)rand() % FILE_BYTES;
	unsigned bytes = 1 + (unsigned)rand() % (FILE_BYTES - from);
	uint32_t call = add_client(&cache->layout, from, bytes, cache->now_ns, cache->now_ns + 5);

	for (unsigned i = from; i < from + bytes; i++)
		cache->owners[i] = call;
	cache->now_ns += 10;
}

/* Stores dirty bytes of an object that follow each other, up to the first one that is clean. */
static void cache_flush(struct cache *cache)
{
	unsigned first = (unsigned)rand() % FILE_BYTES;
	uint64_t number, offset, bytes = 0;
	uint32_t *stored = cache->stored[call_count[1]];

	if (cache->owners[first] == NOBODY)
		return;
	memset(stored, 0xff, sizeof(cache->stored[0]));
	find_place(&cache->layout, first, &number, &offset);
	for (unsigned i = first; i < FILE_BYTES; i++) {
		uint64_t other, at;

		find_place(&cache->layout, i, &other, &at);
		if (other != number)
			continue;
		if (at != offset + bytes || cache->owners[i] == NOBODY)
			break;
		stored[i] = cache->owners[i];
		cache->owners[i] = NOBODY;
		bytes++;
	}
	add_server(number, offset, bytes, cache->now_ns);
	cache->now_ns += 10;
}

static bool has_stored(const uint32_t *stored, uint32_t client)
{
	for (unsigned i = 0; i < FILE_BYTES; i++)
		if (stored[i] == client)
			return true;
	return false;
}

static void check_links(const struct cache *cache)
{
	for (size_t i = 0; i < objects.link_count; i++)
		CHECK(has_stored(cache->stored[objects.links[i].to], objects.links[i].from));
	for (uint32_t i = 0; i < call_count[1]; i++) {
		CHECK(states[i] != OBJECTS_NO_WRITE);
		for (unsigned k = 0; states[i] == OBJECTS_MATCHED && k < FILE_BYTES; k++)
			CHECK(cache->stored[i][k] == NOBODY || is_linked(i, cache->stored[i][k]));
	}
}

/* Whatever the layout and the cache, links are right, and without overwriting they are complete. */
static void links_lead_to_the_writer_of_the_bytes(void)
{
	static struct cache cache;
	size_t matched = 0;

	srand(11);
	for (int round = 0; round < 300; round++) {
		unsigned unit = 1 + (unsigned)rand() % 8, count = 1 + (unsigned)rand() % 4;

		start();
		cache.layout =
			(struct objects_layout){ unit, count, unit * (1 + (unsigned)rand() % 4) };
		memset(cache.owners, 0xff, sizeof(cache.owners));
		cache.now_ns = 0;
		for (int step = 0; step < 60; step++) {
			if (rand() % 6)
				cache_flush(&cache);
			else
				cache_write(&cache);
		}
		match();
		check_links(&cache);
		for (uint32_t i = 0; i < call_count[1]; i++)
			matched += states[i] == OBJECTS_MATCHED;
	}
	CHECK(matched > 1000);
	start();
}

TESTS(TEST(path_of_an_object_is_read), TEST(other_paths_are_no_objects),
      TEST(invalid_layouts_are_known), TEST(bytes_go_to_the_objects_of_the_layout),
      TEST(server_write_leads_to_all_writes_of_its_bytes), TEST(unknown_bytes_are_not_linked),
      TEST(writes_of_the_same_bytes_lead_to_their_own), TEST(replaced_bytes_are_not_linked),
      TEST(each_store_has_a_copy), TEST(uncertain_clocks_leave_no_choice), TEST(damaged_ranges_end),
      TEST(links_lead_to_the_writer_of_the_bytes))
