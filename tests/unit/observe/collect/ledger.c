/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/ledger.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/err.h"
#include "check.h"

static const char path[] = "ledger-test.ledger";
static struct err err;

/* Opens the ledger again, as the next collector does. */
static int reopen(struct ledger *l)
{
	ledger_close(l);
	return ledger_open(l, path, &err);
}

static void the_trace_counts_up_to_the_last_pass(void)
{
	struct ledger l;

	CHECK_INT(ledger_open(&l, path, &err), 0);
	ledger_replace(&l, 100);
	CHECK_INT(reopen(&l), 1);
	CHECK_INT(l.page->generation, 1);
	CHECK_INT(ledger_valid_bytes(&l), 100);
	ledger_begin(&l, 5000);
	CHECK_INT(ledger_valid_bytes(&l), 100);
	CHECK_INT(reopen(&l), 1);
	CHECK_INT(ledger_valid_bytes(&l), 100);
	ledger_written(&l, 300);
	CHECK_INT(ledger_valid_bytes(&l), 300);
	CHECK_INT(reopen(&l), 1);
	CHECK_INT(ledger_valid_bytes(&l), 300);
	ledger_consumed(&l);
	CHECK_INT(ledger_valid_bytes(&l), 300);
	ledger_extend(&l, 310);
	ledger_begin(&l, 6000);
	CHECK_INT(ledger_valid_bytes(&l), 310);
	ledger_close(&l);
	unlink(path);
}

static void a_continued_trace_skips_what_was_written(void)
{
	struct ledger l;

	CHECK_INT(ledger_open(&l, path, &err), 0);
	ledger_replace(&l, 100);
	ledger_begin(&l, 5000);
	/* Killed while it wrote: everything is read again. */
	ledger_replace(&l, 100);
	CHECK_INT(l.page->written_until, 0);
	CHECK_INT(ledger_valid_bytes(&l), 100);
	ledger_begin(&l, 6000);
	ledger_written(&l, 200);
	/* Killed while it consumed: records up to this time are skipped. */
	CHECK_INT(reopen(&l), 1);
	ledger_replace(&l, 250);
	CHECK_INT(l.page->written_until, 6000);
	CHECK_INT(l.page->state, LEDGER_IDLE);
	CHECK_INT(l.page->generation, 3);
	CHECK_INT(ledger_valid_bytes(&l), 250);
	ledger_close(&l);
	unlink(path);
}

static void one_collector_has_the_ledger(void)
{
	struct ledger l, other;

	CHECK_INT(ledger_open(&l, path, &err), 0);
	CHECK_INT(ledger_open(&other, path, &err), -EBUSY);
	ledger_close(&l);
	CHECK_INT(ledger_open(&other, path, &err), 0);
	ledger_close(&other);
	ledger_close(&other);
	unlink(path);
}

static void a_file_that_is_not_a_ledger_is_refused(void)
{
	FILE *file = fopen(path, "w");
	struct ledger l;

	REQUIRE(file);
	for (size_t i = 0; i < sizeof(struct ledger_page); i++)
		fputc('x', file);
	fclose(file);
	REQUIRE(chmod(path, 0600) == 0);
	CHECK_INT(ledger_open(&l, path, &err), -EINVAL);
	REQUIRE(chmod(path, 0644) == 0);
	CHECK(ledger_open(&l, path, &err) < 0);
	unlink(path);
}

TESTS(TEST(the_trace_counts_up_to_the_last_pass), TEST(a_continued_trace_skips_what_was_written),
      TEST(one_collector_has_the_ledger), TEST(a_file_that_is_not_a_ledger_is_refused))
