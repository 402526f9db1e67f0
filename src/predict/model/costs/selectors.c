/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/costs/selectors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

void chosen_release(struct chosen *chosen)
{
	free(chosen->ranks);
	*chosen = (struct chosen){ 0 };
}

static int wanted_check(uint64_t ranks, uint64_t wanted, struct err *err)
{
	if (!wanted)
		return err_set(err, EINVAL, "there must be a writer");
	if (wanted > ranks)
		return err_set(err, EINVAL, "%llu writers of %llu ranks: there are too few",
			       (unsigned long long)wanted, (unsigned long long)ranks);
	return 0;
}

size_t selector_part(size_t whole, size_t part, size_t i)
{
	return i * whole / part;
}

/* Out of `taken`, one flag per rank. */
static void chosen_fill(struct chosen *chosen, const bool *taken, uint64_t ranks)
{
	chosen->count = 0;
	for (uint64_t r = 0; r < ranks; r++)
		chosen->count += taken[r];
	chosen->ranks = xcalloc(chosen->count + 1, sizeof(*chosen->ranks));
	for (uint64_t r = 0, n = 0; r < ranks; r++)
		if (taken[r])
			chosen->ranks[n++] = r;
}

/* Takes `more` of those ranks among from[0 .. count) that are free, evenly. */
static void take_evenly(bool *taken, const uint64_t *from, size_t count, size_t more)
{
	AUTO_FREE uint64_t *left = xcalloc(count + 1, sizeof(*left));
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!taken[from[i]])
			left[n++] = from[i];
	more = more < n ? more : n;
	for (size_t i = 0; i < more; i++)
		taken[left[selector_part(n, more, i)]] = true;
}

int selector_uniform(struct chosen *chosen, uint64_t ranks, uint64_t wanted, struct err *err)
{
	AUTO_FREE bool *taken = NULL;
	AUTO_FREE uint64_t *all = NULL;
	uint64_t stride, given = 0;
	int r = wanted_check(ranks, wanted, err);

	if (r < 0)
		return r;
	taken = xcalloc(ranks, sizeof(*taken));
	all = xcalloc(ranks, sizeof(*all));
	stride = (ranks + wanted - 1) / wanted;
	for (uint64_t i = 0; i < ranks; i++)
		all[i] = i;
	for (uint64_t i = 0; i < ranks && given < wanted; i += stride, given++)
		taken[i] = true;
	take_evenly(taken, all, ranks, wanted - given);
	chosen_fill(chosen, taken, ranks);
	chosen->stride = stride;
	chosen->by_stride = given;
	return 0;
}

/* Part number i of `total` dealt out evenly to `parts`. */
static uint64_t share(uint64_t total, uint64_t parts, uint64_t i)
{
	return (i + 1) * total / parts - i * total / parts;
}

/* Ranks of a pset in the order in which nodes take turns: first ranks of all nodes, then second. */
static void pset_order(uint64_t *order, const struct selector_psets *psets, uint64_t pset)
{
	size_t n = 0;

	for (uint64_t core = 0; core < psets->cores; core++)
		for (uint64_t node = 0; node < psets->pset_nodes; node++)
			order[n++] = (pset * psets->pset_nodes + node) * psets->cores + core;
}

/* Rounds of one rank per node, the last of them spread over the nodes. */
static void pset_take(bool *taken, const struct selector_psets *psets, uint64_t pset, uint64_t more)
{
	AUTO_FREE uint64_t *order = xcalloc(psets->pset_nodes * psets->cores, sizeof(*order));

	pset_order(order, psets, pset);
	for (uint64_t core = 0; more && core < psets->cores; core++) {
		const uint64_t *turn = order + core * psets->pset_nodes;
		uint64_t left = 0;

		for (uint64_t i = 0; i < psets->pset_nodes; i++)
			left += !taken[turn[i]];
		left = left < more ? left : more;
		take_evenly(taken, turn, psets->pset_nodes, left);
		more -= left;
	}
}

static int psets_check(const struct selector_psets *p, struct err *err)
{
	if (!p->nodes || !p->cores || !p->pset_nodes || p->nodes % p->pset_nodes)
		return err_set(err, EINVAL, "%llu nodes do not fill psets of %llu",
			       (unsigned long long)p->nodes, (unsigned long long)p->pset_nodes);
	if (!p->pset_bridges || p->pset_nodes % p->pset_bridges)
		return err_set(
			err, EINVAL, "%llu bridges are not spread over the %llu nodes of a pset",
			(unsigned long long)p->pset_bridges, (unsigned long long)p->pset_nodes);
	return 0;
}

int selector_bridges(struct chosen *chosen, const struct selector_psets *psets, uint64_t wanted,
		     struct err *err)
{
	AUTO_FREE bool *taken = NULL;
	uint64_t count, ranks = psets->nodes * psets->cores;
	int r = psets_check(psets, err);

	if (r >= 0)
		r = wanted_check(ranks, wanted, err);
	if (r < 0)
		return r;
	count = psets->nodes / psets->pset_nodes;
	taken = xcalloc(ranks, sizeof(*taken));
	for (uint64_t pset = 0; pset < count; pset++) {
		uint64_t mine = share(wanted, count, pset);
		uint64_t bridges = mine < psets->pset_bridges ? mine : psets->pset_bridges;

		for (uint64_t b = 0; b < bridges; b++) {
			uint64_t node = pset * psets->pset_nodes +
					b * (psets->pset_nodes / psets->pset_bridges);

			taken[node * psets->cores] = true;
		}
		pset_take(taken, psets, pset, mine - bridges);
	}
	chosen_fill(chosen, taken, ranks);
	return 0;
}

/* ---- ordinary machines ---- */

struct seat {
	uint64_t rank;
	uint32_t node, socket;
	uint64_t node_first; /* lowest rank of the node: nodes in the order of their ranks */
	uint64_t row;	     /* so many ranks of its socket come before it */
	uint64_t turn;	     /* so many ranks of its node do: sockets take turns */
};

static int number_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_socket(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int d = number_compare(x->node, y->node);

	if (!d)
		d = number_compare(x->socket, y->socket);
	return d ? d : number_compare(x->rank, y->rank);
}

static int by_row(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int d = number_compare(x->node, y->node);

	if (!d)
		d = number_compare(x->row, y->row);
	return d ? d : number_compare(x->rank, y->rank);
}

static int by_turn(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int d = number_compare(x->turn, y->turn);

	return d ? d : number_compare(x->node_first, y->node_first);
}

static void seats_order(struct seat *seats, uint64_t ranks)
{
	qsort(seats, ranks, sizeof(*seats), by_socket);
	for (uint64_t i = 1; i < ranks; i++)
		if (seats[i].node == seats[i - 1].node && seats[i].socket == seats[i - 1].socket)
			seats[i].row = seats[i - 1].row + 1;
	qsort(seats, ranks, sizeof(*seats), by_row);
	for (uint64_t i = 0, first = 0; i < ranks; i++) {
		if (seats[i].node != seats[first].node)
			first = i;
		seats[i].turn = i - first;
		/* The lowest rank is in the first row, where the lowest comes first. */
		seats[i].node_first = seats[first].rank;
	}
	qsort(seats, ranks, sizeof(*seats), by_turn);
}

int selector_spread(struct chosen *chosen, const uint32_t *nodes, const uint32_t *sockets,
		    uint64_t ranks, uint64_t wanted, struct err *err)
{
	AUTO_FREE struct seat *seats = NULL;
	AUTO_FREE bool *taken = NULL;
	int r = wanted_check(ranks, wanted, err);

	if (r < 0)
		return r;
	seats = xcalloc(ranks, sizeof(*seats));
	taken = xcalloc(ranks, sizeof(*taken));
	for (uint64_t i = 0; i < ranks; i++)
		seats[i] = (struct seat){ .rank = i,
					  .node = nodes[i],
					  .socket = sockets ? sockets[i] : 0 };
	seats_order(seats, ranks);
	for (uint64_t i = 0; i < wanted; i++)
		taken[seats[i].rank] = true;
	chosen_fill(chosen, taken, ranks);
	return 0;
}
