/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/probe/prober_node.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES 8192

static void read_file(char out[FILE_BYTES], const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, FILE_BYTES - 1) : 0;

	out[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

static double find_memory_bytes(const char *memory, const char *key)
{
	const char *at = memory;
	size_t n = strlen(key);
	double kilobytes;

	while (at && strncmp(at, key, n) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at && sscanf(at + n, " %lf", &kilobytes) == 1 ? kilobytes * 1024 : NAN;
}

/* "cpu user nice system idle iowait irq softirq steal"; later columns are part of these. */
static void read_cpu_shares(struct node_watch *watch, struct node_state *state, const char *stat)
{
	double t[8], total = 0;

	if (sscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[0], &t[1], &t[2], &t[3], &t[4],
		   &t[5], &t[6], &t[7]) != 8)
		return;
	for (size_t i = 0; i < 8; i++)
		total += t[i];
	if (watch->total > 0 && total > watch->total) {
		double passed = total - watch->total;
		double idle = (t[3] - watch->idle) / passed;
		double waiting = (t[4] - watch->waiting) / passed;

		state->values[NODE_CPU] = 1 - idle - waiting;
		state->values[NODE_IOWAIT] = waiting;
	}
	*watch = (struct node_watch){ total, t[3], t[4] };
}

void node_watch_parse(struct node_watch *watch, struct node_state *state, const char *load,
		      const char *stat, const char *memory)
{
	double average;

	for (size_t i = 0; i < NODE_VALUES; i++)
		state->values[i] = NAN;
	if (sscanf(load, "%lf", &average) == 1)
		state->values[NODE_LOAD] = average;
	read_cpu_shares(watch, state, stat);
	state->values[NODE_DIRTY] = find_memory_bytes(memory, "Dirty:");
	state->values[NODE_WRITEBACK] = find_memory_bytes(memory, "Writeback:");
	state->values[NODE_FREE] = find_memory_bytes(memory, "MemAvailable:");
}

void node_watch_read(struct node_watch *watch, struct node_state *state)
{
	char load[FILE_BYTES], stat[FILE_BYTES], memory[FILE_BYTES];

	read_file(load, "/proc/loadavg");
	read_file(stat, "/proc/stat");
	read_file(memory, "/proc/meminfo");
	node_watch_parse(watch, state, load, stat, memory);
}
