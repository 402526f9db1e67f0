/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the programs of the benchmark findings. Each case computes a little and does I/O, once
 * in a bad way that a finding is about and once as its fix says.
 */
#ifndef SLUICE_BENCH_FINDINGS_WORK_H
#define SLUICE_BENCH_FINDINGS_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB 1024
#define MIB (1024 * KIB)

#define MUST(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

/* Computes for about so many milliseconds: always the same work, so load makes it slower, too. */
static inline void compute(int ms)
{
	volatile uint64_t result = 1;
	uint64_t x = 1;

	for (int64_t i = 0; i < ms * INT64_C(400000); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	result = x;
	(void)result;
}

struct work {
	const char *name;
	void (*run)(const char *path, int good);
};

/* Runs the case of the arguments: CASE bad|good FILE. Returns the exit code. */
static inline int work_run(const struct work *works, size_t count, int argc, char **argv)
{
	MUST(argc == 4);
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(works[i].name, argv[1])) {
			works[i].run(argv[3], !strcmp(argv[2], "good"));
			return 0;
		}
	}
	return 2;
}

#endif
