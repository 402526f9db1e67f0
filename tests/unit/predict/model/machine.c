/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-8.
 */
#include "predict/model/machine.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "predict/describe.h"

static const char lustre[] = "[machine]\nname = mine\nromio = lustre\n"
			     "[nodes]\ncores = 24\n"
			     "[storage]\nblock = 1M\n"
			     "[defaults]\ncb_buffer_size = 16M\nstriping_factor = 4\n"
			     "striping_unit = 1M\n";

/* The text with one piece replaced; the caller frees it. */
static char *with(const char *text, const char *what, const char *by)
{
	const char *at = strstr(text, what);

	REQUIRE(at);
	return xprintf("%.*s%s%s", (int)(at - text), text, by, at + strlen(what));
}

static void refuse(const char *text, const char *words)
{
	struct machine machine = { .cores = 77 };
	struct err err = { 0 };

	CHECK(machine_read_text(&machine, "my.ini", text, strlen(text), &err) < 0);
	CHECK_WORDS(err.text, words);
	CHECK_INT(machine.cores, 77);
}

static void refuse_with(const char *what, const char *by, const char *words)
{
	AUTO_FREE char *text = with(lustre, what, by);

	refuse(text, words);
}

static void vesta_has_the_published_properties(void)
{
	struct machine vesta;
	struct err err = { 0 };

	CHECK_INT(machine_open(&vesta, "vesta", &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_TEXT(vesta.name, "vesta");
	CHECK_INT(vesta.romio, ROMIO_BLUEGENE);
	CHECK_INT(vesta.cores, 16);
	CHECK_INT(vesta.bridges, 8);
	CHECK_INT(vesta.bridge_nodes, 128);
	CHECK_INT(vesta.block_bytes, 8 << 20);
	CHECK_INT(vesta.aggregators, 64);
	CHECK_INT(vesta.buffer_bytes, 16 << 20);
}

static void caches_grow_with_io_nodes(void)
{
	struct machine vesta;
	struct machine plain = { .cache_bytes = 100 };

	REQUIRE(machine_open(&vesta, "vesta", NULL) == 0);
	CHECK_INT(machine_cache_bytes(&vesta, 128), 16384L << 20);
	CHECK_INT(machine_cache_bytes(&vesta, 256), 32768L << 20);
	CHECK_INT(machine_cache_bytes(&vesta, 512), 65536L << 20);
	CHECK_INT(machine_cache_bytes(&vesta, 1), 4096L << 20);
	CHECK_INT(machine_cache_bytes(&plain, 3), 300);
}

static void written_machine_is_read_again(void)
{
	AUTO_BUF struct buf text = { 0 }, again = { 0 };
	struct machine vesta, other;
	struct err err = { 0 };

	REQUIRE(machine_open(&vesta, "vesta", NULL) == 0);
	machine_write(&vesta, &text);
	CHECK_INT(machine_read_text(&other, "text", buf_text(&text), text.len, &err), 0);
	CHECK_TEXT(err.text, "");
	machine_write(&other, &again);
	CHECK_TEXT(buf_text(&again), buf_text(&text));
	CHECK_INT(other.aggregators, 64);
	CHECK_INT(other.cache_bytes, 4L << 30);
}

static void errors_name_the_line(void)
{
	refuse_with("cores = 24", "cores = many", "my.ini:5:|cores|'many'");
	refuse_with("cores = 24", "cores = 24\ncores = 25", "my.ini:6:|cores|twice");
	refuse_with("cores = 24", "cores = 0", "from 1 to 100000");
	refuse_with("cores = 24", "kernels = 24", "'kernels' in [nodes]");
	refuse_with("romio = lustre", "romio = pvfs", "bluegene|generic|lustre|gpfs");
	refuse_with("[storage]", "[stores]", "my.ini:7:|section|[stores]");
	refuse_with("name = mine", "name =; mine", "my.ini:2:|name|';'");
	refuse("cores = 1\n", "my.ini:1: ");
	refuse_with("name = mine", "name", "my.ini:2: ");
}

static void missing_keys_are_named(void)
{
	refuse_with("cores = 24\n", "", "my.ini:|[nodes]|cores|missing");
	refuse_with("name = mine\n", "", "my.ini:|[machine]|name|missing");
	refuse_with("romio = lustre\n", "", "my.ini:|[machine]|romio|missing");
	refuse_with("striping_factor = 4\n", "", "my.ini:|[defaults]|striping_factor|missing");
	refuse_with("romio = lustre", "romio = bluegene", "my.ini:|[forwarding]|bridges|missing");
	refuse_with("[storage]", "[forwarding]\nbridges = 8\n[storage]",
		    "my.ini:|[forwarding]|bridge_nodes|missing");
}

struct guest {
	double speed;
};

/* The simulator's reader reads its own section in the same way. */
static void sections_of_other_readers_are_skipped(void)
{
	static const struct describe_row rows[] = { { "replica", "speed", DESCRIBE_NUMBER, 1, 0, 10,
						      offsetof(struct guest, speed) } };
	AUTO_FREE char *text = with(lustre, "[nodes]", "[replica]\nspeed = 2.5\n[nodes]");
	struct guest guest = { 0 };
	struct describe d = { .name = "my.ini", .into = &guest, .rows = rows, .row_count = 1 };
	struct machine machine;

	CHECK_INT(machine_read_text(&machine, "my.ini", text, strlen(text), NULL), 0);
	CHECK_INT(describe_read(&d, text, strlen(text)), 0);
	CHECK_INT(describe_complete(&d, 1), 0);
	CHECK(guest.speed == 2.5);
}

static void unknown_name_says_where_machines_are_searched(void)
{
	struct machine machine;
	struct err err = { 0 };

	CHECK_INT(machine_open(&machine, "nosuch", &err), -ENOENT);
	CHECK(strstr(err.text, "'nosuch'"));
	CHECK(strstr(err.text, "SLUICE_MACHINES"));
	CHECK_INT(machine_open(&machine, "./nosuch.ini", &err), -ENOENT);
}

static void this_computer_is_generic(void)
{
	struct machine here, memory;

	REQUIRE(machine_detect(&here, "/", NULL) == 0);
	CHECK_INT(here.romio, ROMIO_GENERIC);
	CHECK_INT(here.cores, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK_INT(here.node_aggregators, 1);
	CHECK_INT(here.buffer_bytes, 16 << 20);
	CHECK(here.block_bytes >= 512);
	CHECK(*here.name && *here.title);
	CHECK_INT(machine_detect(&memory, "/no/such/directory", NULL), -ENOENT);
	if (machine_detect(&memory, "/dev/shm", NULL) == 0)
		CHECK_INT(memory.cache_bytes, 0);
}

TESTS(TEST(vesta_has_the_published_properties), TEST(caches_grow_with_io_nodes),
      TEST(written_machine_is_read_again), TEST(errors_name_the_line), TEST(missing_keys_are_named),
      TEST(sections_of_other_readers_are_skipped),
      TEST(unknown_name_says_where_machines_are_searched), TEST(this_computer_is_generic))
