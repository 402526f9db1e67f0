/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: SIOX-44, SIOX-47.
 */
#include "observe/stats/provider.h"

#include <errno.h>

#include "stats_tree.h"

#undef CHECK_NEAR
#define CHECK_NEAR(actual, expected) CHECK(fabs((actual) - (expected)) < 1e-6)

static void the_shares_of_all_cores_add_up_to_100(void)
{
	struct tree t = tree_new();

	tree_write(&t, "proc/stat",
		   "cpu  1000 10 200 5000 50 3 7 30 400 0\ncpu0 1 2 3\nintr 5 6\n"
		   "procs_running 3\nprocs_blocked 1\n");
	tree_write(&t, "proc/loadavg", "1.25 0.50 0.25 2/345 6789\n");
	tree_start(&t, "cpu");
	tree_poll(&t);
	CHECK(isnan(tree_last(&t, "cpu/user")));
	CHECK_NEAR(tree_last(&t, "cpu/running"), 3);
	CHECK_NEAR(tree_last(&t, "cpu/blocked"), 1);
	CHECK_NEAR(tree_last(&t, "cpu/load"), 1.25);
	/* 200 ticks: 38 + 2 user and nice, 20 + 4 + 6 system, 100 idle, 10 waiting, 20 stolen. */
	tree_write(&t, "proc/stat",
		   "cpu  1038 12 220 5100 60 7 13 50 500 0\nprocs_running 2\nprocs_blocked 0\n");
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "cpu/user"), 20);
	CHECK_NEAR(tree_last(&t, "cpu/system"), 15);
	CHECK_NEAR(tree_last(&t, "cpu/idle"), 50);
	CHECK_NEAR(tree_last(&t, "cpu/iowait"), 5);
	CHECK_NEAR(tree_last(&t, "cpu/steal"), 10);
	/* No tick has passed: nothing is known. */
	tree_poll(&t);
	CHECK(isnan(tree_last(&t, "cpu/idle")));
	tree_free(&t);
}

static void memory_is_reported_in_bytes(void)
{
	struct tree t = tree_new();

	tree_write(&t, "proc/meminfo",
		   "MemTotal:        1000 kB\nMemFree:          300 kB\nMemAvailable:     600 kB\n"
		   "Buffers:           20 kB\nCached:           250 kB\nSwapCached:         9 kB\n"
		   "SwapTotal:        500 kB\nSwapFree:         450 kB\nDirty:             30 kB\n"
		   "Writeback:          4 kB\nAnonPages:         1 kB\nWritebackTmp:      8 kB\n");
	tree_start(&t, "memory");
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "memory/total"), 1000 * 1024);
	CHECK_NEAR(tree_last(&t, "memory/used"), 400 * 1024);
	CHECK_NEAR(tree_last(&t, "memory/cached"), 270 * 1024);
	CHECK_NEAR(tree_last(&t, "memory/dirty"), 30 * 1024);
	CHECK_NEAR(tree_last(&t, "memory/writeback"), 4 * 1024);
	CHECK_NEAR(tree_last(&t, "memory/swap"), 50 * 1024);
	/* An old kernel does not report the available memory. */
	tree_write(&t, "proc/meminfo",
		   "MemTotal:        1000 kB\nMemFree:          300 kB\n"
		   "Buffers:           20 kB\nCached:           250 kB\n");
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "memory/used"), 430 * 1024);
	CHECK(isnan(tree_last(&t, "memory/dirty")));
	tree_free(&t);
}

#define NET_HEAD                                                         \
	"Inter-|   Receive                                |  Transmit\n" \
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    ...\n"

static void interfaces_count_bytes_since_the_last_poll(void)
{
	struct tree t = tree_new();

	tree_write(&t, "proc/net/dev",
		   NET_HEAD "    lo: 50 5 0 0 0 0 0 0 50 5 0 0 0 0 0 0\n"
			    "  eth0:1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0\n"
			    "  idle: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	tree_start(&t, "network");
	tree_poll(&t);
	CHECK(isnan(tree_last(&t, "network/eth0/received")));
	CHECK(!statistics_find(t.statistics, "network/idle/sent"));
	tree_write(&t, "proc/net/dev",
		   NET_HEAD "    lo: 51 6 0 0 0 0 0 0 51 6 0 0 0 0 0 0\n"
			    "  eth0:1500 12 0 0 0 0 0 0 2007 21 0 0 0 0 0 0\n"
			    "  idle: 0 0 0 0 0 0 0 0 90 1 0 0 0 0 0 0\n");
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "network/eth0/received"), 500);
	CHECK_NEAR(tree_last(&t, "network/eth0/received_packets"), 2);
	CHECK_NEAR(tree_last(&t, "network/eth0/sent"), 7);
	CHECK_NEAR(tree_last(&t, "network/eth0/sent_packets"), 1);
	CHECK_NEAR(tree_last(&t, "network/lo/received"), 1);
	/* It was idle until now, so all of it is new. */
	CHECK_NEAR(tree_last(&t, "network/idle/sent"), 90);
	/* One interface is gone, one was reset. */
	tree_write(&t, "proc/net/dev", NET_HEAD "  eth0:7 1 0 0 0 0 0 0 2008 22 0 0 0 0 0 0\n");
	tree_poll(&t);
	CHECK(isnan(tree_last(&t, "network/eth0/received")));
	CHECK_NEAR(tree_last(&t, "network/eth0/sent"), 1);
	CHECK(isnan(tree_last(&t, "network/lo/received")));
	tree_free(&t);
}

static void disks_write(const struct tree *t, int more, int late)
{
	AUTO_FREE char *text =
		xprintf("   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
			"   8       0 sda %d 5 %d 70 %d 9 %d 80 0 %d 150 0 0 0 0\n"
			"   8       1 sda1 10 5 100 70 20 9 200 80 0 30 150 0 0 0 0\n"
			"   8       2 sda2 %d 5 %d 70 %d 9 %d 80 0 30 150 0 0 0 0\n"
			" 259       0 nvme0n1 10 0 100 70 20 0 200 80 0 30 150\n"
			" 104       0 cciss/c0d0 1 0 8 1 0 0 0 0 0 1 1\n"
			"   7       1 loop1 0 0 0 0 %d 0 %d 0 0 0 0 0 0 0 0\n",
			10 + more, 100 + 8 * more, 20 + more, 200 + 16 * more, 30 + more, 10 + more,
			100 + 8 * more, 20 + more, 200 + 16 * more, late, 2 * late);

	tree_write(t, "proc/diskstats", text);
}

static struct tree disks_tree(void)
{
	struct tree t = tree_new();

	tree_write(&t, "sys/class/block/sda1/partition", "1\n");
	tree_write(&t, "sys/class/block/sda2/partition", "2\n");
	tree_write(&t, "home/with blank/file", "");
	tree_write(&t, "scratch/file", "");
	tree_write(&t, "etc/hosts", "");
	tree_write(&t, "proc/self/mountinfo",
		   "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
		   "21 20 0:5 / /proc rw - proc proc rw\n"
		   "22 20 8:2 / /home/with\\040blank rw shared:2 - xfs /dev/sda2 rw\n"
		   "23 20 8:2 /x /home/with\\040blank/x/deeper rw shared:2 - xfs /dev/sda2 rw\n"
		   "24 20 8:2 /hosts /etc/hosts rw shared:2 - xfs /dev/sda2 rw\n"
		   "25 20 0:44 / /scratch rw shared:3 - btrfs /dev/nvme0n1 rw\n");
	return t;
}

static void active_devices_are_reported_by_disk_and_by_mount(void)
{
	struct tree t = disks_tree();

	disks_write(&t, 0, 0);
	tree_start(&t, "io");
	tree_poll(&t);
	CHECK(isnan(tree_last(&t, "io/sda/read")));
	CHECK(!statistics_find(t.statistics, "io/sda1/read"));
	CHECK(!statistics_find(t.statistics, "io/loop0/read"));
	CHECK(!statistics_find(t.statistics, "io/loop1/read"));
	CHECK(!statistics_find(t.statistics, "mount/etc/hosts@sda2/read"));
	disks_write(&t, 40, 3);
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "io/sda/read"), 40 * 8 * 512);
	CHECK_NEAR(tree_last(&t, "io/sda/written"), 40 * 16 * 512);
	CHECK_NEAR(tree_last(&t, "io/sda/reads"), 40);
	CHECK_NEAR(tree_last(&t, "io/sda/writes"), 40);
	CHECK_NEAR(tree_last(&t, "io/sda/busy"), 40); /* of 100 ms */
	CHECK_NEAR(tree_last(&t, "io/nvme0n1/busy"), 0);
	CHECK_NEAR(tree_last(&t, "mount/home/with blank@sda2/read"), 40 * 8 * 512);
	CHECK_NEAR(tree_last(&t, "mount/home/with blank@sda2/written"), 40 * 16 * 512);
	CHECK_NEAR(tree_last(&t, "mount@sda1/written"), 0);
	CHECK_NEAR(tree_last(&t, "mount/scratch@nvme0n1/read"), 0);
	CHECK_NEAR(tree_last(&t, "io/cciss!c0d0/reads"), 0);
	CHECK_NEAR(tree_last(&t, "io/loop1/written"), 6 * 512);
	/* Busy time cannot exceed the elapsed time. */
	disks_write(&t, 400, 3);
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "io/sda/busy"), 100);
	tree_free(&t);
}

#define NFS(place, bytes)                                                                          \
	"device server:/export mounted on " place " with fstype nfs4 statvers=1.1\n"               \
	"\topts:\trw,vers=4.2\n\tage:\t10\n\tevents:\t1 2 3\n\tbytes:\t" bytes "\n"                \
	"\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\tper-op statistics\n\t        NULL: 1 " \
	"1 "                                                                                       \
	"0 44 24 0 0 0 0\n"

static void nfs_mounts_report_bytes_exchanged_with_the_server(void)
{
	struct tree t = tree_new();

	tree_write(&t, "proc/self/mountstats",
		   "device proc mounted on /proc with fstype proc\n" NFS("/net/a",
									 "1 2 3 4 500 600 7 8"));
	tree_start(&t, "io");
	tree_poll(&t);
	tree_write(&t, "proc/self/mountstats",
		   "device proc mounted on /proc with fstype proc\n" NFS(
			   "/net/b", "1 2 3 4 50 60 7 8") NFS("/net/a", "9 9 9 9 1500 660 7 8"));
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "mount/net/a@nfs/read"), 1000);
	CHECK_NEAR(tree_last(&t, "mount/net/a@nfs/written"), 60);
	CHECK(isnan(tree_last(&t, "mount/net/b@nfs/read")));
	tree_free(&t);
}

#define LLITE "snapshot_time             1600000000.123456 secs.usecs\n"

static void lustre_is_found_in_both_places_and_reported_per_file_system(void)
{
	struct tree t = tree_new();

	tree_write(&t, "proc/fs/lustre/llite/scratch-ffff88/stats",
		   LLITE "read_bytes                10 samples [bytes] 4096 1048576 40960\n"
			 "write_bytes               2 samples [bytes] 1 5 6\n"
			 "open                      7 samples [regs]\n");
	tree_write(&t, "sys/kernel/debug/lustre/llite/work-fs-ffff99/stats", LLITE);
	tree_write(&t, "sys/kernel/debug/lustre/llite/work-fs-ffffaa/stats", LLITE);
	tree_start(&t, "lustre");
	tree_poll(&t);
	CHECK_INT(statistics_count(t.statistics), 12);
	tree_write(&t, "proc/fs/lustre/llite/scratch-ffff88/stats",
		   LLITE "read_bytes                13 samples [bytes] 4096 1048576 50960\n"
			 "write_bytes               2 samples [bytes] 1 5 6\n");
	tree_write(&t, "sys/kernel/debug/lustre/llite/work-fs-ffff99/stats",
		   LLITE "write_bytes               1 samples [bytes] 9 9 9\n");
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "lustre/scratch/read"), 10000);
	CHECK_NEAR(tree_last(&t, "lustre/scratch/reads"), 3);
	CHECK_NEAR(tree_last(&t, "lustre/scratch/written"), 0);
	CHECK_NEAR(tree_last(&t, "lustre/work-fs/written"), 9);
	CHECK_NEAR(tree_last(&t, "lustre/work-fs/writes"), 1);
	CHECK_NEAR(tree_last(&t, "lustre/work-fs-ffffaa/written"), 0);
	tree_free(&t);
}

static void node_write(const struct tree *t, int busy, int received, int sent, int slow)
{
	AUTO_FREE char *stat = xprintf("cpu  %d 0 0 %d 0 0 0 0 0 0\n", busy, 100 + busy * 2 / 3);
	AUTO_FREE char *disks = xprintf("   8       0 sda 1 0 8 1 1 0 8 1 0 %d 1\n"
					"   8       1 sdb 1 0 8 1 1 0 8 1 0 %d 1\n",
					busy / 2, busy);
	AUTO_FREE char *net = xprintf(NET_HEAD "    lo: 1%d 5 0 0 0 0 0 0 50 5 0 0 0 0 0 0\n"
					       "  eth0:%d 10 0 0 0 0 0 0 1%d 20 0 0 0 0 0 0\n"
					       "  ib0: %d 10 0 0 0 0 0 0 100 20 0 0 0 0 0 0\n",
				      received, received + 1, sent, slow + 1);

	tree_write(t, "proc/stat", stat);
	tree_write(t, "proc/diskstats", disks);
	tree_write(t, "proc/net/dev", net);
}

static void utilization_summarizes_the_other_providers(void)
{
	struct tree t = tree_new();
	double percent[4];

	tree_write(&t, "sys/class/net/eth0/speed", "10000\n");
	tree_write(&t, "sys/class/net/ib0/speed", "-1\n");
	tree_write(&t, "proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 750 kB\n");
	node_write(&t, 0, 0, 0, 0);
	/* It is polled last, wherever the list names it. */
	tree_start(&t, "utilization, cpu memory,network io");
	tree_poll(&t);
	CHECK(isnan(tree_last(&t, "utilization/cpu")));
	CHECK(isnan(tree_last(&t, "utilization/network")));
	CHECK_NEAR(tree_last(&t, "utilization/memory"), 25);
	/* 31.25 MB in 100 ms, of the 125 MB that 10 Gbit/s allow. */
	node_write(&t, 60, 31250000, 3, 0);
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "utilization/cpu"), 60);
	CHECK_NEAR(tree_last(&t, "utilization/network"), 25);
	CHECK_NEAR(tree_last(&t, "utilization/io"), 60);
	/* The other reports no speed: 6.25 MB of the 12.5 MB of 1 Gbit/s, then more than that. */
	node_write(&t, 60, 31250000, 3, 6250000);
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "utilization/network"), 50);
	node_write(&t, 60, 31250000, 3, 6250000 + 50000000);
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "utilization/network"), 100);
	node_write(&t, 60, 31250000, 3, 6250000 + 50000000 + 10000000);
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "utilization/network"), 20);
	/* Unless the setting gives its speed: 200 MB/s. */
	statistics_network_set(t.statistics, 200e6);
	node_write(&t, 60, 31250000, 3, 6250000 + 50000000 + 20000000);
	tree_poll(&t);
	CHECK_NEAR(tree_last(&t, "utilization/network"), 50);
	statistics_utilization(t.statistics, percent);
	CHECK_NEAR(percent[1], (25 + 50 + 100 + 20 + 50) / 5.0);
	CHECK_NEAR(percent[2], 60 / 5.0);
	CHECK_NEAR(percent[3], 25);
	tree_free(&t);
}

static void missing_sources_have_no_statistics(void)
{
	struct tree t = tree_new();
	double percent[4];

	tree_start(&t, "cpu memory network io lustre utilization");
	for (int i = 0; i < 3; i++)
		tree_poll(&t);
	CHECK_INT(statistics_count(t.statistics), 4);
	statistics_utilization(t.statistics, percent);
	for (int i = 0; i < 4; i++)
		CHECK(isnan(percent[i]));
	tree_free(&t);
	t = tree_new();
	tree_start(&t, "");
	tree_poll(&t);
	CHECK_INT(statistics_count(t.statistics), 0);
	statistics_utilization(t.statistics, percent);
	CHECK(isnan(percent[0]));
	tree_free(&t);
}

static void garbage_is_survived(void)
{
	static const char *const texts[] = { "",
					     "\n",
					     "cpu",
					     "cpu \n\n",
					     "a: b: c\n1 2",
					     "8 0 sda 1 2",
					     "MemTotal: x kB\nMemFree:",
					     "device  mounted on",
					     "device a mounted on /x with fstype nfs\n\tbytes:\n",
					     "36 35 8:0 / \\04 - \n1 2 3",
					     "read_bytes \nwrite_bytes 1 s" };
	static const char *const files[] = { "proc/stat",
					     "proc/meminfo",
					     "proc/net/dev",
					     "proc/diskstats",
					     "proc/self/mountinfo",
					     "proc/self/mountstats",
					     "proc/loadavg",
					     "proc/fs/lustre/llite/x/stats",
					     "sys/class/net/eth0/speed" };
	struct tree t = tree_new();

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		tree_write(&t, files[i], "");
	tree_start(&t, "cpu memory network io lustre utilization");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
			tree_write(&t, files[k], texts[i]);
		for (int k = 0; k < PROVIDER_LOOKS + 1; k++)
			tree_poll(&t);
	}
	for (unsigned i = 0; i < statistics_count(t.statistics); i++)
		CHECK(isnan(statistics_get(t.statistics, i)->last) ||
		      statistics_get(t.statistics, i)->last == 0);
	tree_free(&t);
}

static void an_unknown_provider_is_an_error_that_lists_the_others(void)
{
	struct statistics *statistics = NULL;
	struct err err = { 0 };

	CHECK_INT(statistics_new(&statistics, "cpu weather", "", &err), -EINVAL);
	CHECK(!statistics);
	CHECK(strstr(err.text, "\"weather\""));
	CHECK_WORDS(err.text, "cpu|memory|network|io|lustre|utilization");
}

static void heard(void *arg, const struct statistics *statistics, int64_t now_ns)
{
	int64_t *last = arg;

	CHECK(statistics_count(statistics) > 0);
	*last = now_ns;
}

static void this_node_has_statistics(void)
{
	struct statistics *statistics = NULL;
	struct err err = { 0 };
	double percent[4], all = 0;
	int64_t last_ns = 0;
	unsigned count;

	REQUIRE(!statistics_new(&statistics, "cpu memory network io lustre utilization", "", &err));
	statistics_listen(statistics, heard, &last_ns);
	statistics_poll(statistics, 5);
	count = statistics_count(statistics);
	usleep(50000); /* some ticks must pass */
	statistics_poll(statistics, 5 + 50000000);
	CHECK_INT(last_ns, 5 + 50000000);
	CHECK(statistics_count(statistics) >= count);
	static const char *const shares[] = { "cpu/user", "cpu/system", "cpu/iowait", "cpu/idle",
					      "cpu/steal" };
	for (size_t i = 0; i < 5; i++)
		all += statistics_find(statistics, shares[i])->last;
	CHECK(fabs(all - 100) < 1e-6);
	CHECK(statistics_find(statistics, "memory/used")->last > 0);
	CHECK(statistics_find(statistics, "memory/used")->last <
	      statistics_find(statistics, "memory/total")->last);
	statistics_utilization(statistics, percent);
	CHECK(percent[0] >= 0 && percent[0] <= 100);
	CHECK(percent[3] > 0 && percent[3] < 100);
	CHECK(statistics_cost_ns(statistics) > 0);
	statistics_free(statistics);
}

TESTS(TEST(the_shares_of_all_cores_add_up_to_100), TEST(memory_is_reported_in_bytes),
      TEST(interfaces_count_bytes_since_the_last_poll),
      TEST(active_devices_are_reported_by_disk_and_by_mount),
      TEST(nfs_mounts_report_bytes_exchanged_with_the_server),
      TEST(lustre_is_found_in_both_places_and_reported_per_file_system),
      TEST(utilization_summarizes_the_other_providers), TEST(missing_sources_have_no_statistics),
      TEST(garbage_is_survived), TEST(an_unknown_provider_is_an_error_that_lists_the_others),
      TEST(this_node_has_statistics))
