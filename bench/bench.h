/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The frame of every benchmark: working directories, programs that run under `sluice run`, one
 * table that compares figures with their thresholds, and one closing line. Single-threaded; a
 * process has one benchmark at a time.
 */
#ifndef SLUICE_BENCH_BENCH_H
#define SLUICE_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/table.h"

struct reading;

#define THRESHOLD_NONE 0

struct bench {
	const char *name;
	char *build;
	char *sluice;
	char *work;   /* a directory on disk, for traces */
	char *memory; /* a directory in memory, for the files that programs write */
	char *spool;  /* a directory below memory, for spools */
	char *trace;
	struct table table;
	struct buf line;   /* the closing line: key=value ... */
	struct buf missed; /* one line for each missed threshold and each failure */
	unsigned failures;
};

/*
 * Creates the directories and removes settings of the user from the environment. The directories
 * are removed even if a signal ends the process. titles are those of the table. Returns false, with
 * errno set, on failure.
 */
bool bench_init(struct bench *b, const char *name, const char *build, const char *const titles[]);

/* Prints the missed thresholds and the closing line, and removes the directories. Returns the exit
 * code. */
int bench_end(struct bench *b);

/* The path of a program that was built for benchmarks. Caller frees. */
char *bench_program(const struct bench *b, const char *name);

/* Returns argv with `sluice run --mode MODE` in front of it, in a static array. */
char **bench_under_sluice(const struct bench *b, const char *mode, char *const *argv);

/* Checks that the trace is complete and holds exactly these calls. */
bool bench_trace_check(struct bench *b, const char *what, const char *function, uint64_t expected,
		       struct reading *reading);

void bench_fail(struct bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_figure(struct bench *b, const char *key, double value, int digits);

/* Checks a value against its threshold and fills the cells "threshold" and "holds". */
void bench_judge(struct bench *b, const char *what, double value, double threshold, bool at_least,
		 const char *unit);

/* Shows the current step if stderr is a terminal; "" clears the line. */
void bench_progress(const char *text);

#endif
