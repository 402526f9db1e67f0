/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/observer.h"

#include <errno.h>
#include <sluice/activity.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "contract/call.h"
#include "contract/calls.h"
#include "contract/record.h"
#include "daemon/sums_table.h"

static char told[4096];

static void tell(const char *sentence)
{
	snprintf(told, sizeof(told), "%s", sentence);
}

static struct observer *make(const char *command)
{
	struct observer *observer = NULL;
	struct config config;
	struct err err = { 0 };

	config_init(&config);
	/* The load of the machine that runs the test must not explain anything. */
	REQUIRE(config_assign(&config, "stats.providers=memory", "test", &err) == 0);
	REQUIRE(config_assign(&config, "site.node=n1", "test", &err) == 0);
	REQUIRE(observer_new(&observer, &config, command, tell, &err) == 0);
	config_release(&config);
	told[0] = 0;
	return observer;
}

static const struct observed first = { 1, 1000, "17", 0 }, second = { 2, 1001, "18", 0 };

/* Writes of 1 MiB. */
static void add_writes(struct observer *observer, const struct observed *run, uint32_t file,
		       unsigned count, int64_t duration_ns)
{
	for (unsigned i = 0; i < count; i++) {
		struct activity a = { .duration_ns = duration_ns + i % 100,
				      .result = 1 << 20,
				      .size = 1 << 20,
				      .file = file,
				      .call = CALL_write,
				      .layer = LAYER_POSIX };

		observer_activities(observer, run, &a, 1);
	}
}

/* Two jobs on two file systems; `slow` makes the calls of one of them slow. */
static bool run_cycle(struct observer *observer, int64_t *now, const struct observed *slow)
{
	*now += NS_PER_S;
	add_writes(observer, &first, 1, 100, slow == &first ? 500 * NS_PER_MS : NS_PER_MS);
	add_writes(observer, &second, 1, 50, slow == &second ? 500 * NS_PER_MS : NS_PER_MS);
	return observer_cycle(observer, *now);
}

static struct observer *make_usual(int64_t *now)
{
	struct observer *observer = make(NULL);

	*now = NS_PER_S;
	observer_file(observer, &first, 1, "/proc/version");
	observer_file(observer, &second, 1, "/");
	for (int i = 0; i < 30; i++)
		CHECK(!run_cycle(observer, now, NULL));
	CHECK_TEXT(told, "");
	return observer;
}

static void alert_lasts_as_long_as_the_anomaly(void)
{
	int64_t now;
	struct observer *observer = make_usual(&now);
	int raised = 0;

	while (raised < 10 && !run_cycle(observer, &now, &first))
		raised++;
	CHECK_INT(raised, ALERT_CYCLES - 1);
	CHECK(observer_alert(observer)->is_raised);
	CHECK_WORDS(told, "alert|likely cause|file system /proc");
	/* Both jobs are named, the one that moves more bytes first. */
	CHECK_WORDS(told, "job 17 of user 1000|job 18 of user 1001");
	CHECK(strstr(told, "job 17") < strstr(told, "job 18"));
	/* What the site is told; /proc is no file system that nodes share. */
	CHECK_TEXT(observer_anomaly(observer).target, "n1:/proc");
	CHECK(observer_anomaly(observer).has_job);
	CHECK_TEXT(observer_anomaly(observer).job, "17");
	CHECK(observer_anomaly(observer).value > 2);
	/* Everybody may read the kind, which names nobody. */
	CHECK_TEXT(observer_alert(observer)->kind, "file system");
	told[0] = 0;
	observer_judge(observer, "likely job", "likely job: of ann");
	CHECK_WORDS(told, "site|likely job|ann");
	told[0] = 0;
	observer_judge(observer, "likely job", "likely job: of ann, a little more");
	CHECK_TEXT(told, "");
	observer_judge(observer, "", "");
	CHECK_TEXT(observer_alert(observer)->verdict, "");
	for (int i = 0; i < 5; i++)
		CHECK(!run_cycle(observer, &now, &first)); /* it lasts, and is not told again */
	CHECK_TEXT(told, "");
	for (int i = 0; i < 3 * ALERT_CYCLES && observer_alert(observer)->is_raised; i++)
		run_cycle(observer, &now, NULL);
	CHECK(!observer_alert(observer)->is_raised);
	CHECK_WORDS(told, "over|/proc");
	observer_free(observer);
}

static void one_bad_cycle_is_no_alert(void)
{
	int64_t now;
	struct observer *observer = make_usual(&now);

	for (int i = 0; i < 5; i++) {
		CHECK(!run_cycle(observer, &now, &second));
		CHECK(!run_cycle(observer, &now, NULL));
	}
	CHECK(!observer_alert(observer)->is_raised);
	observer_free(observer);
}

static void job_is_the_cause_on_a_shared_file_system(void)
{
	struct observer *observer = make(NULL);
	int64_t now = NS_PER_S;

	observer_file(observer, &first, 1, "/proc/version");
	observer_file(observer, &second, 1, "/proc/cmdline");
	for (int i = 0; i < 30; i++)
		run_cycle(observer, &now, NULL);
	for (int i = 0; i < ALERT_CYCLES; i++)
		run_cycle(observer, &now, &second);
	CHECK(observer_alert(observer)->is_raised);
	CHECK_TEXT(observer_alert(observer)->cause, "job 18 of user 1001");
	observer_end(observer, 2);
	observer_end(observer, 2);
	observer_free(observer);
}

static void command_learns_of_the_alert(void)
{
	AUTO_FREE char *path = check_path("alert");
	AUTO_FREE char *command =
		xprintf("echo \"$SLUICE_ALERT: $SLUICE_ALERT_CAUSE\" >> %s", path);
	struct alert alert = { .command = command, .tell = tell };
	struct alert_view bad = { true, "calls are slow", "node load", "node load", "" },
			  good = { false, "", "", "", "" };
	char text[256] = "";
	FILE *file;

	for (int i = 0; i < ALERT_CYCLES; i++)
		CHECK_INT(alert_update(&alert, &bad), i == ALERT_CYCLES - 1);
	while (alert.commands[0]) {
		clock_sleep_ns(NS_PER_MS);
		alert_reap(&alert);
	}
	for (int i = 0; i < ALERT_CYCLES; i++)
		alert_update(&alert, &good);
	while (alert.commands[0]) {
		clock_sleep_ns(NS_PER_MS);
		alert_reap(&alert);
	}
	file = fopen(path, "r");
	REQUIRE(file);
	CHECK(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	CHECK_TEXT(text, "raised: node load\ncleared: node load\n");
}

struct drained {
	uint64_t calls, bytes;
	char filesystems[256];
};

static void take(void *arg, const char *filesystem, const char *target, enum call_class operation,
		 enum speed speed, const struct sums *sums)
{
	struct drained *drained = arg;

	(void)speed;
	CHECK_TEXT(target, "");
	CHECK_INT(operation, CLASS_WRITE);
	drained->calls += sums->calls;
	drained->bytes += sums->bytes;
	snprintf(drained->filesystems + strlen(drained->filesystems), 64, "%s ", filesystem);
}

static void sums_name_the_file_system(void)
{
	struct observer *observer = make(NULL);
	struct drained drained = { 0 };
	struct activity nested = { .result = 1 << 20, .parent = 7, .call = CALL_write };

	observer_file(observer, &first, 3, "/proc/version");
	add_writes(observer, &first, 3, 10, 1000);
	add_writes(observer, &first, 4, 5, 1000); /* a file that nobody has named */
	observer_activities(observer, &first, &nested, 1);
	sums_table_drain(observer_sums(observer), take, &drained);
	CHECK_INT(drained.calls, 15);
	CHECK_INT(drained.bytes, 15 << 20);
	CHECK_TEXT(drained.filesystems, "/proc other ");
	drained = (struct drained){ 0 };
	sums_table_drain(observer_sums(observer), take, &drained);
	CHECK_INT(drained.calls, 0);
	observer_free(observer);
}

static void loads_are_counted_by_job_and_place(void)
{
	struct observer *observer = make(NULL);
	static struct load_sum sums[LOAD_ENTRIES];

	observer_file(observer, &first, 1, "/proc/version");
	add_writes(observer, &first, 1, 10, 1000);
	add_writes(observer, &second, 7, 5, 1000);
	CHECK_INT(observer_loads(observer, LOAD_REPORT, 1, sums), 2);
	CHECK_TEXT(sums[0].job, "17");
	CHECK_INT(sums[0].counts.calls[LOAD_WRITE], 10);
	CHECK_INT(sums[0].counts.bytes[LOAD_WRITE], 10 << 20);
	CHECK_TEXT(observer_target(observer, sums[0].place), "n1:/proc");
	CHECK_TEXT(observer_mount(observer, sums[0].place), "/proc");
	CHECK_TEXT(sums[1].job, "18");
	CHECK_TEXT(observer_target(observer, sums[1].place), "");
	CHECK_INT(observer_loads(observer, LOAD_REPORT, 2, sums), 0);
	/* The other reader has seen nothing yet, also of a run that is over. */
	observer_end(observer, first.id);
	CHECK_INT(observer_loads(observer, LOAD_METRICS, 2, sums), 2);
	CHECK_INT(observer_loads(observer, LOAD_METRICS, LOAD_LINGER_NS, sums), 0);
	CHECK_INT(observer_loads(observer, LOAD_METRICS, 2 * LOAD_LINGER_NS, sums), 1);
	CHECK(sums[0].is_gone);
	CHECK_TEXT(sums[0].job, "17");
	CHECK_INT(observer_loads(observer, LOAD_METRICS, 3 * LOAD_LINGER_NS, sums), 0);
	observer_free(observer);
}

/* A process opens a file by the call of this number. */
static void add_open(struct observer *observer, const struct observed *run, uint32_t process,
		     uint32_t file, uint64_t number)
{
	struct activity a = { .id = id_make(1, number),
			      .process = process,
			      .parent = id_make(1, 1), /* such as MPI_File_open */
			      .file = file,
			      .call = CALL_open,
			      .layer = LAYER_POSIX };

	observer_activities(observer, run, &a, 1);
}

static void counted_calls_are_part_of_the_load(void)
{
	static struct load_sum sums[LOAD_ENTRIES];
	static const struct observed counting = { 3, 1000, "19", 77 };
	const struct observed_count counts[] = {
		{ link_make(LINK_FILE, id_make(1, 5)), LOAD_WRITE, 100, 4096 },
		{ link_make(LINK_FILE, id_make(1, 6)), LOAD_READ, 10, 40 },
		{ 0, LOAD_OTHER, 3, 0 },
	};
	struct observer *observer = make(NULL);
	size_t n;

	CHECK(!observer_counts(observer, 1000, 77, counts, 3));
	observer_file(observer, &counting, 1, "/proc/version");
	observer_file(observer, &counting, 2, "/");
	CHECK(!observer_counts(observer, 1001, 77, counts, 3));
	CHECK(!observer_counts(observer, 1000, 78, counts, 3));
	/* Both processes have opened /proc by call 5, and different file systems by call 6. */
	add_open(observer, &counting, 0, 1, 5);
	add_open(observer, &counting, 1, 1, 5);
	add_open(observer, &counting, 0, 1, 6);
	add_open(observer, &counting, 1, 2, 6);
	CHECK(observer_counts(observer, 1000, 77, counts, 3));
	n = observer_loads(observer, LOAD_REPORT, 1, sums);
	CHECK_INT(n, 2);
	for (size_t i = 0; i < n; i++) {
		bool is_known = sums[i].place;

		CHECK_TEXT(sums[i].job, "19");
		CHECK_TEXT(observer_mount(observer, sums[i].place), is_known ? "/proc" : "other");
		CHECK_INT(sums[i].counts.calls[LOAD_WRITE], is_known ? 100 : 0);
		CHECK_INT(sums[i].counts.bytes[LOAD_WRITE], is_known ? 4096 : 0);
		CHECK_INT(sums[i].counts.calls[LOAD_READ], is_known ? 0 : 10);
		CHECK_INT(sums[i].counts.calls[LOAD_OTHER], is_known ? 0 : 3);
	}
	observer_end(observer, counting.id);
	CHECK(!observer_counts(observer, 1000, 77, counts, 3));
	observer_free(observer);
}

static void loads_beyond_the_limit_are_summed_up(void)
{
	static struct load_table table;
	static struct load_sum sums[LOAD_ENTRIES];
	char job[16];

	for (unsigned i = 0; i < LOAD_ENTRIES + 10; i++) {
		snprintf(job, sizeof(job), "%u", i);
		load_table_add(&table, load_table_open(&table, 1000, job, 0), LOAD_READ, 1, 4);
	}
	CHECK_INT(load_table_read(&table, LOAD_REPORT, 1, sums), LOAD_ENTRIES);
	CHECK(sums[0].is_other);
	CHECK_INT(sums[0].counts.calls[LOAD_READ], 11);
	CHECK_INT(sums[0].counts.bytes[LOAD_READ], 44);
	CHECK_INT(sums[1].counts.calls[LOAD_READ], 1);
}

TESTS(TEST(alert_lasts_as_long_as_the_anomaly), TEST(one_bad_cycle_is_no_alert),
      TEST(job_is_the_cause_on_a_shared_file_system), TEST(command_learns_of_the_alert),
      TEST(loads_are_counted_by_job_and_place), TEST(counted_calls_are_part_of_the_load),
      TEST(loads_beyond_the_limit_are_summed_up), TEST(sums_name_the_file_system))
