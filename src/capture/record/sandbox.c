/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/record/sandbox.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "capture/record/capture.h"
#include "capture/record/files.h"
#include "capture/record/hooks.h"
#include "capture/record/kernel.h"
#include "contract/sandbox.h"

atomic_bool sandbox_sealed;

uint32_t sandbox_count_filters(void)
{
	/* Not on the stack, which may be small. Only one thread at a time attaches. */
	static char status[SANDBOX_STATUS_BYTES];

	return file_read(AT_FDCWD, "/proc/self/status", status, sizeof(status))
		       ? sandbox_filters(status)
		       : 0;
}

/*
 * The thread gives up the CPU's counter, and so also clock_gettime(): no call can be timed any
 * more. Strict mode does this on x86. What follows is lost.
 */
static bool gives_up_clock(int option, unsigned long argument)
{
#ifdef __x86_64__
	return (option == PR_SET_SECCOMP && argument == SECCOMP_MODE_STRICT) ||
	       (option == PR_SET_TSC && argument == PR_TSC_SIGSEGV);
#else
	(void)option;
	(void)argument;
	return false;
#endif
}

static void stop_recording(void)
{
	uint32_t mode = frame_mode();

	if (mode < CAPTURE_COUNTERS)
		return;
	count_lost_record(LOSS_SANDBOX);
	/* A child that is forked here must find the gate detached. */
	atomic_compare_exchange_strong(&capture_gate->mode, &mode, CAPTURE_OFF);
}

static bool installs_filter(long number, unsigned long first)
{
	if (number == SYS_prctl)
		return first == PR_SET_SECCOMP;
	return number == SYS_seccomp &&
	       (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER);
}

/*
 * Before and after the call that installs a filter. The process counts as sealed before, because
 * the filter may apply to all threads at once. Returns whether it was sealed already. A clock that
 * needs system calls ends the recording.
 */
static bool seal_begin(void)
{
	if (capture_gate->clock == CLOCK_SOURCE_KERNEL)
		stop_recording();
	return atomic_exchange(&sandbox_sealed, true);
}

static void seal_end(bool was_sealed, bool failed)
{
	if (failed)
		atomic_store(&sandbox_sealed, was_sealed);
	else if (!was_sealed)
		record_hooks.sealed();
}

typedef int prctl_function(int, unsigned long, unsigned long, unsigned long, unsigned long);
typedef long syscall_function(long, long, long, long, long, long, long);

/* syscall.S jumps here for calls that may install a filter. */
__attribute__((visibility("hidden"))) syscall_function syscall_sealing;

#ifdef SLUICE_LINKED
#define PRCTL_SYMBOL "__wrap_prctl"
extern prctl_function prctl_next __asm__("__real_prctl");
extern syscall_function syscall_next __asm__("__real_syscall");

static prctl_function *prctl_real(void)
{
	return prctl_next;
}

static syscall_function *syscall_real(void)
{
	return syscall_next;
}
#else
#define PRCTL_SYMBOL "prctl"
static _Atomic(prctl_function *) prctl_found;
extern _Atomic(syscall_function *) syscall_found __attribute__((visibility("hidden")));
_Atomic(syscall_function *) syscall_found; /* read by syscall.S */

static prctl_function *prctl_real(void)
{
	if (!prctl_found)
		prctl_found = (prctl_function *)(uintptr_t)real_find("prctl");
	return prctl_found;
}

static syscall_function *syscall_real(void)
{
	if (!syscall_found)
		syscall_found = (syscall_function *)(uintptr_t)real_find("syscall");
	return syscall_found;
}
#endif

EXPORT int wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
		      unsigned long d) __asm__(PRCTL_SYMBOL);

int wrap_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	bool was_sealed;
	int result;

	if (gives_up_clock(option, a))
		stop_recording();
	if (!installs_filter(SYS_prctl, (unsigned long)option))
		return prctl_real()(option, a, b, c, d);
	was_sealed = seal_begin();
	result = prctl_real()(option, a, b, c, d);
	seal_end(was_sealed, result < 0);
	return result;
}

long syscall_sealing(long number, long a, long b, long c, long d, long e, long f)
{
	bool was_sealed;
	long result;

	if (number == SYS_prctl ? gives_up_clock((int)a, (unsigned long)b)
				: number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT)
		stop_recording();
	if (!installs_filter(number, (unsigned long)a))
		return syscall_real()(number, a, b, c, d, e, f);
	was_sealed = seal_begin();
	result = syscall_real()(number, a, b, c, d, e, f);
	seal_end(was_sealed, result < 0);
	return result;
}
