/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures what requests cost on this machine when no device takes part: it makes requests to a
 * file in memory that has no name, for about 20 ms. No file of the user is accessed.
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_REPLAY_H
#define SLUICE_OBSERVE_DIAGNOSE_REPLAY_H

#include <stdint.h>

/* What small requests should be merged into. */
#define REPLAY_LARGE (UINT64_C(1) << 20)

struct replay {
	double request_ns; /* one request of the given size */
	double byte_ns;	   /* one byte, in requests of REPLAY_LARGE */
};

/*
 * way is READING or WRITING; bytes is limited to 1 ... REPLAY_LARGE. Returns -errno if there is no
 * such file.
 */
int replay_measure(int way, uint64_t bytes, struct replay *replay);

#endif
