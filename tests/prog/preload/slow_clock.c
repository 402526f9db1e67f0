/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A clock_gettime() without the vDSO, as if programs could not read the kernel's clock source.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
	return (int)syscall(SYS_clock_gettime, clock, now);
}
