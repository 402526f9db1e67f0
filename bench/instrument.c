/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The time of a call of sluice/instrument.h in a loop: instrument [COUNT]. Prints lines "NAME NS":
 * an empty loop, a call of an empty function that is not inlined, and calls of the interface. Run
 * it bare and under `sluice run`. Each figure is the fastest of several rounds, so that
 * interruptions do not count.
 */
#include <sluice/instrument.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 15

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noinline)) void call_nothing(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Keeps the compiler from merging or moving what is measured. */
#define BARRIER() __asm__ volatile("" ::: "memory")

#define MEASURE(name, count, statement)                              \
	do {                                                         \
		double best = 1e99;                                  \
		for (int round = 0; round < ROUNDS; round++) {       \
			double start = now_ns(), took;               \
			for (long i = 0; i < (count); i++) {         \
				statement;                           \
				BARRIER();                           \
			}                                            \
			took = (now_ns() - start) / (double)(count); \
			if (took < best)                             \
				best = took;                         \
		}                                                    \
		printf("%s %.4f\n", name, best);                     \
	} while (0)

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 20000000;
	sluice_activity a = 0;
	struct sluice_target target;
	char value[64];

	MEASURE("loop", count, (void)0);
	MEASURE("function", count, call_nothing());
	MEASURE("phase", count, sluice_phase("solve"));
	/* Alone they are wrong use, so only their time without Sluice has a meaning. */
	if (!sluice_is_present()) {
		MEASURE("begin", count, a = sluice_begin(0, "write"));
		MEASURE("end", count, sluice_end(a));
	}
	MEASURE("pair", count, sluice_end(sluice_begin(0, "write")));
	MEASURE("target", count, (void)sluice_target("ost1", &target));
	MEASURE("best", count, (void)sluice_best("cb_nodes", NULL, value, sizeof(value)));
	return 0;
}
