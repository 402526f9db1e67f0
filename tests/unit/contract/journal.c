/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The records of a journal: what the guest writes is what the tuner reads.
 */
#include "contract/journal.h"

#include "check.h"

static const struct journal_record sample = {
	.kind = JOURNAL_FILE,
	.device = UINT64_MAX,
	.inode = 42,
	.mode = 0100644,
	.uid = 1000,
	.gid = 0,
	.size = UINT64_C(1) << 40,
	.atime_ns = -5, /* before 1970 */
	.mtime_ns = INT64_C(1700000000123456789),
	.path = "/a b/\nname",
};

static void written_record_is_read_back(void)
{
	char text[JOURNAL_RECORD_BYTES];
	struct journal_record r;

	CHECK(journal_write_record(text, &sample));
	CHECK(journal_read_record(text, &r));
	CHECK_INT(r.kind, sample.kind);
	CHECK(r.device == sample.device && r.inode == sample.inode && r.size == sample.size);
	CHECK(r.mode == sample.mode && r.uid == sample.uid && r.gid == sample.gid);
	CHECK(r.atime_ns == sample.atime_ns && r.mtime_ns == sample.mtime_ns);
	CHECK_TEXT(r.path, sample.path);
}

static void long_path_is_refused(void)
{
	static char path[JOURNAL_RECORD_BYTES + 1];
	char text[JOURNAL_RECORD_BYTES];
	struct journal_record r = sample;

	memset(path, 'x', JOURNAL_RECORD_BYTES);
	path[0] = '/';
	r.path = path;
	CHECK(!journal_write_record(text, &r));
	path[JOURNAL_RECORD_BYTES - 300] = 0;
	CHECK(journal_write_record(text, &r));
}

static void malformed_record_is_refused(void)
{
	static const char *const texts[] = { "",
					     "f",
					     "f 1 2 3",
					     "f 1 2 3 4 5 6 7 8 name",
					     "f 1 2 3 4 5 6 7 /a",
					     "f 1 x 3 4 5 6 7 8 /a" };
	struct journal_record r;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(!journal_read_record(texts[i], &r));
	CHECK(journal_read_record("f 1 2 3 4 5 6 7 8 /a", &r));
}

static void names_have_all_digits(void)
{
	char name[JOURNAL_NAME_BYTES];

	journal_hash_name(name, JOURNAL_PATH, 0x1f, -1);
	CHECK_TEXT(name, "p-000000000000001f");
	journal_hash_name(name, JOURNAL_VERSION, UINT64_MAX, 63);
	CHECK_TEXT(name, "v-ffffffffffffffff-63");
	journal_file_name(name, JOURNAL_LINK, UINT64_MAX, UINT64_MAX);
	CHECK_TEXT(name, "l-ffffffffffffffff-ffffffffffffffff");
	CHECK(journal_hash("/a") != journal_hash("/b"));
}

static void written_options_are_read_back(void)
{
	const struct journal_options written = {
		.limit = 7, .permit = true, .host = UINT64_MAX, .claims = "/c d"
	};
	char text[JOURNAL_RECORD_BYTES];
	struct journal_options o;

	CHECK(journal_write_options(text, &written));
	CHECK(journal_read_options(text, &o));
	CHECK(o.limit == 7 && o.permit && o.host == UINT64_MAX);
	CHECK_TEXT(o.claims, "/c d");
	CHECK(!journal_read_options("", &o));
	CHECK(!journal_read_options("1 0 2 relative", &o));
	CHECK(!journal_read_options("1 0 /c", &o));
}

static void the_same_path_on_two_hosts_has_two_names(void)
{
	CHECK(journal_hash_on(journal_hash("n1"), "/a") !=
	      journal_hash_on(journal_hash("n2"), "/a"));
	CHECK(journal_hash_on(journal_hash("n1"), "/a") != journal_hash("/a"));
	CHECK_INT(journal_device(5, 5), 0);
	CHECK_INT(journal_device(5, 6), 5);
}

TESTS(TEST(written_record_is_read_back), TEST(long_path_is_refused),
      TEST(malformed_record_is_refused), TEST(names_have_all_digits),
      TEST(written_options_are_read_back), TEST(the_same_path_on_two_hosts_has_two_names))
