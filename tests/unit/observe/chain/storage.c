/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traces of clients of CephFS and of an OSD, call by call. Process 0 is a client, process 1 is the
 * OSD, and process 2 is a client on another host, where the paths are those of another file system
 * unless a note says otherwise.
 */
#include "observe/chain/storage.h"

#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "chain_sample.h"
#include "check.h"
#include "observe/chain/chain.h"
#include "trace/facts.h"
#include "trace/format.h"

enum { NONE, OPEN, PWRITE, UNLINK, RENAME, MMAP, FWRITE, AIO_WRITE, DUP, CALLS };

static const struct call_info calls[CALLS] = {
	[NONE] = { .name = "none" },
	[OPEN] = { .name = "open", .class = CLASS_OPEN },
	[PWRITE] = { .name = "pwrite", .class = CLASS_WRITE },
	[UNLINK] = { .name = "unlink", .class = CLASS_META },
	[RENAME] = { .name = "rename", .class = CLASS_META },
	[MMAP] = { .name = "mmap", .class = CLASS_MAP },
	[FWRITE] = { .name = "fwrite", .layer = LAYER_STDIO, .class = CLASS_WRITE },
	[AIO_WRITE] = { .name = "aio_write", .class = CLASS_START },
	[DUP] = { .name = "dup", .class = CLASS_DUP },
};

enum { CLIENT, SERVER, ELSEWHERE, PROCESSES };
enum { DATA = 1, TEMPORARY, FIRST_OBJECT, SECOND_OBJECT, OTHER_POOL, FILES };

static const char *const files[FILES] = {
	"",
	"/mnt/data",
	"/mnt/temporary",
	"/osd/current/2.1_head/10000000000.00000000__head_00000001__2",
	"/osd/current/2.2_head/10000000000.00000001__head_00000002__2",
	"/osd/current/3.1_head/10000000000.00000002__head_00000001__3",
};

#define LAYOUT(inode)                                                                           \
	"striping_factor=2;striping_unit=4096;inode=" inode ";stripe_count=2;object_size=8192;" \
	"pool=data"
#define FILE_LAYOUT LAYOUT("1099511627776")

static struct activity list[100];
static size_t list_count;
static uint64_t next_id[PROCESSES];
static struct note notes[4];
static size_t note_count;
static size_t file_count;
static bool is_merged;
static uint32_t lost_process; /* + 1; 0: none */

static void add_note(const char *host, const char *value)
{
	notes[note_count++] = (struct note){ .time_ns = -1,
					     .process = -1,
					     .host = (char *)host,
					     .source = (char *)"ceph",
					     .kind = (char *)NOTE_LAYOUT,
					     .name = (char *)files[DATA],
					     .value = (char *)value };
}

static void start(const char *layout)
{
	list_count = note_count = 0;
	memset(next_id, 0, sizeof(next_id));
	file_count = OTHER_POOL;
	is_merged = false;
	lost_process = 0;
	if (layout)
		add_note("a", layout);
}

static struct activity *add(uint32_t process, int call, file_id file, int64_t start_ns)
{
	struct activity *a = &list[list_count++];

	REQUIRE(list_count <= sizeof(list) / sizeof(list[0]));
	*a = (struct activity){ .start_ns = start_ns,
				.duration_ns = 5,
				.id = id_make(0, ++next_id[process]),
				.offset = -1,
				.process = process,
				.call = (uint16_t)call,
				.layer = calls[call].layer,
				.file = file,
				.present = PRESENT(RESULT) | PRESENT(LINK) | PRESENT(SIZE) |
					   PRESENT(PATH) };
	return a;
}

/* offset -1: it has none. Returns the id. */
static uint64_t add_write(uint32_t process, int call, file_id file, int64_t start_ns,
			  int64_t offset, int64_t size)
{
	struct activity *a = add(process, call, file, start_ns);

	a->offset = offset;
	a->size = a->result = size;
	a->present |= offset >= 0 ? PRESENT(OFFSET) : 0;
	return a->id;
}

static void write_trace(const char *path)
{
	const struct host_info host = { (char *)"a", (char *)"reference", 0, 0 };
	void *w = sample_create(path, "a", calls, CALLS);
	struct err err = { 0 };

	qsort(list, list_count, sizeof(list[0]), activity_compare);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		struct process_info p = sample_process(i, i == ELSEWHERE ? "b" : "a");

		p.pid = 100 + (int)i;
		REQUIRE(trace_text.add_process(w, &p, &err) == 0);
	}
	for (file_id i = 1; i < file_count; i++)
		REQUIRE(trace_text.add_file(w, i, files[i], &err) == 0);
	for (size_t i = 0; i < note_count; i++)
		REQUIRE(trace_text.add_fact(w, &fact_note, &notes[i], &err) == 0);
	if (is_merged)
		REQUIRE(trace_text.add_host(w, &host, &err) == 0);
	REQUIRE(trace_text.add_activities(w, list, list_count, &err) == 0);
	if (lost_process) {
		struct loss_info loss = { lost_process - 1, 1, 0 };

		REQUIRE(trace_text.add_loss(w, &loss, &err) == 0);
	}
	sample_finish(w);
}

/* NULL: the trace has nothing to match. */
static struct chain *read_chain(void)
{
	AUTO_FREE char *path = xprintf("%s/trace.txt", check_directory());
	struct chain *chain = NULL;
	struct err err = { 0 };

	write_trace(path);
	REQUIRE(chain_read(&chain, path, &err) == 0);
	unlink(path);
	return chain;
}

static uint32_t partners(const struct chain *chain, uint32_t process, uint64_t id)
{
	const struct chain_transfer *t = chain_find(chain, process, id);

	return t ? t->count : 0;
}

static bool is_partner(const struct chain *chain, uint32_t process, uint64_t id, uint64_t partner)
{
	const struct chain_transfer *t = chain_find(chain, process, id);

	for (uint32_t i = 0; t && i < t->count; i++)
		if (chain_partner(chain, t, i)->id == partner)
			return true;
	return false;
}

/* Reads the chain, which has one write of the OSD with this state, and no link unless it is
 * MATCHED. */
static void check_state(enum chain_state state)
{
	struct chain *chain = read_chain();

	REQUIRE(chain);
	for (enum chain_state i = 0; i < CHAIN_STATES; i++)
		CHECK_INT(chain_counts(chain)->objects[i], i == state);
	for (size_t i = 0; i < chain_size(chain); i++)
		CHECK_INT(chain_at(chain, i)->count, state == CHAIN_MATCHED);
	chain_free(chain);
}

static void write_leads_to_its_objects(void)
{
	uint64_t first, second, one, two;
	const struct chain_transfer *cause;
	struct chain *chain;

	start(FILE_LAYOUT);
	first = add_write(CLIENT, PWRITE, DATA, 100, 0, 6000);
	second = add_write(CLIENT, PWRITE, DATA, 200, 6000, 2192);
	one = add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 4096);
	two = add_write(SERVER, PWRITE, SECOND_OBJECT, 400, 0, 4096);
	chain = read_chain();
	CHECK_INT(partners(chain, CLIENT, first), 2);
	CHECK(is_partner(chain, CLIENT, first, one) && is_partner(chain, CLIENT, first, two));
	CHECK_INT(partners(chain, CLIENT, second), 1);
	CHECK(is_partner(chain, CLIENT, second, two));
	CHECK_INT(partners(chain, SERVER, two), 2);
	CHECK(chain_find(chain, CLIENT, first)->is_sent);
	cause = chain_cause(chain, &list[2]);
	CHECK(cause && cause->process == CLIENT && cause->id == first);
	CHECK_INT(chain_counts(chain)->objects[CHAIN_MATCHED], 2);
	chain_free(chain);
}

static void asynchronous_write_leads_to_its_object(void)
{
	start(FILE_LAYOUT);
	add_write(CLIENT, AIO_WRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_MATCHED);
}

static void traces_without_objects_or_layouts_have_no_chain(void)
{
	start(NULL);
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	CHECK(!read_chain());
	/* An earlier version of Sluice did not note the inode. */
	start("striping_factor=2;striping_unit=4096");
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	CHECK(!read_chain());
	start(FILE_LAYOUT);
	file_count = FIRST_OBJECT;
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	CHECK(!read_chain());
}

static void other_files_are_not_linked(void)
{
	start(LAYOUT("7"));
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_NO_FILE);
	/* The same path on another host. */
	start(FILE_LAYOUT);
	add_write(ELSEWHERE, PWRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_NO_WRITE);
	start(FILE_LAYOUT);
	add_note("b", FILE_LAYOUT);
	add_write(ELSEWHERE, PWRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_MATCHED);
}

static void runs_that_disagree_are_not_believed(void)
{
	start(FILE_LAYOUT);
	add_note("a", LAYOUT("7"));
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_SAME_NUMBER);
	start(FILE_LAYOUT);
	add_note("b", "striping_unit=4096;inode=1099511627776;stripe_count=2;object_size=8192;"
		      "pool=other");
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_SAME_NUMBER);
	start(FILE_LAYOUT);
	file_count = FILES;
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_SAME_NUMBER);
}

static void writes_before_a_removal_do_not_count(void)
{
	struct activity *a;
	uint64_t open;

	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add(CLIENT, UNLINK, DATA, 150);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_NO_WRITE);
	/* The file that replaces it was written under another name. */
	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	a = add(ELSEWHERE, RENAME, TEMPORARY, 150);
	a->file2 = DATA;
	a->present |= PRESENT(PATH2);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_NO_WRITE);
	/* A new file with the name, also by another descriptor. */
	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add(CLIENT, UNLINK, DATA, 150);
	open = add(CLIENT, OPEN, DATA, 160)->id;
	a = add(CLIENT, DUP, DATA, 170);
	a->link = open;
	open = a->id;
	add_write(CLIENT, PWRITE, DATA, 200, 0, 100);
	list[list_count - 1].link = open;
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_MATCHED);
	/* A removal that failed. */
	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add(CLIENT, UNLINK, DATA, 150)->error = 1;
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_MATCHED);
}

static void files_with_unknown_bytes_are_not_linked(void)
{
	struct activity *a;

	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add_write(CLIENT, FWRITE, DATA, 110, -1, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_BUFFERED);
	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 100, -1, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	check_state(CHAIN_BUFFERED);
	for (int is_shared = 0; is_shared < 2; is_shared++) {
		start(FILE_LAYOUT);
		add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
		a = add(CLIENT, MMAP, DATA, 110);
		a->flags = is_shared ? MAP_SHARED : MAP_PRIVATE;
		a->mode = PROT_READ | PROT_WRITE;
		a->present |= PRESENT(FLAGS) | PRESENT(MODE);
		add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
		check_state(is_shared ? CHAIN_BUFFERED : CHAIN_MATCHED);
	}
	/* A server's. */
	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, -1, 100);
	check_state(CHAIN_BUFFERED);
}

static void writes_after_a_loss_are_not_linked(void)
{
	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 100, 0, 100);
	next_id[CLIENT]++;
	add_write(CLIENT, PWRITE, DATA, 200, 4096, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 300, 0, 100);
	lost_process = CLIENT + 1;
	check_state(CHAIN_LOST);
}

static void clocks_of_hosts_are_uncertain(void)
{
	start(FILE_LAYOUT);
	is_merged = true;
	add_write(CLIENT, PWRITE, DATA, 60000, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 20000, 0, 100);
	check_state(CHAIN_MATCHED);
	start(FILE_LAYOUT);
	add_write(CLIENT, PWRITE, DATA, 60000, 0, 100);
	add_write(SERVER, PWRITE, FIRST_OBJECT, 20000, 0, 100);
	check_state(CHAIN_NO_WRITE);
}

TESTS(TEST(write_leads_to_its_objects), TEST(asynchronous_write_leads_to_its_object),
      TEST(traces_without_objects_or_layouts_have_no_chain), TEST(other_files_are_not_linked),
      TEST(runs_that_disagree_are_not_believed), TEST(writes_before_a_removal_do_not_count),
      TEST(files_with_unknown_bytes_are_not_linked), TEST(writes_after_a_loss_are_not_linked),
      TEST(clocks_of_hosts_are_uncertain))
