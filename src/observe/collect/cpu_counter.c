/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/cpu_counter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/mem.h"

#define SOURCE_PATH "/sys/devices/system/clocksource/clocksource0/current_clocksource"

#define IS_INVARIANT (UINT32_C(1) << 8)

/* Rates outside of these are not those of a TSC: a hypervisor has passed on something else. */
#define TSC_HERTZ_MIN UINT64_C(100000000)
#define TSC_HERTZ_MAX UINT64_C(20000000000)

enum cpu_counter_state cpu_counter_judge_tsc(const struct cpu_counter_cpuid *cpuid,
					     const char *source)
{
	if (!(cpuid->power & IS_INVARIANT))
		return COUNTER_VARIES;
	/* Not "tsc-early" either: the kernel has not verified it yet. */
	return strcmp(source, "tsc") ? COUNTER_DISTRUSTED : COUNTER_STEADY;
}

/* CPUs of AMD, and many of Intel, do not tell. The rate that is only advertised (leaf 0x16) is not
 * used, because it is rounded to MHz or more. */
uint64_t cpu_counter_tsc_hertz(const struct cpu_counter_cpuid *cpuid)
{
	uint64_t hertz = (uint64_t)cpuid->hypervisor_khz * 1000;

	if (cpuid->divisor && cpuid->factor && cpuid->crystal_hertz)
		hertz = (uint64_t)cpuid->crystal_hertz * cpuid->factor / cpuid->divisor;
	return hertz >= TSC_HERTZ_MIN && hertz <= TSC_HERTZ_MAX ? hertz : 0;
}

#if defined(__x86_64__)
#include <cpuid.h>

#define HYPERVISOR_LEAVES 0x40000000u
#define HYPERVISOR_TIMING 0x40000010u
#define HAS_HYPERVISOR (UINT32_C(1) << 31)

static void read_cpuid(struct cpu_counter_cpuid *cpuid)
{
	uint32_t a, b, c, d;

	*cpuid = (struct cpu_counter_cpuid){ 0 };
	if (__get_cpuid(0x80000007, &a, &b, &c, &d))
		cpuid->power = d;
	if (__get_cpuid(0x15, &a, &b, &c, &d)) {
		cpuid->divisor = a;
		cpuid->factor = b;
		cpuid->crystal_hertz = c;
	}
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & HAS_HYPERVISOR))
		return;
	/* __get_cpuid() does not know these leaves. */
	__cpuid(HYPERVISOR_LEAVES, a, b, c, d);
	if (a < HYPERVISOR_TIMING)
		return;
	__cpuid(HYPERVISOR_TIMING, a, b, c, d);
	cpuid->hypervisor_khz = a;
}

static void read_cpu(struct cpu_counter *counter)
{
	struct cpu_counter_cpuid cpuid;

	read_cpuid(&cpuid);
	counter->name = "tsc";
	counter->state = cpu_counter_judge_tsc(&cpuid, counter->source);
	counter->hertz = cpu_counter_tsc_hertz(&cpuid);
}
#elif defined(__aarch64__)
static void read_cpu(struct cpu_counter *counter)
{
	counter->name = "cntvct_el0";
	counter->state = *counter->source && strcmp(counter->source, "arch_sys_counter")
				 ? COUNTER_DISTRUSTED
				 : COUNTER_STEADY;
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(counter->hertz));
}
#else
static void read_cpu(struct cpu_counter *counter)
{
	counter->name = "none";
	counter->state = COUNTER_UNREADABLE;
}
#endif

void cpu_counter_read(struct cpu_counter *counter)
{
	AUTO_FCLOSE FILE *f = fopen(SOURCE_PATH, "re");

	*counter = (struct cpu_counter){ 0 };
	if (f && fgets(counter->source, sizeof(counter->source), f))
		counter->source[strcspn(counter->source, "\n")] = 0;
	read_cpu(counter);
}

/*
 * Forbids the system call to the calling thread, and tries the clock. Without seccomp, programs
 * have no sandbox in which the difference matters.
 */
static void *try_clock(void *arg)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	bool *needs_kernel = arg;
	struct timespec now;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return NULL;
	*needs_kernel = clock_gettime(CLOCK_MONOTONIC, &now) < 0;
	return NULL;
}

enum capture_clock cpu_counter_choose_other(void)
{
	bool needs_kernel = false;
	pthread_t thread;

	if (pthread_create(&thread, NULL, try_clock, &needs_kernel) == 0)
		pthread_join(thread, NULL);
	return needs_kernel ? CLOCK_SOURCE_KERNEL : CLOCK_SOURCE_MONOTONIC;
}

enum capture_clock cpu_counter_choose(const struct cpu_counter *counter)
{
	return counter->state == COUNTER_STEADY ? CLOCK_SOURCE_COUNTER : cpu_counter_choose_other();
}

const char *cpu_counter_reason(enum cpu_counter_state state)
{
	switch (state) {
	case COUNTER_UNREADABLE:
		return "programs cannot read a cycle counter here";
	case COUNTER_VARIES:
		return "the rate of the cycle counter is not constant";
	case COUNTER_DISTRUSTED:
		return "the kernel does not keep time with the cycle counter";
	default:
		return "the cycle counter is steady";
	}
}
