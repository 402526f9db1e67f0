/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statistics of the node's block devices, from /proc/diskstats, and of its mounts. A device is left
 * out until it has been used. A partition is shown only as a mount; its disk is shown as the
 * device.
 * Papers: SIOX-47.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/stats/mounts.h"
#include "observe/stats/procfile.h"
#include "observe/stats/statistics.h"

#define NAME_MAX_BYTES 64
#define DEVICES_MAX 64
#define SECTOR_BYTES 512 /* unit of the kernel's counters, whatever the device uses */

enum { READ, WRITTEN, READS, WRITES, BUSY, FIGURES };
static const char *const figures[FIGURES] = { "read", "written", "reads", "writes", "busy" };
static const char *const units[FIGURES] = { "bytes", "bytes", "operations", "operations", "%" };
/* Columns of /proc/diskstats after the name. Busy time is in milliseconds. */
static const int columns[FIGURES] = { 2, 6, 0, 4, 9 };
#define COLUMNS 10

struct device {
	char name[NAME_MAX_BYTES];
	uint64_t major, minor;
	bool is_partition, is_mounted;
	unsigned numbers[FIGURES], mount[MOUNT_FIGURES];
	struct counter counters[FIGURES];
};

struct io {
	const char *root;
	struct procfile diskstats, mountinfo;
	struct nfs *nfs;
	struct device *list;
	size_t count, cap;
	uint64_t polls;
};

static int start(void **state, struct statistics *statistics, const char *root)
{
	struct io *io = xcalloc(1, sizeof(*io));

	(void)statistics; /* devices are registered when they are first seen */
	io->root = root;
	io->nfs = nfs_new(root);
	procfile_open(&io->diskstats, root, "/proc/diskstats");
	procfile_open(&io->mountinfo, root, "/proc/self/mountinfo");
	*state = io;
	return 0;
}

static bool is_partition(const struct io *io, const char *name)
{
	AUTO_FREE char *path = xprintf("%s/sys/class/block/%s/partition", io->root, name);

	return access(path, F_OK) == 0;
}

static void device_register(struct device *device, struct statistics *statistics)
{
	for (int i = 0; i < FIGURES; i++) {
		AUTO_FREE char *name = xprintf("io/%s/%s", device->name, figures[i]);
		bool busy = i == BUSY;

		device->numbers[i] =
			statistics_add(statistics, name, units[i], busy ? REDUCE_MEAN : REDUCE_SUM,
				       busy ? 100 : 1);
	}
}

static struct device *device_add(struct io *io, struct statistics *statistics,
				 const struct device *seen)
{
	struct device *device;

	io->list = xgrow(io->list, &io->cap, io->count + 1, sizeof(*device));
	device = &io->list[io->count++];
	*device = *seen;
	device->is_partition = is_partition(io, device->name);
	/* A device that appears later has done nothing before. */
	for (int i = 0; i < FIGURES; i++)
		device->counters[i].known = io->polls > 0;
	if (!device->is_partition)
		device_register(device, statistics);
	return device;
}

/* Devices appear in the same order each time, so the search starts at guess. */
static struct device *device_find(struct io *io, const struct device *seen, size_t guess)
{
	if (guess < io->count && !strcmp(io->list[guess].name, seen->name))
		return &io->list[guess];
	for (size_t i = 0; i < io->count; i++)
		if (!strcmp(io->list[i].name, seen->name))
			return &io->list[i];
	return NULL;
}

/* Parses "  8  0 sda 1 2 3 ..."; false if the line has another form. */
static bool parse_device_line(const char *at, struct device *seen, uint64_t *values)
{
	const char *name;
	unsigned n;

	*seen = (struct device){ 0 };
	if (!procfile_number(&at, &seen->major) || !procfile_number(&at, &seen->minor))
		return false;
	name = procfile_word(&at, &n);
	if (!n || n >= NAME_MAX_BYTES)
		return false;
	memcpy(seen->name, name, n);
	for (char *slash = seen->name; (slash = strchr(slash, '/'));)
		*slash = '!'; /* as in /sys */
	for (int i = 0; i < COLUMNS; i++)
		if (!procfile_number(&at, &values[i]))
			return false;
	return true;
}

static double figure_value(int which, double step, int64_t elapsed_ns)
{
	if (which == READ || which == WRITTEN)
		return step * SECTOR_BYTES;
	if (which != BUSY)
		return step;
	return elapsed_ns > 0 ? fmin(100, 100 * step * NS_PER_MS / (double)elapsed_ns)
			      : (double)NAN;
}

static void update_device(struct device *device, struct statistics *statistics,
			  const uint64_t *values, int64_t elapsed_ns)
{
	double results[FIGURES];

	for (int i = 0; i < FIGURES; i++) {
		double step = counter_step(&device->counters[i], values[columns[i]]);

		results[i] = isnan(step) ? step : figure_value(i, step, elapsed_ns);
		if (!device->is_partition)
			statistics_set(statistics, device->numbers[i], results[i]);
	}
	if (device->is_mounted) {
		statistics_set(statistics, device->mount[MOUNT_READ], results[READ]);
		statistics_set(statistics, device->mount[MOUNT_WRITTEN], results[WRITTEN]);
	}
}

static void read_devices(struct io *io, struct statistics *statistics, int64_t elapsed_ns)
{
	size_t guess = 0;

	for (const char *at = procfile_read(&io->diskstats); at; at = procfile_next_line(at)) {
		uint64_t values[COLUMNS];
		struct device seen, *device;

		if (!parse_device_line(at, &seen, values) || !(values[0] || values[4]))
			continue;
		device = device_find(io, &seen, guess);
		if (!device && io->count < DEVICES_MAX)
			device = device_add(io, statistics, &seen);
		if (!device)
			continue;
		update_device(device, statistics, values, elapsed_ns);
		guess = (size_t)(device - io->list) + 1;
	}
}

/* The mount point of a device is looked up only once. */
static void find_mounts(struct io *io, struct statistics *statistics)
{
	const char *text = procfile_read(&io->mountinfo);

	for (size_t i = 0; text && i < io->count; i++) {
		struct device *device = &io->list[i];
		AUTO_FREE char *path = NULL;

		if (device->is_mounted)
			continue;
		path = mount_of_device(text, io->root, device->major, device->minor, device->name);
		if (!path)
			continue;
		mount_add(statistics, path, device->name, device->mount);
		device->is_mounted = true;
	}
}

static void poll(void *state, struct statistics *statistics, int64_t elapsed_ns)
{
	struct io *io = state;
	size_t before = io->count;

	read_devices(io, statistics, elapsed_ns);
	if (io->count > before || io->polls % PROVIDER_LOOKS == 0)
		find_mounts(io, statistics);
	nfs_poll(io->nfs, statistics);
	io->polls++;
}

static void stop(void *state)
{
	struct io *io = state;

	nfs_free(io->nfs);
	procfile_close(&io->diskstats);
	procfile_close(&io->mountinfo);
	free(io->list);
	free(io);
}

const struct provider provider_io = {
	.name = "io",
	.help = "throughput and busy time of block devices and mounts",
	.start = start,
	.poll = poll,
	.stop = stop,
};
