/* SPDX-License-Identifier: BSD-3-Clause */
#include "tune/trial/conditions.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#define STAT_BYTES 65536

/* The fields of the line "cpu": user, nice, system, idle, iowait, irq, softirq, steal. Time of
 * guests is part of user. */
enum { IDLE = 3, IOWAIT = 4, FIELDS = 8 };

double conditions_busy_s(const char *text)
{
	double fields[FIELDS] = { 0 }, sum = 0;

	if (sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &fields[0], &fields[1], &fields[2],
		   &fields[3], &fields[4], &fields[5], &fields[6], &fields[7]) < IDLE + 1)
		return NAN;
	for (size_t i = 0; i < FIELDS; i++)
		sum += i == IDLE || i == IOWAIT ? 0 : fields[i];
	return sum / (double)sysconf(_SC_CLK_TCK);
}

static double node_busy_s(void)
{
	AUTO_BUF struct buf text = { 0 };

	if (file_read_all(&text, "/proc/stat", STAT_BYTES, NULL) < 0)
		return NAN;
	return conditions_busy_s(buf_text(&text));
}

static double used_s(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) < 0)
		return NAN;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double mean_frequency(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	double sum = 0, khz;

	for (long i = 0; i < count; i++) {
		AUTO_FREE char *path =
			xprintf("/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_cur_freq", i);
		AUTO_FCLOSE FILE *f = fopen(path, "re");

		if (!f || fscanf(f, "%lf", &khz) != 1)
			return NAN;
		sum += khz;
	}
	return count > 0 ? 1000 * sum / (double)count : NAN;
}

void conditions_begin(struct conditions *c)
{
	*c = (struct conditions){
		.begun_ns = clock_now_ns(),
		.busy_s = node_busy_s(),
		.own_s = used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN),
		.foreign = NAN,
		.frequency = NAN,
	};
}

void conditions_end(struct conditions *c)
{
	double elapsed = (double)(clock_now_ns() - c->begun_ns) / NS_PER_S;
	double busy = node_busy_s() - c->busy_s;
	double own = used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN) - c->own_s;
	double foreign = (busy - own) / (elapsed * (double)sysconf(_SC_NPROCESSORS_ONLN));

	c->foreign = isnan(foreign) ? NAN : fmin(fmax(foreign, 0), 1);
	c->frequency = mean_frequency();
}

unsigned conditions_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
	return sysconf(_SC_NPROCESSORS_ONLN) > 0 ? (unsigned)sysconf(_SC_NPROCESSORS_ONLN) : 1;
}
