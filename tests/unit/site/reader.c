/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/reader.h"

#include <errno.h>

#include "base/escape.h"
#include "site/facts.h"
#include "site_sample.h"

#define CALLS 25000 /* more than a portion of the cursor */

static void check_text(const char *a, const char *b)
{
	AUTO_BUF struct buf escaped = { 0 };
	uint32_t code;
	bool valid = true;

	for (const char *at = b; *at; at += escape_decode(at, &code))
		if (!escape_decode(at, &code)) {
			valid = false;
			break;
		}
	/* What is not UTF-8 is escaped. */
	if (!valid)
		escape_text(&escaped, b, "");
	CHECK_TEXT(a, valid ? b : buf_text(&escaped));
}

static void check_facts(const struct fact *fact, const void *a, const void *b)
{
	for (size_t i = 0; i < fact->count; i++) {
		const struct fact_field *field = &fact->fields[i];

		if (field->type == FACT_TEXT)
			check_text(fact_text(field, a), fact_text(field, b));
		else
			CHECK_INT(fact_number(field, a), fact_number(field, b));
	}
}

#define CHECK_LIST(a, b, list, count, fact)                                                \
	do {                                                                               \
		CHECK_INT((a)->count, (b)->count);                                         \
		for (size_t check_i = 0; check_i < (a)->count && (a)->count == (b)->count; \
		     check_i++)                                                            \
			check_facts(&(fact), &(a)->list[check_i], &(b)->list[check_i]);    \
	} while (0)

static void check_heads(const struct trace_head *a, const struct trace_head *b)
{
	CHECK_TEXT(a->run.uuid, b->run.uuid);
	check_text(a->run.command, b->run.command);
	CHECK_INT(a->run.started_ns, b->run.started_ns);
	CHECK_INT(a->end.duration_ns, b->end.duration_ns);
	CHECK_INT(a->end.exit_status, b->end.exit_status);
	CHECK_INT(a->end.complete, b->end.complete);
	CHECK_LIST(a, b, processes, process_count, fact_process);
	CHECK_LIST(a, b, losses, loss_count, fact_loss);
	CHECK_LIST(a, b, hosts, host_count, fact_host);
	CHECK_LIST(a, b, statistics, statistic_count, fact_statistic);
	CHECK_LIST(a, b, samples, sample_count, fact_sample);
	CHECK_LIST(a, b, notes, note_count, fact_note);
	CHECK_INT(a->file_count, b->file_count);
	for (size_t i = 0; i < b->file_count && i < a->file_count; i++)
		check_text(a->files[i], b->files[i]);
	CHECK_INT(a->call_count, b->call_count);
	for (size_t i = 0; i < b->call_count && i < a->call_count; i++) {
		CHECK_TEXT(a->calls[i].name, b->calls[i].name);
		CHECK_INT(a->calls[i].class, b->calls[i].class);
		CHECK_INT(a->calls[i].layer, b->calls[i].layer);
	}
	CHECK_INT(a->aggregate_count, b->aggregate_count);
	CHECK_INT(a->activities, b->activities);
}

static void a_run_is_read_back_as_it_was_imported(void)
{
	AUTO_FREE char *path = site_sample_trace(CALLS);
	struct site_db *site = site_sample_open();
	struct build_options options = site_sample_options();
	struct import_totals totals = { 0 };
	struct trace trace, original;
	struct err err = { 0 };
	size_t n = 0, m = 0;

	CHECK_INT(site_import(site, path, &options, &totals, &err), 0);
	CHECK_TEXT(err.text, "");
	CHECK_INT(totals.activities, CALLS);
	sample_open(&original, path, NULL);
	if (site_read(&trace, site, "01234567", &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	check_heads(&trace.head, &original.head);
	{
		AUTO_FREE struct activity *a = sample_rest(&trace, &n);
		AUTO_FREE struct activity *b = sample_rest(&original, &m);

		CHECK_INT(n, CALLS);
		CHECK_INT(m, CALLS);
		if (n == m)
			CHECK_INT(sample_differences(a, b, n), 0);
	}
	trace_close(&trace);
	trace_close(&original);
	/* The site can be used again. */
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run"), 1);
	site_sample_close(site);
}

static void unknown_and_ambiguous_runs_are_refused(void)
{
	AUTO_FREE char *path = site_sample_trace(10);
	struct site_db *site = site_sample_open();
	struct build_options options = site_sample_options();
	struct import_totals totals = { 0 };
	struct trace trace;
	struct err err = { 0 };

	CHECK_INT(site_import(site, path, &options, &totals, NULL), 0);
	CHECK_INT(site_read(&trace, site, "f", &err), -ENOENT);
	CHECK_INT(site_read(&trace, site, "%", &err), -EINVAL);
	CHECK_INT(site_read(&trace, site, "", &err), -EINVAL);
	CHECK_INT(
		store_execute(site->store,
			      "INSERT INTO run (uuid, owner, job, job_partition, program, command, "
			      "directory, host, version, started_ns, duration_ns, exit_status, "
			      "complete, processes, ranks, activities, kept, sample, lost, "
			      "bytes_read, bytes_written, hidden) SELECT "
			      "'0123456789abcdef0123456789abcdee', owner, job, job_partition, "
			      "program, command, directory, host, version, started_ns, "
			      "duration_ns, exit_status, complete, processes, ranks, activities, "
			      "kept, sample, lost, bytes_read, bytes_written, hidden FROM run",
			      &err),
		0);
	CHECK_INT(site_read(&trace, site, "0123", &err), -EINVAL);
	CHECK_WORDS(err.text, "several runs");
	site_sample_close(site);
}

static void a_sample_is_a_subset_of_about_the_right_size(void)
{
	AUTO_FREE char *path = site_sample_trace(CALLS);
	struct site_db *site = site_sample_open();
	struct build_options options = site_sample_options();
	struct import_totals totals = { 0 };
	struct err err = { 0 };
	int64_t kept;

	options.sample = 10;
	CHECK_INT(site_import(site, path, &options, &totals, &err), 0);
	kept = site_sample_count(site, "SELECT count(*) FROM activity");
	CHECK(kept > CALLS / 10 * 0.85 && kept < CALLS / 10 * 1.15);
	CHECK_INT(site_sample_count(site, "SELECT kept FROM run"), kept);
	CHECK_INT(site_sample_count(site, "SELECT activities FROM run"), CALLS);
	options.sample = 0;
	CHECK_INT(site_import(site, path, &options, &totals, &err), 0);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM activity"), 0);
	CHECK_INT(site_sample_count(site, "SELECT count(*) FROM run"), 1);
	site_sample_close(site);
}

static void every_fact_has_a_column(void)
{
	for (size_t i = 0; i < site_fact_count; i++) {
		const struct schema_table *table = schema_find(site_facts[i].table);
		size_t found = 0;

		REQUIRE(table);
		for (size_t c = 0; c < table->count; c++)
			found += site_fact_field(&site_facts[i], &table->columns[c]) != NULL;
		CHECK_INT(found, site_facts[i].fact->count);
	}
}

TESTS(TEST(a_run_is_read_back_as_it_was_imported), TEST(unknown_and_ambiguous_runs_are_refused),
      TEST(a_sample_is_a_subset_of_about_the_right_size), TEST(every_fact_has_a_column))
