/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a benchmark measures with: a program started and watched, a trace read to its end, and
 * numbers boiled down to their median. For the benchmark's own process; single-threaded.
 */
#ifndef SLUICE_BENCH_PROBE_H
#define SLUICE_BENCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* A program that has run to its end. */
struct probe {
	char *output; /* its standard output */
	int status;   /* exit code; 128 + signal if one ended it, 255 if it took too long */
	uint64_t wall_ns;
	uint64_t cpu_us; /* user and system, of the program and of the children it waited for */
};

/*
 * Runs argv, looked for in PATH, with standard error passed on. tick is called every few
 * milliseconds meanwhile; NULL for none. Returns false when it could not be started or ended with
 * anything but 0, after a line on standard error.
 */
bool probe_run(struct probe *probe, char *const argv[], void (*tick)(void *arg), void *arg);
void probe_release(struct probe *probe);

/* The nth value (from 0) of the lines "key value" in the output; 0 if there is none. */
uint64_t probe_value(const struct probe *probe, const char *key, size_t nth);

/* The value of the first word "key=value" in the output; 0 if there is none. */
double probe_word(const struct probe *probe, const char *key);

/* A trace, read from its beginning to its end. */
struct reading {
	uint64_t activities;
	uint64_t wanted; /* calls whose name is the one asked for */
	uint64_t lost, damaged;
	size_t processes;
	bool complete;
	uint64_t file_bytes;
	uint64_t wall_ns, cpu_ns;
};

/* -errno and a message in err if it cannot be read. */
int reading_take(struct reading *reading, const char *path, const char *call, struct err *err);

#define SAMPLE_MAX 256

struct sample {
	double values[SAMPLE_MAX];
	size_t count;
};

void sample_add(struct sample *sample, double value);

/* The value that the given part of the sample lies below, 0 to 1; 0 for an empty sample. */
double sample_quantile(const struct sample *sample, double part);
double sample_median(const struct sample *sample);

/* What the one has more than the other, pair by pair. */
struct sample sample_added(const struct sample *with, const struct sample *bare);

/* Bytes that the files in the directory and the directories right below it take on their device. */
uint64_t directory_bytes(const char *path);

/* Removes the directory and everything below it. */
void directory_remove(const char *path);

#endif
