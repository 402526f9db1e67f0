/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every benchmark is: places to work in, programs run under `sluice run`, figures held against
 * their bars in one table, and one closing line. Single-threaded; one at a time.
 */
#ifndef SLUICE_BENCH_BENCH_H
#define SLUICE_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/table.h"

struct reading;

#define BAR_NONE 0

struct bench {
	const char *name;
	char *build;
	char *sluice;
	char *work;   /* on disk: traces */
	char *memory; /* in memory: what the programs write */
	char *spool;  /* below it: the spools */
	char *trace;
	struct table table;
	struct buf line;   /* the closing line: key=value ... */
	struct buf missed; /* a line for each bar that was missed and for each failure */
	unsigned failures;
};

/*
 * Makes the places, which are removed even when a signal ends us, and keeps the user's settings out
 * of the environment. titles are those of the table. False, with errno set, where that is not
 * possible.
 */
bool bench_init(struct bench *b, const char *name, const char *build, const char *const titles[]);

/* Prints what was missed and the closing line, removes the places. Returns the exit code. */
int bench_end(struct bench *b);

/* The path of a program that was built for benchmarks. Caller frees. */
char *bench_program(const struct bench *b, const char *name);

/* argv with `sluice run --mode MODE` before it; the array is static. */
char **bench_under_sluice(const struct bench *b, const char *mode, char *const *argv);

/* Is the trace complete, and does it hold exactly these calls? */
bool bench_trace_check(struct bench *b, const char *what, const char *function, uint64_t expected,
		       struct reading *reading);

void bench_fail(struct bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_figure(struct bench *b, const char *key, double value, int digits);

/* Checks a value against its bar and fills the cells "bar" and "holds". */
void bench_judge(struct bench *b, const char *what, double value, double bar, bool at_least,
		 const char *unit);

/* On a terminal, what is being done. "" at the end. */
void bench_progress(const char *text);

#endif
