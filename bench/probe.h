/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The instruments of a benchmark: run a program and measure it, read a trace to its end, and
 * compute medians. Single-threaded.
 */
#ifndef SLUICE_BENCH_PROBE_H
#define SLUICE_BENCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* The result of a program that has ended. */
struct probe {
	char *output; /* its standard output */
	int status;   /* exit code; 128 + signal after a signal, 255 after a timeout */
	uint64_t wall_ns;
	uint64_t cpu_us; /* user and system, of the program and of the children it waited for */
};

/*
 * Runs argv, which is searched in PATH, with the standard error of the caller. tick, which may be
 * NULL, is called every few milliseconds meanwhile. Returns false, after a message on standard
 * error, if the program cannot be started or its exit code is not 0.
 */
bool probe_run(struct probe *probe, char *const argv[], void (*tick)(void *arg), void *arg);
void probe_release(struct probe *probe);

/* Returns the nth value (from 0) of the lines "key value" in the output; 0 if there is none. */
uint64_t probe_value(const struct probe *probe, const char *key, size_t nth);

/* Returns the value of the first word "key=value" in the output; 0 if there is none. */
double probe_word(const struct probe *probe, const char *key);

/* The summary of a trace that was read from beginning to end. */
struct reading {
	uint64_t activities;
	uint64_t wanted; /* number of calls of the requested function */
	uint64_t lost, damaged;
	size_t processes;
	bool complete;
	uint64_t file_bytes;
	uint64_t wall_ns, cpu_ns;
};

/* Returns -errno, with a message in err, if the trace cannot be read. */
int reading_take(struct reading *reading, const char *path, const char *call, struct err *err);

#define SAMPLE_MAX 256

struct sample {
	double values[SAMPLE_MAX];
	size_t count;
};

void sample_add(struct sample *sample, double value);

/* Returns a quantile of the sample, at a position from 0 to 1; 0 for an empty sample. */
double sample_quantile(const struct sample *sample, double part);
double sample_median(const struct sample *sample);

/* Computes the differences of two samples, pair by pair. */
struct sample sample_added(const struct sample *with, const struct sample *bare);

/* Returns the bytes on the device of all files in the directory and its direct sub-directories. */
uint64_t directory_bytes(const char *path);

/* Removes the directory with its contents. */
void directory_remove(const char *path);

#endif
