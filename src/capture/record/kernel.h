/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's own system calls. They are made by the instruction itself: no function of libc or of
 * another preloaded library is involved, none of them is recorded, and errno never changes. Guest.
 */
#ifndef SLUICE_CAPTURE_RECORD_KERNEL_H
#define SLUICE_CAPTURE_RECORD_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* The result of the system call: -errno if it failed. */
#define kernel_call(...) KERNEL_PAD(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define KERNEL_PAD(number, a, b, c, d, e, f, ...)                                           \
	kernel_enter((long)(number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), \
		     (long)(f))

static inline long kernel_enter(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
			 x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
			 x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
#error "kernel.h supports aarch64 and x86-64 only"
#endif
}

/* Maps readable and writable memory; flags as of mmap. NULL on failure. */
static inline void *kernel_map(size_t bytes, int flags, long fd, uint64_t offset)
{
	long at = kernel_call(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);

	/* The last page of the address space is never mapped: these values are error numbers. */
	return (unsigned long)at > -4096ul ? NULL : (void *)at;
}

/* Maps private memory, whose pages are allocated on use. NULL on failure. */
static inline void *kernel_map_private(size_t bytes)
{
	return kernel_map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

#endif
