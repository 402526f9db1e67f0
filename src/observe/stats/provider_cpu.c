/* SPDX-License-Identifier: BSD-3-Clause
 *
 * CPU statistics of the node: how the CPUs spend their time, in percent of all of them, and how
 * many tasks are runnable. Reads /proc/stat and /proc/loadavg.
 * Papers: SIOX-47.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/stats/procfile.h"
#include "observe/stats/statistics.h"

enum { USER, SYSTEM, IOWAIT, IDLE, STEAL, SHARES };
static const char *const share_names[SHARES] = { "cpu/user", "cpu/system", "cpu/iowait", "cpu/idle",
						 "cpu/steal" };

/*
 * The columns of /proc/stat are user, nice, system, idle, iowait, irq, softirq and steal. The time
 * of virtual guests is included in user and nice.
 */
static const int share_of[] = { USER, USER, SYSTEM, IDLE, IOWAIT, SYSTEM, SYSTEM, STEAL };
#define COLUMNS (sizeof(share_of) / sizeof(share_of[0]))

struct cpu {
	struct procfile stat, loadavg;
	unsigned shares[SHARES];
	unsigned running, blocked, load;
	struct counter columns[COLUMNS];
};

static int start(void **state, struct statistics *statistics, const char *root)
{
	struct cpu *cpu = xcalloc(1, sizeof(*cpu));

	procfile_open(&cpu->stat, root, "/proc/stat");
	procfile_open(&cpu->loadavg, root, "/proc/loadavg");
	for (int i = 0; i < SHARES && cpu->stat.fd >= 0; i++)
		cpu->shares[i] = statistics_add(statistics, share_names[i], "%", REDUCE_MEAN, 100);
	if (cpu->stat.fd >= 0) {
		cpu->running = statistics_add(statistics, "cpu/running", "tasks", REDUCE_MEAN, 100);
		cpu->blocked = statistics_add(statistics, "cpu/blocked", "tasks", REDUCE_MEAN, 100);
	}
	if (cpu->loadavg.fd >= 0)
		cpu->load = statistics_add(statistics, "cpu/load", "tasks", REDUCE_MEAN, 100);
	*state = cpu;
	return 0;
}

/* The first line counts the ticks of all CPUs since boot. */
static void update_shares(struct cpu *cpu, struct statistics *statistics, const char *at)
{
	double ticks[SHARES] = { 0 }, all = 0;
	uint64_t value;

	for (size_t i = 0; i < COLUMNS; i++) {
		double step;

		if (!procfile_number(&at, &value))
			break; /* old kernels have fewer columns */
		step = counter_step(&cpu->columns[i], value);
		if (isnan(step))
			step = 0; /* idle and iowait may go back by a tick or two */
		ticks[share_of[i]] += step;
		all += step;
	}
	for (int i = 0; i < SHARES && all > 0; i++)
		statistics_set(statistics, cpu->shares[i], 100 * ticks[i] / all);
}

static void update_number(struct statistics *statistics, unsigned number, const char *at)
{
	uint64_t value;

	if (procfile_number(&at, &value))
		statistics_set(statistics, number, (double)value);
}

static void read_stat(struct cpu *cpu, struct statistics *statistics)
{
	for (const char *at = procfile_read(&cpu->stat); at; at = procfile_next_line(at)) {
		if (!strncmp(at, "cpu ", 4))
			update_shares(cpu, statistics, at + 4);
		else if (!strncmp(at, "procs_running ", 14))
			update_number(statistics, cpu->running, at + 14);
		else if (!strncmp(at, "procs_blocked ", 14))
			update_number(statistics, cpu->blocked, at + 14);
	}
}

static void poll(void *state, struct statistics *statistics, int64_t elapsed_ns)
{
	struct cpu *cpu = state;
	const char *load = procfile_read(&cpu->loadavg);

	(void)elapsed_ns; /* shares are computed from ticks */
	read_stat(cpu, statistics);
	if (load)
		statistics_set(statistics, cpu->load, strtod(load, NULL));
}

static void stop(void *state)
{
	struct cpu *cpu = state;

	procfile_close(&cpu->stat);
	procfile_close(&cpu->loadavg);
	free(cpu);
}

const struct provider provider_cpu = {
	.name = "cpu",
	.help = "CPU time by kind, and the number of runnable tasks",
	.start = start,
	.poll = poll,
	.stop = stop,
};
