/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/site.h"

#include <errno.h>

#include "site_sample.h"

#define NODE "0123456789abcdef0123456789abcdef"
#define CALLS 3000

static struct site_sample_payloads payloads;

static void make_payloads(void)
{
	AUTO_FREE char *path = site_sample_trace(CALLS);
	struct build_options options = site_sample_options();
	struct err err = { 0 };

	site_sample_release(&payloads);
	options.payload_bytes = 32 << 10;
	CHECK_INT(build_trace(path, &options, site_sample_keep, &payloads, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK(payloads.count > 5);
}

static void check_rows(struct site_db *site)
{
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run"), 1);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM activity"), CALLS);
	CHECK_INT(site_sample_count(site, "SELECT kept FROM run"), CALLS);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run_process"), SAMPLE_PROCESSES);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run_file"), SAMPLE_FILES - 1);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run_call"), SAMPLE_CALLS);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM sample"),
		  SAMPLE_POLLS * SAMPLE_STATISTICS);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM note"), SAMPLE_NOTES);
	CHECK(site_sample_count(site, "SELECT count(*) FROM aggregate") > 0);
}

static void each_payload_is_applied_exactly_once(void)
{
	struct site_db *site = site_sample_open();
	struct err err = { 0 };
	uint64_t sequence = 99;

	make_payloads();
	CHECK_INT(site_applied(site, NODE, &sequence, NULL), 0);
	CHECK_INT(sequence, 0);
	for (size_t i = 0; i < payloads.count; i++) {
		const struct site_payload *p = &payloads.list[i];

		CHECK_INT(site_apply(site, NODE, i + 1, p->bytes, p->count, &err), 1);
		/* A sender that got no answer sends it again. */
		CHECK_INT(site_apply(site, NODE, i + 1, p->bytes, p->count, &err), 0);
	}
	CHECK_TEXT(err.text, "");
	CHECK_INT(site_applied(site, NODE, &sequence, NULL), 0);
	CHECK_INT(sequence, (int64_t)payloads.count);
	check_rows(site);
	site_sample_close(site);
	site_sample_release(&payloads);
}

/* A queue may hold payloads of the daemon before an update, which do not name file systems. */
static void payloads_of_the_previous_version_are_applied(void)
{
	struct site_db *site = site_sample_open();
	struct err err = { 0 };
	size_t bad;

	make_payloads();
	for (size_t i = 0; i < payloads.count; i++)
		((char *)(uintptr_t)payloads.list[i].bytes)[4] = 10;
	CHECK_INT(site_apply_batch(site, NODE, 1, payloads.list, payloads.count, &bad, &err), 1);
	CHECK_TEXT(err.text, "");
	check_rows(site);
	CHECK_INT(site_sample_count(site, "SELECT count(filesystem) FROM run_file"), 0);
	site_sample_close(site);
	site_sample_release(&payloads);
}

static void a_batch_skips_what_was_applied(void)
{
	struct site_db *site = site_sample_open();
	struct err err = { 0 };
	size_t bad = 77;

	make_payloads();
	CHECK_INT(site_apply_batch(site, NODE, 1, payloads.list, 3, &bad, &err), 1);
	CHECK_INT(site_apply_batch(site, NODE, 1, payloads.list, payloads.count, &bad, &err), 1);
	CHECK_INT(site_apply_batch(site, NODE, 1, payloads.list, payloads.count, &bad, &err), 0);
	CHECK_INT(bad, 77);
	check_rows(site);
	site_sample_close(site);
	site_sample_release(&payloads);
}

/* A node that was killed while it built payloads builds them again, with later numbers. */
static void a_run_that_is_sent_again_replaces_its_rows(void)
{
	struct site_db *site = site_sample_open();
	struct err err = { 0 };
	size_t bad;

	make_payloads();
	CHECK_INT(site_apply_batch(site, NODE, 1, payloads.list, payloads.count / 2, &bad, &err),
		  1);
	CHECK_INT(site_apply_batch(site, NODE, payloads.count / 2 + 1, payloads.list,
				   payloads.count, &bad, &err),
		  1);
	CHECK_TEXT(err.text, "");
	check_rows(site);
	site_sample_close(site);
	site_sample_release(&payloads);
}

static void an_invalid_payload_changes_nothing(void)
{
	struct site_db *site = site_sample_open();
	struct err err = { 0 };
	uint64_t sequence = 99;
	size_t bad = 77;
	struct site_payload list[2];

	make_payloads();
	list[0] = payloads.list[0];
	list[1] = (struct site_payload){ payloads.list[1].bytes, payloads.list[1].count - 1 };
	CHECK_INT(site_apply_batch(site, NODE, 1, list, 2, &bad, &err), -EBADMSG);
	CHECK_INT(bad, 1);
	CHECK_WORDS(err.text, "invalid payload");
	CHECK_INT(site_apply(site, NODE, 1, "", 0, &err), -EBADMSG);
	CHECK_INT(site_applied(site, NODE, &sequence, NULL), 0);
	CHECK_INT(sequence, 0);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run"), 0);
	site_sample_close(site);
	site_sample_release(&payloads);
}

static void nodes_are_counted_separately(void)
{
	struct site_db *site = site_sample_open();
	struct err err = { 0 };
	size_t bad;

	make_payloads();
	CHECK_INT(site_apply_batch(site, "a", 5, payloads.list, payloads.count, &bad, &err), 1);
	CHECK_INT(site_apply(site, "b", 1, payloads.list[0].bytes, payloads.list[0].count, &err),
		  1);
	CHECK_INT(site_apply(site, "", 1, payloads.list[0].bytes, payloads.list[0].count, &err),
		  -EINVAL);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM source"), 2);
	/* The run was sent again, without its calls. */
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM activity"), 0);
	site_sample_close(site);
	site_sample_release(&payloads);
}

static void a_database_without_tables_is_explained(void)
{
	struct site_db *site = NULL;
	struct err err = { 0 };

	CHECK(site_open(&site, "host=/nonexistent dbname=x", &err) < 0);
	CHECK(err.code == ENOTCONN || err.code == ENOSYS);
	CHECK(strlen(err.text) > 20);
	CHECK(!site);
}

TESTS(TEST(each_payload_is_applied_exactly_once),
      TEST(payloads_of_the_previous_version_are_applied), TEST(a_batch_skips_what_was_applied),
      TEST(a_run_that_is_sent_again_replaces_its_rows), TEST(an_invalid_payload_changes_nothing),
      TEST(nodes_are_counted_separately), TEST(a_database_without_tables_is_explained))
