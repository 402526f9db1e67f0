/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/reason/health_files.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

static char *directory_make(void)
{
	char *path = xstrdup("/tmp/sluice-board.XXXXXX");

	REQUIRE(mkdtemp(path));
	return path;
}

static void directory_remove(char *path)
{
	AUTO_FREE char *command = xprintf("rm -rf '%s'", path);

	CHECK(system(command) == 0);
	free(path);
}

static void file_put(const char *directory, const char *name, const char *text)
{
	AUTO_FREE char *path = xprintf("%s/%s", directory, name);
	FILE *f = fopen(path, "w");

	REQUIRE(f && fputs(text, f) >= 0 && fchmod(fileno(f), 0600) == 0 && fclose(f) == 0);
}

static const struct health_report sample = {
	.id = "node 17/a",
	.role = ROLE_NODE,
	.state = HEALTH_ABNORMALLY_GOOD,
	.rule = RULE_FAST,
	.time_ns = 1763200000123456789,
	.health = { .counts = { 1, 2, 3, 4, 5 }, .excess_ns = 61000000 },
	.utilization = { 12.5, NAN, 99, 40 },
};

static void a_report_is_read_as_it_was_written(void)
{
	char *directory = directory_make();
	struct health_report *reports;

	REQUIRE(health_files_write(directory, &sample, NULL) == 0);
	REQUIRE(health_files_read(directory, &reports) == 1);
	CHECK_TEXT(reports[0].id, "node 17/a");
	CHECK_INT(reports[0].role, ROLE_NODE);
	CHECK_INT(reports[0].state, HEALTH_ABNORMALLY_GOOD);
	CHECK_INT(reports[0].rule, RULE_FAST);
	CHECK_INT(reports[0].time_ns, 1763200000123456789);
	CHECK_INT(reports[0].health.counts[4], 5);
	CHECK_INT(reports[0].health.excess_ns, 61000000);
	CHECK(reports[0].utilization[0] == 12.5 && isnan(reports[0].utilization[1]));
	free(reports);
	directory_remove(directory);
}

static void a_later_report_replaces_and_nodes_are_sorted_by_name(void)
{
	char *directory = directory_make();
	struct health_report report = sample, *reports;

	REQUIRE(health_files_write(directory, &report, NULL) == 0);
	report.time_ns++;
	REQUIRE(health_files_write(directory, &report, NULL) == 0);
	strcpy(report.id, "node 16");
	REQUIRE(health_files_write(directory, &report, NULL) == 0);
	REQUIRE(health_files_read(directory, &reports) == 2);
	CHECK_TEXT(reports[0].id, "node 16");
	CHECK_INT(reports[1].time_ns, sample.time_ns + 1);
	free(reports);
	directory_remove(directory);
}

/* A complete report with one line changed. */
#define REPORT(head, id, state, counts, end)                                                 \
	head "\nid=" id "\nrole=node\nstate=" state "\nrule=slow\ntime_ns=5\ncounts=" counts \
	     "\nexcess_ns=0\nutilization=1 2 3 4\n" end

static void invalid_files_are_ignored(void)
{
	static const char *const wrong[] = {
		"",
		"garbage\n\n\0",
		REPORT("sluice-health 2", "a", "bad", "1 2 3 4 5", "end=\n"),
		REPORT("sluice-health 1", "a", "rather bad", "1 2 3 4 5", "end=\n"),
		REPORT("sluice-health 1", "a", "bad", "1 2 3 4", "end=\n"),
		REPORT("sluice-health 1", "a", "bad", "1 2 3 4 5 6", "end=\n"),
		REPORT("sluice-health 1", "a", "bad", "1 2 3 4 99999999999999999999", "end=\n"),
		REPORT("sluice-health 1", "", "bad", "1 2 3 4 5", "end=\n"),
		REPORT("sluice-health 1",
		       "0123456789012345678901234567890123456789012345678901234567890123", "bad",
		       "1 2 3 4 5", "end=\n"),
		REPORT("sluice-health 1", "a", "bad", "1 2 3 4 5", ""),
	};
	char *directory = directory_make();
	AUTO_FREE char *fifo = xprintf("%s/fifo.health", directory);
	AUTO_FREE char *folder = xprintf("%s/folder.health", directory);
	struct health_report *reports;
	char name[32];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(name, sizeof(name), "%zu.health", i);
		file_put(directory, name, wrong[i]);
	}
	file_put(directory, "other.txt",
		 REPORT("sluice-health 1", "x", "bad", "1 2 3 4 5", "end=\n"));
	REQUIRE(mkfifo(fifo, 0600) == 0 && mkdir(folder, 0700) == 0);
	CHECK_INT(health_files_read(directory, &reports), 0);
	CHECK(!reports);
	/* The unchanged report is valid. */
	file_put(directory, "good.health",
		 REPORT("sluice-health 1", "good", "bad", "1 2 3 4 5", "later=x\nend=\n"));
	CHECK_INT(health_files_read(directory, &reports), 1);
	free(reports);
	/* In a directory that others can enter, it is not. */
	REQUIRE(chmod(directory, 0755) == 0);
	CHECK_INT(health_files_read(directory, &reports), 0);
	directory_remove(directory);
}

static void a_node_writes_after_another_has_removed_the_directory(void)
{
	char *directory = directory_make();
	struct health_report *reports;

	REQUIRE(health_files_write(directory, &sample, NULL) == 0);
	health_files_leave(directory, sample.id);
	CHECK(access(directory, F_OK) != 0);
	CHECK_INT(health_files_write(directory, &sample, NULL), 0);
	CHECK_INT(health_files_read(directory, &reports), 1);
	free(reports);
	directory_remove(directory);
}

static void a_missing_directory_is_empty_and_an_error_for_writers(void)
{
	struct health_report *reports;
	struct err err = { 0 };

	CHECK_INT(health_files_read("/nonexistent/board", &reports), 0);
	CHECK(health_files_write("/nonexistent/board", &sample, &err) < 0);
	CHECK(strstr(err.text, "/nonexistent/board/node%2017%2Fa.health: "));
}

TESTS(TEST(a_report_is_read_as_it_was_written),
      TEST(a_later_report_replaces_and_nodes_are_sorted_by_name), TEST(invalid_files_are_ignored),
      TEST(a_node_writes_after_another_has_removed_the_directory),
      TEST(a_missing_directory_is_empty_and_an_error_for_writers))
