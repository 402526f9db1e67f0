/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/chain/links.h"

#include <stdlib.h>

#include "base/mem.h"
#include "observe/chain/sockets.h"

void links_release(struct links *l)
{
	free(l->list);
	*l = (struct links){ 0 };
}

void links_add(struct links *l, uint32_t of, uint32_t partner)
{
	l->list = xgrow(l->list, &l->cap, l->count + 1, sizeof(*l->list));
	l->list[l->count++] = (struct link){ of, partner };
}

void links_store(const struct links *l, struct sockets *s, uint32_t *partners, size_t base)
{
	for (size_t i = 0; i < l->count; i++)
		s->transfers[l->list[i].of].count++;
	for (size_t i = 0; i < s->transfer_count; i++) {
		struct chain_transfer *t = &s->transfers[i];

		if (t->end != SOCKETS_NO_END)
			continue;
		t->first = (uint32_t)base;
		base += t->count;
		t->count = 0;
	}
	for (size_t i = 0; i < l->count; i++) {
		struct chain_transfer *t = &s->transfers[l->list[i].of];

		partners[t->first + t->count++] = l->list[i].partner;
	}
}
