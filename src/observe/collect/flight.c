/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/flight.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIRST_ALLOCATION 1024 /* activities */

struct flight {
	struct activity *ring;
	size_t size, cap; /* final size of the ring, and the size allocated so far */
	size_t first;	  /* index of the oldest; 0 until the ring has its final size */
	struct flight_counts counts;
};

struct flight *flight_new(size_t activities)
{
	struct flight *f = xcalloc(1, sizeof(*f));

	f->size = activities ? activities : 1;
	return f;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	free(f->ring);
	free(f);
}

/* Makes room for one more at the end until the ring has its final size. */
static void grow_ring(struct flight *f, size_t held)
{
	size_t cap = f->cap ? 2 * f->cap : FIRST_ALLOCATION;

	if (held < f->cap || f->cap == f->size)
		return;
	f->cap = cap < f->size ? cap : f->size;
	f->ring = xrealloc(f->ring, f->cap, sizeof(*f->ring));
}

void flight_add(struct flight *f, const struct activity *batch, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t held = (size_t)f->counts.held, at;

		grow_ring(f, held);
		at = f->first + held;
		if (at >= f->cap)
			at -= f->cap;
		f->ring[at] = batch[i];
		if (held < f->cap) {
			f->counts.held++;
			continue;
		}
		f->counts.overwritten++;
		f->first = f->first + 1 == f->cap ? 0 : f->first + 1;
	}
	f->counts.seen += n;
}

size_t flight_ship(struct flight *f, flight_ship_to ship, void *arg)
{
	size_t held = (size_t)f->counts.held, last = f->cap - f->first;
	size_t head = held < last ? held : last;

	if (!held)
		return 0;
	ship(arg, f->ring + f->first, head);
	if (held > head)
		ship(arg, f->ring, held - head);
	f->counts.shipped += held;
	f->counts.shipments++;
	f->counts.held = 0;
	f->first = 0;
	return held;
}

struct flight_counts flight_counts(const struct flight *f)
{
	return f->counts;
}
