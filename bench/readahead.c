/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The read-ahead benchmark compares three variants of a program that sleeps, seeks forward and
 * reads 1 KiB: unmodified, with advice in its source, and unmodified under `sluice run` with the
 * plug-in read_ahead. It uses the local disk and, if run by root, a slow disk that
 * lab/programs/disk.c simulates. It prints one table and one closing line, and exits with 1 if a
 * threshold is missed. Papers: SIOX-63.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "bench.h"
#include "probe.h"

#define REPEATS 7
#define DISK_FILE_BYTES (320u << 20)

/* The times of the disk in the SIOX paper: 97 us for near blocks, 7.9 ms for far blocks. */
#define NEAR_US "90"
#define FAR_US "7800"

enum variant { REGULAR, EMBEDDED, PLUGIN, VARIANTS };
static const char *const variant_names[] = { "regular", "embedded fadvise", "plug-in" };

/* Thresholds apply to the slow disk: the gain over the regular variant and the time relative to the
 * embedded one. */
static const struct pattern {
	const char *title, *key, *stride_kib, *sleep_us, *blocks;
	double threshold_gain, threshold_ratio;
} patterns[] = {
	{ "20 KiB", "20k", "20", "100", "3000", 1.86, 1.2 },
	{ "1000 KiB", "1000k", "1000", "10000", "250", 82, 1.2 },
};
#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

/* Microseconds per block, one value per repetition. */
struct result {
	struct sample us[VARIANTS];
};

struct device {
	const char *title, *key;
	char *file;
	bool has_bars;
};

/* Empties the page cache; without the permission, asks the kernel to drop the one file. */
static void cache_drop(const char *file)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	sync();
	if (fd >= 0 && write(fd, "3\n", 2) == 2) {
		close(fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	fd = open(file, O_RDONLY);
	if (fd >= 0) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
}

/* Checks that the plug-in was active; otherwise the figures mean nothing. */
static void advice_check(struct bench *b, const char *what)
{
	struct reading reading;
	struct err err = { 0 };

	if (reading_take(&reading, b->trace, "posix_fadvise", &err) < 0)
		bench_fail(b, "%s: the trace cannot be read: %s", what, err.text);
	else if (!reading.wanted)
		bench_fail(b, "%s: the plug-in gave no advice", what);
	unlink(b->trace);
}

static void result_take(struct bench *b, const struct device *device, const struct pattern *p,
			enum variant variant, struct result *result)
{
	AUTO_FREE char *lab = xprintf("%s/sluice-lab", b->build);
	AUTO_FREE char *what =
		xprintf("%s, %s, %s", device->title, p->title, variant_names[variant]);
	char *argv[] = { lab,
			 "program",
			 "strides",
			 device->file,
			 (char *)p->stride_kib,
			 (char *)p->sleep_us,
			 (char *)p->blocks,
			 variant == EMBEDDED ? "embedded" : "regular",
			 NULL };
	struct probe probe;

	bench_progress(what);
	cache_drop(device->file);
	setenv("SLUICE_PLUGINS_ACT", "read_ahead", 1);
	if (!probe_run(&probe, variant == PLUGIN ? bench_under_sluice(b, "trace", argv) : argv,
		       NULL, NULL)) {
		bench_fail(b, "%s: the program failed", what);
	} else {
		sample_add(&result->us[variant], (double)probe_value(&probe, "block_ns", 0) / 1000);
		if (variant == PLUGIN)
			advice_check(b, what);
	}
	probe_release(&probe);
}

static void result_row(struct bench *b, const struct device *device, const struct pattern *p,
		       enum variant variant, const struct result *result)
{
	const struct sample *us = &result->us[variant];
	double median = sample_median(us), gain = sample_median(&result->us[REGULAR]) / median;
	double ratio = median / sample_median(&result->us[EMBEDDED]);
	bool is_judged = device->has_bars && variant == PLUGIN;
	AUTO_FREE char *what =
		xprintf("%s, %s, %s", device->title, p->title, variant_names[variant]);

	table_add(&b->table, "%s", what);
	table_add(&b->table, "%.1f", median);
	table_add(&b->table, "%.1f..%.1f", sample_quantile(us, 0.25), sample_quantile(us, 0.75));
	table_add(&b->table, "%.2f", gain);
	bench_judge(b, what, gain, is_judged ? p->threshold_gain : THRESHOLD_NONE, true,
		    "times regular");
	table_add(&b->table, "%.2f", ratio);
	bench_judge(b, what, ratio, is_judged ? p->threshold_ratio : THRESHOLD_NONE, false,
		    "of embedded");
	if (variant == PLUGIN) {
		AUTO_FREE char *gain_key = xprintf("%s_%s_gain", device->key, p->key);
		AUTO_FREE char *ratio_key = xprintf("%s_%s_ratio", device->key, p->key);

		bench_figure(b, gain_key, gain, 2);
		bench_figure(b, ratio_key, ratio, 2);
	}
}

/* Interleaves the variants, so that changes over time affect all of them. */
static void part_device(struct bench *b, const struct device *device)
{
	static struct result results[PATTERNS];

	memset(results, 0, sizeof(results));
	for (int repeat = 0; repeat < REPEATS; repeat++)
		for (size_t p = 0; p < PATTERNS; p++)
			for (enum variant v = 0; v < VARIANTS; v++)
				result_take(b, device, &patterns[p], v, &results[p]);
	for (size_t p = 0; p < PATTERNS; p++)
		for (enum variant v = 0; v < VARIANTS; v++)
			result_row(b, device, &patterns[p], v, &results[p]);
}

/* Writes every block, because holes are not read from the disk. */
static bool file_make(const char *path)
{
	static char block[1 << 20];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool good = fd >= 0;

	memset(block, 'x', sizeof(block));
	for (size_t done = 0; good && done < DISK_FILE_BYTES; done += sizeof(block))
		good = write(fd, block, sizeof(block)) == (ssize_t)sizeof(block);
	good = good && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return good;
}

static void part_disk(struct bench *b)
{
	AUTO_FREE char *own = xprintf("%s/file", b->work);
	struct device device = { "this disk", "disk", own, false };

	bench_progress("writing the file");
	if (file_make(own))
		part_device(b, &device);
	else
		bench_fail(b, "%s: %s", own, strerror(errno));
	unlink(own);
}

/* Starts the slow disk on a new directory, which the slow disk removes. Returns 0 on failure. */
static pid_t slowdisk_start(const struct bench *b, char *directory)
{
	AUTO_FREE char *lab = xprintf("%s/sluice-lab", b->build);
	AUTO_FREE char *file = xprintf("%s/file", directory);
	pid_t pid = fork();

	if (!pid) {
		execl(lab, lab, "program", "disk", directory, NEAR_US, FAR_US, (char *)NULL);
		_exit(127);
	}
	for (int tries = 0; pid > 0 && tries < 500; tries++) {
		if (access(file, R_OK) == 0)
			return pid;
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return 0;
		usleep(10000);
	}
	return 0;
}

static void part_slow(struct bench *b)
{
	char directory[] = "/tmp/sluice-slowdisk-XXXXXX";
	struct device device = { "slow disk", "slow", NULL, true };
	pid_t pid = 0;

	if (geteuid() != 0) {
		printf("skipped: the slow disk: requires root\n");
		return;
	}
	if (mkdtemp(directory))
		pid = slowdisk_start(b, directory);
	if (!pid) {
		printf("skipped: the slow disk: it cannot be mounted here\n");
		rmdir(directory);
		return;
	}
	device.file = xprintf("%s/file", directory);
	part_device(b, &device);
	free(device.file);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static const char *const titles[] = { "case",	    ">us/block", ">quartiles", ">gain",
					      ">threshold", "holds",	 ">/embedded", ">threshold",
					      "holds",	    NULL };
	struct bench b;

	if (argc < 2 || !bench_init(&b, "readahead", argv[1], titles)) {
		fprintf(stderr, "bench_readahead: cannot use BUILD: %s\n",
			argc < 2 ? "missing" : strerror(errno));
		return 2;
	}
	part_slow(&b);
	part_disk(&b);
	bench_progress("");
	printf("Time to seek, read 1 KiB and, if applicable, advise, without the sleep and the "
	       "first 16 "
	       "blocks;\nmedian of %d runs, each with an empty page cache. The slow disk takes %s "
	       "us for "
	       "near blocks\nand %s us for others.\n\n",
	       REPEATS, NEAR_US, FAR_US);
	table_print(&b.table, stdout, 0);
	return bench_end(&b);
}
