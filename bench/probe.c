/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/format.h"

#define TICK_MS 20
#define LIMIT_NS (UINT64_C(120) * 1000000000)
#define READ_BATCH 1024

static uint64_t clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Starts the program in a process group of its own, so that a timeout ends all of its processes. */
static pid_t child_start(char *const argv[], int output)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setpgid(0, 0);
	dup2(output, STDOUT_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

/* Reads output until the other end closes; returns false after a timeout. */
static bool output_take(int fd, struct buf *text, void (*tick)(void *arg), void *arg)
{
	uint64_t begin = clock_read(CLOCK_MONOTONIC);
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char bytes[4096];

	while (clock_read(CLOCK_MONOTONIC) - begin < LIMIT_NS) {
		ssize_t n = poll(&wait, 1, TICK_MS) > 0 ? read(fd, bytes, sizeof(bytes)) : -1;

		if (n == 0)
			return true;
		if (n > 0)
			buf_add(text, bytes, (size_t)n);
		if (tick)
			tick(arg);
	}
	return false;
}

bool probe_run(struct probe *probe, char *const argv[], void (*tick)(void *arg), void *arg)
{
	uint64_t begin = clock_read(CLOCK_MONOTONIC);
	struct buf text = { 0 };
	struct rusage used;
	int ends[2], status;
	bool in_time;
	pid_t pid;

	*probe = (struct probe){ .status = 127 };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	pid = child_start(argv, ends[1]);
	close(ends[1]);
	in_time = output_take(ends[0], &text, tick, arg);
	close(ends[0]);
	probe->output = buf_take(&text);
	if (!in_time && pid > 0)
		kill(-pid, SIGKILL);
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return false;
	probe->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (!in_time)
		probe->status = 255;
	probe->wall_ns = clock_read(CLOCK_MONOTONIC) - begin;
	probe->cpu_us = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
			(uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	if (probe->status)
		fprintf(stderr, "bench: %s: exit code %d\n", argv[0], probe->status);
	return probe->status == 0;
}

void probe_release(struct probe *probe)
{
	free(probe->output);
	*probe = (struct probe){ 0 };
}

uint64_t probe_value(const struct probe *probe, const char *key, size_t nth)
{
	size_t n = strlen(key);

	for (const char *line = probe->output; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n) && line[n] == ' ' && !nth--)
			return strtoull(line + n, NULL, 10);
	}
	return 0;
}

double probe_word(const struct probe *probe, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = probe->output; at && (at = strstr(at, key)); at += n)
		if (at[n] == '=' && (at == probe->output || at[-1] == ' ' || at[-1] == '\n'))
			return strtod(at + n + 1, NULL);
	return 0;
}

static int trace_count(struct trace *trace, struct reading *reading, const char *call,
		       struct err *err)
{
	static struct activity batch[READ_BATCH];
	size_t number = 0;
	ssize_t n;

	while (number < trace->head.call_count &&
	       (!trace->head.calls[number].name ||
		strcmp(trace->head.calls[number].name, call) != 0))
		number++;
	while ((n = trace_next(trace, batch, READ_BATCH, err)) > 0) {
		reading->activities += (uint64_t)n;
		for (ssize_t i = 0; i < n; i++)
			reading->wanted += batch[i].call == number;
	}
	return (int)n;
}

int reading_take(struct reading *reading, const char *path, const char *call, struct err *err)
{
	uint64_t wall = clock_read(CLOCK_MONOTONIC), cpu = clock_read(CLOCK_PROCESS_CPUTIME_ID);
	struct trace trace;
	struct stat st;
	int r;

	*reading = (struct reading){ 0 };
	if (stat(path, &st) != 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	r = trace_open(&trace, path, NULL, err);
	if (r < 0)
		return r;
	r = trace_count(&trace, reading, call, err);
	reading->file_bytes = (uint64_t)st.st_size;
	reading->complete = trace.head.end.complete;
	reading->damaged = trace.head.damaged_blocks;
	reading->processes = trace.head.process_count;
	for (size_t i = 0; i < trace.head.loss_count; i++)
		reading->lost += trace.head.losses[i].records + trace.head.losses[i].threads;
	trace_close(&trace);
	reading->wall_ns = clock_read(CLOCK_MONOTONIC) - wall;
	reading->cpu_ns = clock_read(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	return r;
}

void sample_add(struct sample *sample, double value)
{
	if (sample->count < SAMPLE_MAX)
		sample->values[sample->count++] = value;
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double sample_quantile(const struct sample *sample, double part)
{
	struct sample sorted = *sample;
	double at = part * (double)(sample->count ? sample->count - 1 : 0);
	size_t below = (size_t)at;

	if (!sample->count)
		return 0;
	qsort(sorted.values, sorted.count, sizeof(double), double_compare);
	if (below + 1 == sorted.count)
		return sorted.values[below];
	return sorted.values[below] +
	       (at - (double)below) * (sorted.values[below + 1] - sorted.values[below]);
}

double sample_median(const struct sample *sample)
{
	return sample_quantile(sample, 0.5);
}

struct sample sample_added(const struct sample *with, const struct sample *bare)
{
	struct sample s = { .count = 0 };

	for (size_t i = 0; i < with->count && i < bare->count; i++)
		sample_add(&s, with->values[i] - bare->values[i]);
	return s;
}

static uint64_t bytes_below(const char *path, int depth)
{
	DIR *dir = opendir(path);
	uint64_t bytes = 0;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;

		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_blocks * 512;
		if (S_ISDIR(st.st_mode) && depth) {
			AUTO_FREE char *below = xprintf("%s/%s", path, entry->d_name);

			bytes += bytes_below(below, depth - 1);
		}
	}
	if (dir)
		closedir(dir);
	return bytes;
}

uint64_t directory_bytes(const char *path)
{
	return bytes_below(path, 1);
}

static int entry_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

void directory_remove(const char *path)
{
	nftw(path, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}
