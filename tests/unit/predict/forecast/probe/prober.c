/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests plans and limits by arithmetic, and rounds with real writes of worker processes. The test
 * controls the wall clock.
 * Papers: WAN-4, WAN-7, WAN-9.
 */
#include "predict/forecast/probe/prober.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "check.h"

#define SECOND 1000000000ll
#define DAY (86400 * SECOND)
#define NOON (20000 * DAY + DAY / 2)

static void sizes_ascend_by_whole_blocks(void)
{
	struct prober_plan plan;
	struct err err = { 0 };

	prober_plan_init(&plan);
	CHECK_INT(prober_plan_check(&plan, &err), 0);
	CHECK_INT(plan.sizes[3], 1 << 30);
	CHECK_INT(prober_plan_sizes(&plan, "4K,64K", &err), 0);
	CHECK_INT(plan.size_count, 2);
	CHECK_INT(plan.sizes[1], 65536);
	CHECK_INT(prober_plan_sizes(&plan, "1M,1M", &err), -EINVAL);
	CHECK_INT(prober_plan_sizes(&plan, "1000", &err), -EINVAL);
	CHECK(strstr(err.text, "1000"));
	CHECK_INT(prober_plan_sizes(&plan, "", &err), -EINVAL);
	CHECK_INT(prober_plan_sizes(&plan, "4K,8K,12K,16K,20K,24K,28K,32K,36K", &err), -EINVAL);
	CHECK_INT(plan.size_count, 2);
	plan.reference_every_ns = plan.every_ns - 1;
	CHECK_INT(prober_plan_check(&plan, &err), -EINVAL);
}

static void larger_writes_get_more_time(void)
{
	struct prober_plan plan;

	prober_plan_init(&plan);
	CHECK_INT(prober_plan_timeout(&plan, 0), 20 * SECOND);
	CHECK_INT(prober_plan_timeout(&plan, 3), (20 + 128) * SECOND);
}

/* In every period each target has each size once, and no round has two reference writes. */
static void reference_writes_are_spread_over_rounds(void)
{
	struct prober_plan plan;
	int64_t start = NOON / (300 * SECOND) * 300 * SECOND;
	int due[3][4] = { 0 };

	prober_plan_init(&plan);
	for (int round = 0; round < 10; round++) {
		int now = 0;

		for (size_t target = 0; target < 3; target++)
			for (size_t size = 0; size < 4; size++) {
				bool is = prober_plan_reference_due(
					&plan, start + round * plan.every_ns, target, 3, size);

				due[target][size] += is;
				now += is;
			}
		CHECK(now <= 1);
	}
	for (size_t target = 0; target < 3; target++)
		for (size_t size = 0; size < 4; size++)
			CHECK_INT(due[target][size], size ? 1 : 0);
	plan.is_simultaneous = true;
	CHECK(prober_plan_reference_due(&plan, start, 0, 3, 1));
	CHECK(prober_plan_reference_due(&plan, start, 2, 3, 3));
	CHECK(!prober_plan_reference_due(&plan, start + plan.every_ns, 2, 3, 3));
	plan.reference_every_ns = 0;
	CHECK(!prober_plan_reference_due(&plan, start, 0, 3, 1));
}

/* 288 targets, 3 sizes, 10 rounds: all 864 writes are due once, also with odd periods. */
static void every_reference_write_is_due_once(void)
{
	static const int64_t periods[][2] = { { 30, 300 }, { 7, 100 }, { 30, 30 }, { 13, 20 } };

	for (size_t p = 0; p < 4; p++) {
		struct prober_plan plan;
		int64_t every = periods[p][0] * SECOND, truth = periods[p][1] * SECOND, due = 0;

		prober_plan_init(&plan);
		plan.every_ns = every;
		plan.reference_every_ns = truth;
		for (int64_t round = 0; round < 300 * every; round += every)
			for (size_t target = 0; target < 288; target++)
				for (size_t size = 1; size < 4; size++)
					due += prober_plan_reference_due(&plan, round, target, 288,
									 size);
		CHECK(due >= 864 * (300 * every / truth) - 864);
		CHECK(due <= 864 * (300 * every / truth) + 864);
	}
}

static void daily_limit_is_reset_every_day(void)
{
	struct prober_plan plan;
	struct prober_ledger ledger;

	prober_plan_init(&plan);
	plan.budget_bytes = 100;
	plan.target_bytes = 60;
	prober_ledger_init(&ledger, 2);
	CHECK(prober_ledger_fits(&ledger, &plan, NOON, 0, 60));
	CHECK(!prober_ledger_fits(&ledger, &plan, NOON, 0, 61));
	prober_ledger_spend(&ledger, NOON, 0, 60);
	CHECK(!prober_ledger_fits(&ledger, &plan, NOON, 0, 1));
	CHECK(prober_ledger_fits(&ledger, &plan, NOON, 1, 40));
	CHECK(!prober_ledger_fits(&ledger, &plan, NOON, 1, 41));
	CHECK(prober_ledger_fits(&ledger, &plan, NOON + DAY / 2, 0, 60));
	plan.budget_bytes = plan.target_bytes = 0;
	CHECK(prober_ledger_fits(&ledger, &plan, NOON + DAY / 2, 0, UINT64_MAX));
	prober_ledger_release(&ledger);
}

static void rate_limit_is_an_average(void)
{
	struct prober_plan plan;
	struct prober_ledger ledger;

	prober_plan_init(&plan);
	prober_ledger_init(&ledger, 1);
	CHECK_INT(prober_ledger_wait(&ledger, &plan, SECOND), 0);
	plan.rate_bytes = 10;
	CHECK_INT(prober_ledger_wait(&ledger, &plan, SECOND), 0);
	/* The limit allows a minute in advance; 1200 bytes need another minute. */
	prober_ledger_spend(&ledger, NOON, 0, 1200);
	CHECK_INT((prober_ledger_wait(&ledger, &plan, SECOND) + SECOND / 2) / SECOND, 60);
	CHECK_INT((prober_ledger_wait(&ledger, &plan, 31 * SECOND) + SECOND / 2) / SECOND, 30);
	CHECK_INT(prober_ledger_wait(&ledger, &plan, 62 * SECOND), 0);
	prober_ledger_release(&ledger);
}

#define SEEN 256

struct bed {
	char path[64];
	struct targets targets;
	struct prober_plan plan;
	struct prober prober;
	struct prober_now now; /* the test sets the wall clock */
	struct prober_sample seen[SEEN];
	size_t count;
};

static void seen(void *arg, const struct prober_sample *sample)
{
	struct bed *bed = arg;

	if (bed->count < SEEN)
		bed->seen[bed->count++] = *sample;
}

static void bed_add(struct bed *bed, const char *name)
{
	AUTO_FREE char *path = xprintf("%s/%s", bed->path, name);
	struct target target = { 0 };

	REQUIRE(mkdir(path, 0700) == 0 || errno == EEXIST);
	REQUIRE(target_init(&target, name, path, NULL) == 0);
	REQUIRE(targets_add(&bed->targets, &target, NULL) == 0);
}

static void bed_init(struct bed *bed, size_t targets)
{
	static const char *const names[] = { "a", "b", "c" };

	*bed = (struct bed){ .path = "/tmp/sluice-prober.XXXXXX", .now = { .wall_ns = NOON } };
	REQUIRE(mkdtemp(bed->path));
	for (size_t i = 0; i < targets; i++)
		bed_add(bed, names[i]);
	prober_plan_init(&bed->plan);
	REQUIRE(prober_plan_sizes(&bed->plan, "64K,1M,4M", NULL) == 0);
	bed->plan.timeout_ns = 10 * SECOND;
}

static void bed_open(struct bed *bed)
{
	struct err err = { 0 };
	int r = prober_open(&bed->prober, &bed->targets, &bed->plan, seen, bed, &err);

	if (r < 0)
		printf("%s\n", err.text);
	REQUIRE(r == 0);
	bed->now.monotonic_ns = prober_now().monotonic_ns;
	prober_step(&bed->prober, bed->now); /* the first step does not join a round in progress */
}

static void bed_step(struct bed *bed)
{
	bed->now.monotonic_ns = prober_now().monotonic_ns;
	prober_step(&bed->prober, bed->now);
}

/* Steps until the round is complete. */
static void bed_settle(struct bed *bed)
{
	bed_step(bed);
	while (prober_is_busy(&bed->prober)) {
		prober_wait(&bed->prober, bed->now, -1, SECOND);
		bed_step(bed);
	}
}

static void bed_round(struct bed *bed)
{
	bed->now.wall_ns += bed->plan.every_ns;
	bed_settle(bed);
}

static void bed_release(struct bed *bed)
{
	AUTO_FREE char *command = xprintf("rm -rf %s", bed->path);

	prober_close(&bed->prober);
	targets_release(&bed->targets);
	REQUIRE(system(command) == 0);
}

static void round_writes_once_to_each_target(void)
{
	struct bed bed;
	struct prober_counts sum;

	bed_init(&bed, 3);
	bed.plan.reference_every_ns = 0;
	bed_open(&bed);
	CHECK_INT(bed.count, 0);
	bed_round(&bed);
	CHECK_INT(bed.count, 3);
	bed_step(&bed);
	CHECK_INT(bed.count, 3);
	for (size_t i = 0; i < bed.count; i++) {
		CHECK_INT(bed.seen[i].outcome, SAMPLE_DONE);
		CHECK(bed.seen[i].method != SAMPLE_UNKNOWN);
		CHECK(bed.seen[i].seconds > 0);
		CHECK_INT(bed.seen[i].round_ns, NOON + bed.plan.every_ns);
	}
	bed_round(&bed);
	prober_sum(&bed.prober, &sum);
	CHECK_INT(sum.probes, 6);
	CHECK_INT(sum.bytes, 6 * 65536);
	CHECK_INT(bed.prober.rounds, 2);
	prober_stop(&bed.prober);
	CHECK(prober_cpu(&bed.prober) > 0);
	bed_release(&bed);
}

static void reference_writes_follow_the_probes_one_by_one(void)
{
	struct bed bed;

	bed_init(&bed, 2);
	bed.plan.reference_every_ns = bed.plan.every_ns;
	bed_open(&bed);
	bed_round(&bed);
	REQUIRE(bed.count == 6);
	CHECK_INT(bed.seen[0].size + bed.seen[1].size, 0);
	CHECK_INT(bed.seen[2].target, 0);
	CHECK_INT(bed.seen[2].size, 1);
	CHECK_INT(bed.seen[3].size, 2);
	CHECK_INT(bed.seen[5].target, 1);
	CHECK_INT(bed.seen[5].size, 2);
	CHECK_INT(bed.prober.slots[1].counts.reference_writes, 2);
	CHECK_INT(bed.prober.slots[1].counts.bytes, 65536 + (5 << 20));
	bed_release(&bed);
}

static void method_of_the_plan_is_used(void)
{
	struct bed bed;

	bed_init(&bed, 1);
	bed.plan.method = SAMPLE_FSYNC;
	bed.plan.reference_every_ns = 0;
	bed_open(&bed);
	bed_round(&bed);
	CHECK_INT(bed.seen[0].method, SAMPLE_FSYNC);
	CHECK_INT(bed.seen[0].outcome, SAMPLE_DONE);
	bed_release(&bed);
}

static void writes_over_the_daily_limit_are_skipped(void)
{
	struct bed bed;
	struct prober_counts sum;

	bed_init(&bed, 2);
	bed.plan.reference_every_ns = bed.plan.every_ns;
	bed.plan.budget_bytes = 2 * 65536 + (1 << 20);
	bed_open(&bed);
	bed_round(&bed);
	prober_sum(&bed.prober, &sum);
	CHECK_INT(sum.probes, 2);
	CHECK_INT(sum.reference_writes, 1);
	CHECK_INT(sum.over_budget, 3);
	CHECK_INT(sum.bytes, bed.plan.budget_bytes);
	bed_round(&bed);
	prober_sum(&bed.prober, &sum);
	CHECK_INT(sum.over_budget, 9);
	bed.now.wall_ns += DAY;
	bed_settle(&bed);
	prober_sum(&bed.prober, &sum);
	CHECK_INT(sum.probes, 4);
	bed_release(&bed);
}

/* A stopped process simulates one that is blocked by storage, but it can be killed. Returns false
 * if the machine was so slow that a write to a target that works has exceeded the time limit. */
static bool observe_stuck_target(int64_t timeout_ns)
{
	struct bed bed;
	bool is_fast;
	pid_t stuck;

	bed_init(&bed, 2);
	bed.plan.reference_every_ns = 0;
	bed.plan.timeout_ns = timeout_ns;
	bed_open(&bed);
	stuck = bed.prober.slots[0].worker.pid;
	kill(stuck, SIGSTOP);
	bed_round(&bed);
	REQUIRE(bed.count == 2);
	/* The worker can be killed, so the next round has a new one. */
	while (bed.prober.slots[0].is_stuck || bed.prober.slots[1].is_stuck) {
		prober_wait(&bed.prober, bed.now, -1, SECOND / 100);
		bed_step(&bed);
	}
	bed_round(&bed);
	REQUIRE(bed.count == 4);
	CHECK(bed.prober.slots[0].worker.pid != stuck);
	is_fast = bed.prober.slots[0].counts.timeouts == 1 &&
		  bed.prober.slots[1].counts.timeouts == 0;
	if (is_fast) {
		CHECK_INT(bed.seen[0].target, 1);
		CHECK_INT(bed.seen[0].outcome, SAMPLE_DONE);
		CHECK_INT(bed.seen[1].target, 0);
		CHECK_INT(bed.seen[1].outcome, SAMPLE_TIMEOUT);
		CHECK(bed.seen[1].seconds >= (double)timeout_ns / SECOND);
		CHECK_INT(bed.seen[2].outcome, SAMPLE_DONE);
		CHECK_INT(bed.seen[3].outcome, SAMPLE_DONE);
	}
	bed_release(&bed);
	return is_fast;
}

static void stuck_target_is_recorded_and_does_not_delay_others(void)
{
	int64_t timeout_ns = SECOND / 5;

	while (!observe_stuck_target(timeout_ns) && timeout_ns < 100 * SECOND)
		timeout_ns *= 4;
	CHECK(timeout_ns < 100 * SECOND);
}

/* Simulates a worker that does not die by the pid of a process that is not a child. */
static void stuck_target_gets_no_orders(void)
{
	struct bed bed;
	struct prober_slot *slot;
	pid_t own;

	bed_init(&bed, 2);
	bed.plan.reference_every_ns = 0;
	bed_open(&bed);
	slot = &bed.prober.slots[0];
	own = slot->worker.pid;
	slot->worker.pid = 1; /* not a child, so wait4() fails */
	slot->worker.is_killed = slot->is_stuck = true;
	slot->begun_ns = bed.now.monotonic_ns - 50 * SECOND;
	bed_round(&bed);
	bed_round(&bed);
	REQUIRE(bed.count == 4);
	CHECK_INT(slot->counts.stuck, 2);
	CHECK_INT(slot->counts.bytes, 0);
	CHECK_INT(bed.prober.slots[1].counts.probes, 2);
	CHECK_INT(bed.seen[0].outcome, SAMPLE_TIMEOUT);
	CHECK(bed.seen[0].seconds >= 50);
	slot->worker.pid = own;
	slot->worker.is_killed = slot->is_stuck = false;
	bed_round(&bed);
	CHECK_INT(slot->counts.probes, 1);
	bed_release(&bed);
}

static void dead_worker_is_a_failure_and_is_replaced(void)
{
	struct bed bed;

	bed_init(&bed, 1);
	bed.plan.reference_every_ns = 0;
	bed_open(&bed);
	kill(bed.prober.slots[0].worker.pid, SIGKILL);
	bed_round(&bed);
	CHECK_INT(bed.seen[0].outcome, SAMPLE_FAILED);
	while (bed.prober.slots[0].is_stuck)
		bed_step(&bed);
	bed_round(&bed);
	CHECK_INT(bed.seen[1].outcome, SAMPLE_DONE);
	bed_release(&bed);
}

/* The unlinked file would still accept writes. */
static void removed_directory_is_a_failure_until_it_returns(void)
{
	struct bed bed;

	bed_init(&bed, 1);
	bed.plan.reference_every_ns = 0;
	bed_open(&bed);
	bed_round(&bed);
	REQUIRE(rmdir(bed.targets.rows[0].path) == 0);
	bed_round(&bed);
	REQUIRE(mkdir(bed.targets.rows[0].path, 0700) == 0);
	bed_round(&bed);
	REQUIRE(bed.count == 3);
	CHECK_INT(bed.seen[0].outcome, SAMPLE_DONE);
	CHECK_INT(bed.seen[1].outcome, SAMPLE_FAILED);
	CHECK_INT(bed.seen[2].outcome, SAMPLE_DONE);
	bed_release(&bed);
}

/* The worker inherits a file size limit of 128 KiB. */
static void full_disk_is_recorded_and_space_is_freed(void)
{
	struct rlimit old, small;
	struct bed bed;

	bed_init(&bed, 1);
	bed.plan.reference_every_ns = bed.plan.every_ns;
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 131072;
	setrlimit(RLIMIT_FSIZE, &small);
	bed_open(&bed);
	setrlimit(RLIMIT_FSIZE, &old);
	bed_round(&bed);
	REQUIRE(bed.count == 3);
	CHECK_INT(bed.seen[0].outcome, SAMPLE_DONE);
	CHECK_INT(bed.seen[1].outcome, SAMPLE_FULL);
	CHECK_INT(bed.seen[2].outcome, SAMPLE_FULL);
	CHECK_INT(bed.prober.slots[0].counts.full, 2);
	CHECK_INT(bed.prober.slots[0].counts.bytes, 65536);
	bed_release(&bed);
}

/* Uses a small tmpfs, if the test may mount one. */
static void half_of_the_free_space_stays_free(void)
{
	struct bed bed;

	bed_init(&bed, 1);
	if (mount("none", bed.targets.rows[0].path, "tmpfs", 0, "size=6m") < 0) {
		printf("no mount: %s\n", strerror(errno));
		bed_release(&bed);
		return;
	}
	bed.plan.reference_every_ns = bed.plan.every_ns;
	bed_open(&bed);
	bed_round(&bed);
	CHECK_INT(bed.count, 3);
	CHECK_INT(bed.seen[1].outcome, SAMPLE_DONE);
	CHECK_INT(bed.seen[2].outcome, SAMPLE_FULL); /* 4 of 6 MiB */
	bed_round(&bed);
	CHECK_INT(bed.seen[4].outcome, SAMPLE_DONE); /* the space was freed */
	prober_stop(&bed.prober);
	umount(bed.targets.rows[0].path);
	bed_release(&bed);
}

static void missing_target_is_reported_at_once(void)
{
	struct bed bed;
	struct err err = { 0 };

	bed_init(&bed, 2);
	REQUIRE(rmdir(bed.targets.rows[1].path) == 0);
	CHECK_INT(prober_open(&bed.prober, &bed.targets, &bed.plan, seen, &bed, &err), -ENOENT);
	CHECK(strstr(err.text, "\"b\""));
	CHECK(strstr(err.text, bed.targets.rows[1].path));
	bed_release(&bed);
}

static void shared_device_is_found(void)
{
	size_t one, other;
	struct bed bed;

	bed_init(&bed, 2);
	bed_open(&bed);
	CHECK(prober_shared_device(&bed.prober, &one, &other));
	CHECK_INT(one, 0);
	CHECK_INT(other, 1);
	bed_release(&bed);
}

static void ranks_divide_the_targets(void)
{
	struct bed bed;
	struct err err = { 0 };

	bed_init(&bed, 3);
	bed.plan.reference_every_ns = 0;
	bed.plan.first_target = 1;
	bed.plan.target_step = 2;
	REQUIRE(prober_open(&bed.prober, &bed.targets, &bed.plan, seen, &bed, &err) == 0);
	CHECK_INT(bed.prober.count, 1);
	bed_step(&bed);
	bed_round(&bed);
	CHECK_INT(bed.count, 1);
	CHECK_INT(bed.seen[0].target, 1);
	prober_close(&bed.prober);
	/* A rank without a target is valid. */
	bed.plan.first_target = 3;
	bed.plan.target_step = 4;
	REQUIRE(prober_open(&bed.prober, &bed.targets, &bed.plan, seen, &bed, &err) == 0);
	CHECK_INT(bed.prober.count, 0);
	bed_round(&bed);
	bed_release(&bed);
}

static int links_of(pid_t pid, const char *below)
{
	AUTO_FREE char *path = xprintf("/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	int n = 0;

	for (struct dirent *e; dir && (e = readdir(dir));) {
		char link[256];
		ssize_t len = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);

		link[len > 0 ? len : 0] = 0;
		n += strncmp(link, below, strlen(below)) == 0;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* The prober is killed and cannot clean up. */
static void killed_prober_leaves_nothing_behind(void)
{
	struct bed bed;
	int pipes[2], status;
	pid_t pid, worker = 0;

	bed_init(&bed, 1);
	REQUIRE(pipe(pipes) == 0);
	pid = fork();
	if (!pid) {
		bed_open(&bed);
		bed_round(&bed);
		worker = bed.prober.slots[0].worker.pid;
		if (write(pipes[1], &worker, sizeof(worker)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	REQUIRE(read(pipes[0], &worker, sizeof(worker)) == (ssize_t)sizeof(worker));
	CHECK(links_of(worker, bed.path) >= 1); /* two with O_DIRECT */
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	/* The worker dies with its parent and is reaped by the process that adopts it. */
	for (int i = 0; i < 600000 && links_of(worker, bed.path); i++)
		usleep(1000);
	CHECK_INT(links_of(worker, bed.path), 0);
	CHECK_INT(rmdir(bed.targets.rows[0].path), 0); /* succeeds if it is empty */
	close(pipes[0]);
	close(pipes[1]);
	bed_release(&bed);
}

TESTS(TEST(sizes_ascend_by_whole_blocks), TEST(larger_writes_get_more_time),
      TEST(reference_writes_are_spread_over_rounds), TEST(every_reference_write_is_due_once),
      TEST(daily_limit_is_reset_every_day), TEST(rate_limit_is_an_average),
      TEST(round_writes_once_to_each_target), TEST(reference_writes_follow_the_probes_one_by_one),
      TEST(method_of_the_plan_is_used), TEST(writes_over_the_daily_limit_are_skipped),
      TEST(stuck_target_is_recorded_and_does_not_delay_others), TEST(stuck_target_gets_no_orders),
      TEST(dead_worker_is_a_failure_and_is_replaced),
      TEST(removed_directory_is_a_failure_until_it_returns),
      TEST(full_disk_is_recorded_and_space_is_freed), TEST(half_of_the_free_space_stays_free),
      TEST(missing_target_is_reported_at_once), TEST(shared_device_is_found),
      TEST(ranks_divide_the_targets), TEST(killed_prober_leaves_nothing_behind))
