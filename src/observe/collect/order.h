/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorts the records of a pass into the order of trace/activity.h without moving them: it sorts
 * keys, and the records stay in the spools. Records of one thread are almost sorted, so it finds
 * sorted runs and merges them.
 */
#ifndef SLUICE_OBSERVE_COLLECT_ORDER_H
#define SLUICE_OBSERVE_COLLECT_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct order_key {
	uint64_t start, id;
	uint32_t process, thread;
	const uint64_t *record;
};

struct order {
	struct order_key *keys, *spare;
	size_t count, cap, spare_cap;
};

void order_add(struct order *order, struct order_key key);
void order_sort(struct order *order);
void order_release(struct order *order);

#endif
