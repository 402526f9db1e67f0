/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/cpu_counter.h"

#include "check.h"

/* What the manuals say of an Intel server with a crystal of 25 MHz, and of an AMD server, which has
 * no leaf 0x15. Not recorded on such machines. */
static const struct cpu_counter_cpuid intel = {
	.power = 0x100, .divisor = 2, .factor = 160, .crystal_hertz = 25000000
};
static const struct cpu_counter_cpuid amd = { .power = 0x6799 };
/* Recorded under qemu-user 7.2. */
static const struct cpu_counter_cpuid emulated = { 0 };

static void read_text(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, size - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
}

static void invariant_tsc_is_steady_if_the_kernel_uses_it(void)
{
	CHECK_INT(cpu_counter_judge_tsc(&intel, "tsc"), COUNTER_STEADY);
	CHECK_INT(cpu_counter_judge_tsc(&amd, "tsc"), COUNTER_STEADY);
}

/* The kernel uses another source if the offsets between sockets cannot be corrected, and after its
 * watchdog has marked the TSC as unstable. */
static void invariant_tsc_is_distrusted_if_the_kernel_uses_another_source(void)
{
	static const char *const sources[] = { "hpet",	    "acpi_pm", "kvm-clock", "jiffies",
					       "tsc-early", "",	       "tsc2",	    "ts" };

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		CHECK_INT(cpu_counter_judge_tsc(&intel, sources[i]), COUNTER_DISTRUSTED);
}

static void other_tsc_is_not_steady_whatever_the_kernel_uses(void)
{
	struct cpu_counter_cpuid old = intel;

	old.power = 0;
	CHECK_INT(cpu_counter_judge_tsc(&old, "tsc"), COUNTER_VARIES);
	CHECK_INT(cpu_counter_judge_tsc(&emulated, "tsc"), COUNTER_VARIES);
}

static void nominal_rate_is_that_of_cpuid(void)
{
	struct cpu_counter_cpuid guest = amd, partial = intel, absurd = amd;

	guest.hypervisor_khz = 2445406;
	partial.crystal_hertz = 0;
	absurd.hypervisor_khz = 7;
	CHECK_INT(cpu_counter_tsc_hertz(&intel), 2000000000);
	CHECK_INT(cpu_counter_tsc_hertz(&guest), 2445406000);
	CHECK_INT(cpu_counter_tsc_hertz(&amd), 0);
	CHECK_INT(cpu_counter_tsc_hertz(&partial), 0);
	CHECK_INT(cpu_counter_tsc_hertz(&absurd), 0);
}

static void counter_is_chosen_only_if_it_is_steady(void)
{
	struct cpu_counter counter = { .state = COUNTER_STEADY };

	CHECK_INT(cpu_counter_choose(&counter), CLOCK_SOURCE_COUNTER);
	counter.state = COUNTER_DISTRUSTED;
	CHECK(cpu_counter_choose(&counter) != CLOCK_SOURCE_COUNTER);
	CHECK(cpu_counter_choose_other() != CLOCK_SOURCE_COUNTER);
}

/* The probe must not restrict the process. tests/run/clock.sh checks its result. */
static void probing_the_clock_leaves_the_process_as_it_is(void)
{
	char before[4096], after[4096];
	const char *const path = "/proc/self/status";
	const char *one, *other;

	read_text(path, before, sizeof(before));
	cpu_counter_choose_other();
	read_text(path, after, sizeof(after));
	one = strstr(before, "NoNewPrivs:");
	other = strstr(after, "NoNewPrivs:");
	CHECK((one == NULL) == (other == NULL));
	CHECK(!one || strncmp(one, other, strcspn(one, "S")) == 0);
	one = strstr(before, "Seccomp:");
	other = strstr(after, "Seccomp:");
	CHECK(!one || strncmp(one, other, strcspn(one, "\n")) == 0);
}

static void this_machine_has_a_name_and_a_reason(void)
{
	struct cpu_counter counter;

	cpu_counter_read(&counter);
	CHECK(counter.name && counter.name[0]);
	CHECK(cpu_counter_reason(counter.state)[0]);
#ifdef __aarch64__
	CHECK(counter.hertz > 1000000);
#endif
}

TESTS(TEST(invariant_tsc_is_steady_if_the_kernel_uses_it),
      TEST(invariant_tsc_is_distrusted_if_the_kernel_uses_another_source),
      TEST(other_tsc_is_not_steady_whatever_the_kernel_uses), TEST(nominal_rate_is_that_of_cpuid),
      TEST(counter_is_chosen_only_if_it_is_steady),
      TEST(probing_the_clock_leaves_the_process_as_it_is),
      TEST(this_machine_has_a_name_and_a_reason))
