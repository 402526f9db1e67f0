/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which request a thread works on: the number of its first transfer, from the call that starts or
 * continues it to the next such call. Pure: knows nothing of connections.
 */
#ifndef SLUICE_OBSERVE_CHAIN_REQUESTS_H
#define SLUICE_OBSERVE_CHAIN_REQUESTS_H

#include <stdint.h>

#include "base/map.h"

struct requests {
	struct map threads; /* by process and thread */
};

void requests_release(struct requests *requests); /* a zeroed structure is empty */

/* From the call `id` on, its thread works on this request: number + 1, or 0 for none. The calls of
 * a thread come in order. */
void requests_switch(struct requests *requests, uint32_t process, uint64_t id, int64_t start_ns,
		     uint32_t request);

/* What the thread of this call works on now. */
uint32_t requests_now(const struct requests *requests, uint32_t process, uint64_t id);

/*
 * What the thread worked on when it made the call `id`; 0: none. The call that switches to another
 * request belongs to that one. A call with a parent belongs to the request only if the parent had
 * begun before; else the parent was made for it.
 */
uint32_t requests_find(const struct requests *requests, uint32_t process, uint64_t id,
		       uint64_t parent);

/* The start of the first call after `id` that switches its thread to something else; INT64_MAX:
 * none. */
int64_t requests_end(const struct requests *requests, uint32_t process, uint64_t id);

#endif
