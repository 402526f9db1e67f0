/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seccomp sandboxes: a program may give up system calls that the guest needs, on pain of death.
 * Guest.
 *
 * Wrappers of prctl() and syscall() notice when the process installs a filter or enters strict
 * mode. From then on the process is sealed: the guest makes no system call in any of its threads,
 * and none in its forked children. It goes on with the memory that it has mapped, whose chunks the
 * collector empties. What does not fit is counted as lost. In-line plug-ins and the injection of
 * parameters stop, and forked children are not recorded.
 *
 * Strict mode ends the recording on x86, where it takes the CPU's counter away from the program. So
 * does any sandbox if the capture clock needs system calls (CLOCK_SOURCE_KERNEL).
 *
 * A program that is executed in a sandbox is not recorded either, unless `sluice run` itself runs
 * in the same sandbox, or the user says by SLUICE_SECCOMP=trust that the sandbox permits what the
 * guest does, as those of containers do. The guest reads this from /proc/self/status before it
 * does anything else, by system calls that the dynamic linker has just used.
 *
 * A program that installs a filter by a system call instruction of its own is not noticed.
 */
#ifndef SLUICE_CAPTURE_RECORD_SANDBOX_H
#define SLUICE_CAPTURE_RECORD_SANDBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern atomic_bool sandbox_sealed;

/* The number of filters at this time, as sandbox_filters() of contract/sandbox.h. */
uint32_t sandbox_count_filters(void);

#pragma GCC visibility pop

/* True: the guest must not make system calls. */
static inline bool sandbox_is_sealed(void)
{
	return __builtin_expect(atomic_load_explicit(&sandbox_sealed, memory_order_relaxed), 0);
}

#endif
