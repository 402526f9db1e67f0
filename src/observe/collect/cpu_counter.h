/* SPDX-License-Identifier: BSD-3-Clause
 *
 * May the CPU's counter serve as the capture clock on this machine?
 *
 * On aarch64 it may, unless the kernel keeps time with something else: the architecture defines one
 * counter for the whole system, with a constant rate. On x86-64, two conditions must hold:
 *
 *  - The TSC is invariant: it ticks at a constant rate, also in deep sleep states.
 *  - The kernel keeps time with the TSC. When a core comes up, the kernel compares its TSC with
 *    those of the other sockets and, where the CPU permits it, corrects the offset. It discards
 *    the TSC if an offset remains, and later if the TSC deviates from another clock.
 *
 * Otherwise, the capture clock is clock_gettime(). It needs no system call if programs can read the
 * kernel's own clock source, which is not the case for hpet and acpi_pm, for example.
 */
#ifndef SLUICE_OBSERVE_COLLECT_CPU_COUNTER_H
#define SLUICE_OBSERVE_COLLECT_CPU_COUNTER_H

#include <stdint.h>

#include "contract/spool.h"

enum cpu_counter_state {
	COUNTER_STEADY,
	COUNTER_UNREADABLE, /* there is none */
	COUNTER_VARIES,	    /* its rate is not constant */
	COUNTER_DISTRUSTED, /* the kernel uses another clock source, or does not say which */
};

#define COUNTER_SOURCE_BYTES 32

struct cpu_counter {
	const char *name; /* "cntvct_el0", "tsc", "none" */
	enum cpu_counter_state state;
	uint64_t hertz;			   /* its nominal rate; 0: the CPU does not tell */
	char source[COUNTER_SOURCE_BYTES]; /* the kernel's clock source; empty: unknown */
};

/* What CPUID says of the TSC. A leaf that does not exist is 0. */
struct cpu_counter_cpuid {
	uint32_t power;				 /* 0x80000007, edx */
	uint32_t divisor, factor, crystal_hertz; /* 0x15: eax, ebx, ecx */
	uint32_t hypervisor_khz;		 /* 0x40000010, eax */
};

/* Examines this machine. */
void cpu_counter_read(struct cpu_counter *counter);

/* The clock that guests should use here. */
enum capture_clock cpu_counter_choose(const struct cpu_counter *counter);
/* The same if the counter must not be used. */
enum capture_clock cpu_counter_choose_other(void);

/* The reason for a state that is not steady, as the end of a sentence. */
const char *cpu_counter_reason(enum cpu_counter_state state);

/* These decide on what cpu_counter_read() has read; they are exported for tests on any machine. */
enum cpu_counter_state cpu_counter_judge_tsc(const struct cpu_counter_cpuid *cpuid,
					     const char *source);
uint64_t cpu_counter_tsc_hertz(const struct cpu_counter_cpuid *cpuid);

#endif
