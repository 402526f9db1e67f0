/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The seccomp filters of a process, from its /proc/PID/status. The collector and the guests count
 * them in the same way, so that a guest can tell whether it is in another sandbox than the
 * collector. Guest-safe.
 */
#ifndef SLUICE_CONTRACT_SANDBOX_H
#define SLUICE_CONTRACT_SANDBOX_H

#include <stdint.h>
#include <string.h>

/* The number behind a key of the file; 0 if the key is missing. */
static inline uint32_t sandbox_number(const char *status, const char *key)
{
	const char *at = strstr(status, key);
	uint32_t number = 0;

	if (!at)
		return 0;
	for (at += strlen(key); *at == ' ' || *at == '\t'; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		number = 10 * number + (uint32_t)(*at - '0');
	return number;
}

/* Filters that the process has inherited or installed. Kernels before 5.9 tell only the mode. */
static inline uint32_t sandbox_filters(const char *status)
{
	const char *counted = "\nSeccomp_filters:";

	return sandbox_number(status, strstr(status, counted) ? counted : "\nSeccomp:");
}

#define SANDBOX_STATUS_BYTES 4096 /* enough for the file, also with many groups */

#endif
