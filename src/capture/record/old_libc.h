/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binds functions of libc to versions that old systems have. Guest.
 *
 * glibc 2.34 moved some functions from libdl and libpthread into libc and gave them a new version.
 * A library that is built there and binds to this version does not load on older systems; RHEL 8
 * has glibc 2.28. All later versions of glibc still have the old version of these functions.
 *
 * In older systems, a program may not have loaded libdl or libpthread. So the references are weak:
 * call a function only if libc_has() it. tests/lint/glibc.sh checks that libsluice.so requires no
 * newer version of glibc; a function that it reports belongs into the list below.
 */
#ifndef SLUICE_CAPTURE_RECORD_OLD_LIBC_H
#define SLUICE_CAPTURE_RECORD_OLD_LIBC_H

#include <dlfcn.h>
#include <pthread.h>

#if defined(SLUICE_GUEST) && !defined(SLUICE_LINKED)

/* The first version of glibc for the processor. */
#if defined(__x86_64__)
#define LIBC_FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define LIBC_FIRST "GLIBC_2.17"
#endif

#define LIBC_OLD(function)                                          \
	extern __typeof__(function) function __attribute__((weak)); \
	__asm__(".symver " #function ", " #function "@" LIBC_FIRST)

LIBC_OLD(dlopen);
LIBC_OLD(dlclose);
LIBC_OLD(dlerror);
LIBC_OLD(dlsym);
LIBC_OLD(pthread_key_create);
LIBC_OLD(pthread_setspecific);

#define libc_has(function) (&(function) != NULL)

#else
#define libc_has(function) 1
#endif

#endif
