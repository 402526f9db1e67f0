/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Table 1 of the SIOX paper: the time to read 1 KiB in strides without advice, with advice in the
 * source, and with the plug-in read_ahead; on the disk of the working directory and, if run by
 * root, on a simulated slow disk (lab/programs/disk.c).
 * Papers: SIOX-63, SIOX-AC-14.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/place.h"
#include "chart/chart.h"
#include "lab/reproduce/siox.h"

#define PATTERNS 2
/* The times of the simulated disk, which are about those of the paper's disk. */
#define NEAR_US "90"
#define FAR_US "7800"
#define MOUNT_S 30

enum way { REGULAR, EMBEDDED, PLUGIN, WAYS };
static const char *const way_names[WAYS] = { "regular", "embedded fadvise", "plug-in read_ahead" };
static const char *const way_keys[WAYS] = { "regular", "embedded", "plugin" };
static const char *const plugin_settings[] = { "plugins.act=read_ahead", NULL };

static const struct pattern {
	const char *stride_kib, *sleep_us;
	double paper_us[WAYS];
	double gain, ratio; /* least gain over regular, and most of embedded */
} patterns[PATTERNS] = {
	{ "20", "100", { 97.1, 38.7, 52.1 }, 1.86, 1.35 },
	{ "1000", "10000", { 7855.7, 45.1, 95.4 }, 82, 2.1 },
};

struct device {
	const char *name, *title;
	char *file;
	struct siox_sample us[PATTERNS][WAYS];
};

/* The file must come from the disk; this needs no privilege, unlike dropping all caches. */
static void drop_cache(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

static int measure_once(struct siox *siox, struct device *device, size_t p, enum way way,
			uint64_t round, struct err *err)
{
	const struct pattern *pattern = &patterns[p];
	AUTO_FREE char *blocks = xprintf("%llu", (unsigned long long)siox->scale.strides[p]);
	AUTO_FREE char *key = xprintf("table1-%s-%s-%s-%s-%llu", device->name, way_keys[way],
				      pattern->stride_kib, blocks, (unsigned long long)round);
	AUTO_FREE char *output = NULL;
	struct siox_command command = { 0 };

	if (way == PLUGIN)
		siox_add_sluice(siox, &command, false, plugin_settings);
	siox_add_all(&command,
		     (const char *const[]){ siox->lab, "program", "strides", device->file,
					    pattern->stride_kib, pattern->sleep_us, blocks,
					    way == EMBEDDED ? "embedded" : "regular", NULL });
	drop_cache(device->file);
	output = siox_run(siox, key, &command, err);
	if (!output)
		return -err->code;
	siox_sample_add(&device->us[p][way], siox_number(output, "", "block_ns") / 1000);
	return 0;
}

static int measure_device(struct siox *siox, struct device *device, struct err *err)
{
	int r = 0;

	for (uint64_t round = 1; round <= siox->scale.repeat; round++)
		for (size_t p = 0; p < PATTERNS; p++)
			for (int way = 0; way < WAYS && r >= 0; way++)
				r = measure_once(siox, device, p, (enum way)way, round, err);
	return r;
}

/* Writes every block, because holes are not read from the disk. */
static int make_file(const struct siox *siox, const char *path, struct err *err)
{
	static char block[1 << 20];
	uint64_t bytes = 0;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool good = fd >= 0;

	for (size_t p = 0; p < PATTERNS; p++) {
		uint64_t kib = (uint64_t)atoi(patterns[p].stride_kib) * siox->scale.strides[p];

		bytes = kib * 1024 > bytes ? kib * 1024 : bytes;
	}
	memset(block, 'x', sizeof(block));
	for (uint64_t done = 0; good && done < bytes; done += sizeof(block))
		good = write(fd, block, sizeof(block)) == (ssize_t)sizeof(block);
	good = good && fsync(fd) == 0;
	if (!good)
		err_set(err, errno, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good ? 0 : -err->code;
}

static int measure_disk(struct siox *siox, struct device *disk, struct err *err)
{
	int r;

	disk->file = siox_work_path(siox, "strides.dat");
	r = make_file(siox, disk->file, err);
	if (r >= 0)
		r = measure_device(siox, disk, err);
	unlink(disk->file);
	return r;
}

/* Starts the slow disk on the directory. Returns 0 if it cannot be mounted here. */
static pid_t start_slow_disk(const struct siox *siox, const char *directory, const char *file)
{
	int64_t until = clock_now_ns() + MOUNT_S * NS_PER_S;
	pid_t pid = geteuid() == 0 && mkdir(directory, 0700) == 0 ? fork() : -1;

	if (!pid) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDERR_FILENO);
		execl(siox->lab, siox->lab, "program", "disk", directory, NEAR_US, FAR_US,
		      (char *)NULL);
		_exit(127);
	}
	while (pid > 0) {
		if (access(file, R_OK) == 0)
			return pid;
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return 0;
		if (clock_now_ns() > until)
			break;
		clock_sleep_ns(NS_PER_MS);
	}
	if (pid > 0) {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* Returns 1 if the disk was measured, 0 if it cannot be mounted here. */
static int measure_slow_disk(struct siox *siox, struct device *disk, struct err *err)
{
	AUTO_FREE char *directory = siox_work_path(siox, "disk");
	pid_t pid;
	int r;

	disk->file = place_join(directory, "file");
	pid = start_slow_disk(siox, directory, disk->file);
	if (!pid)
		return 0;
	r = measure_device(siox, disk, err);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	return r < 0 ? r : 1;
}

static double median(const struct device *device, size_t p, int way)
{
	return siox_sample_median(&device->us[p][way]);
}

static void add_sheet(struct siox *siox, const struct device *device, bool modelled)
{
	static const struct sheet_column columns[] = { { "reads", "reads", 0 },
						       { ">paper: 20 KiB", "paper_20k_us", 1 },
						       { ">1000 KiB", "paper_1000k_us", 1 },
						       { ">~20 KiB", "here_20k_us", 1 },
						       { ">1000 KiB", "here_1000k_us", 1 },
						       { ">gain", "gain_20k", 2 },
						       { ">gain", "gain_1000k", 2 },
						       { 0 } };
	AUTO_FREE char *title =
		xprintf("Table 1: time to read 1 KiB by stride, in us, %s", device->title);
	AUTO_FREE char *name = xprintf("table1_%s", device->name);
	struct sheet sheet;

	sheet_init(&sheet, name, title, columns);
	for (int way = 0; way < WAYS; way++) {
		sheet_text(&sheet, "%s", way_names[way]);
		for (size_t p = 0; p < PATTERNS; p++)
			sheet_number(&sheet, patterns[p].paper_us[way]);
		for (size_t p = 0; p < PATTERNS; p++)
			sheet_number(&sheet, median(device, p, way));
		for (size_t p = 0; p < PATTERNS; p++)
			sheet_number(&sheet, median(device, p, REGULAR) / median(device, p, way));
	}
	sheet_note(&sheet, "Medians of %llu runs with an empty page cache, without the sleep.",
		   (unsigned long long)siox->scale.repeat);
	if (modelled)
		sheet_note(&sheet, "The disk takes %s us for near blocks and %s us for others.",
			   NEAR_US, FAR_US);
	sheet.is_modelled = modelled;
	reproduce_add_sheet(&siox->output, &sheet);
}

static int draw_chart(const struct siox *siox, const struct device devices[2], bool has_slow,
		      struct err *err)
{
	struct chart chart;

	chart_init(&chart, "Table 1: time to read 1 KiB in strides", "stride and disk", "us");
	chart.logarithmic = true;
	for (int way = 0; way < WAYS; way++)
		chart_series(&chart, CHART_BARS, way_names[way]);
	for (size_t p = 0; p < PATTERNS; p++) {
		chart_category(&chart, "%s KiB, paper", patterns[p].stride_kib);
		for (size_t way = 0; way < WAYS; way++)
			chart_value(&chart, way, patterns[p].paper_us[way]);
		for (int d = has_slow ? 0 : 1; d < 2; d++) {
			chart_category(&chart, "%s KiB, %s", patterns[p].stride_kib,
				       d ? "here" : "simulated");
			for (size_t way = 0; way < WAYS; way++)
				chart_value(&chart, way, median(&devices[d], p, (int)way));
		}
	}
	return siox_save_chart(siox, &chart, "table1", err);
}

static void judge(struct siox *siox, const struct device *slow)
{
	double gain[PATTERNS], ratio[PATTERNS];
	bool holds = true;

	for (size_t p = 0; p < PATTERNS; p++) {
		gain[p] = median(slow, p, REGULAR) / median(slow, p, PLUGIN);
		ratio[p] = median(slow, p, PLUGIN) / median(slow, p, EMBEDDED);
		holds = holds && gain[p] >= patterns[p].gain && ratio[p] <= patterns[p].ratio;
	}
	siox_check_add(siox, "SIOX-AC-14", holds,
		       "strided reads at least 1.86x (20 KiB) and 82x (1000 KiB); within 1.35x and "
		       "2.1x of embedded advice",
		       xprintf("simulated slow disk: %.2fx (20 KiB), %.2fx (1000 KiB); %.2f and "
			       "%.2f of embedded",
			       gain[0], gain[1], ratio[0], ratio[1]));
}

int siox_table1(struct siox *siox, struct err *err)
{
	struct device devices[2] = { { .name = "slow", .title = "simulated slow disk" },
				     { .name = "disk", .title = "disk of --dir" } };
	int slow = measure_slow_disk(siox, &devices[0], err), r = slow;

	if (r >= 0)
		r = measure_disk(siox, &devices[1], err);
	if (r >= 0 && slow) {
		add_sheet(siox, &devices[0], true);
		judge(siox, &devices[0]);
	}
	if (r >= 0) {
		add_sheet(siox, &devices[1], false);
		r = draw_chart(siox, devices, slow, err);
	}
	free(devices[0].file);
	free(devices[1].file);
	return r;
}
