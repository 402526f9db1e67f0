/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partners of transfers that are not on a TCP connection (chain.h).
 */
#ifndef SLUICE_OBSERVE_CHAIN_LINKS_H
#define SLUICE_OBSERVE_CHAIN_LINKS_H

#include <stddef.h>
#include <stdint.h>

struct sockets;

/* Numbers of transfers: `partner` is a partner of `of`. */
struct link {
	uint32_t of, partner;
};

struct links {
	struct link *list;
	size_t count, cap;
};

void links_release(struct links *links); /* a zeroed structure is empty */
void links_add(struct links *links, uint32_t of, uint32_t partner);

/* Stores the partners of all transfers from partners[base] on, where there is room for all links.
 * Those of a transfer keep their order. */
void links_store(const struct links *links, struct sockets *sockets, uint32_t *partners,
		 size_t base);

#endif
