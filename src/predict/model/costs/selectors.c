/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-36.
 */
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

static int check_wanted(uint64_t ranks, uint64_t wanted, struct err *err)
{
	if (!wanted)
		return err_set(err, EINVAL, "the number of writers must be at least 1");
	if (wanted > ranks)
		return err_set(err, EINVAL, "%llu writers exceed the %llu ranks",
			       (unsigned long long)wanted, (unsigned long long)ranks);
	return 0;
}

size_t selector_part(size_t whole, size_t part, size_t i)
{
	return i * whole / part;
}

/* Collects the ranks whose flag in `taken` is set. */
static void collect_ranks(struct chosen *chosen, const bool *taken, uint64_t ranks)
{
	chosen->count = 0;
	for (uint64_t r = 0; r < ranks; r++)
		chosen->count += taken[r];
	chosen->ranks = xcalloc(chosen->count + 1, sizeof(*chosen->ranks));
	for (uint64_t r = 0, n = 0; r < ranks; r++)
		if (taken[r])
			chosen->ranks[n++] = r;
}

/* Takes `more` of the free ranks among from[0 .. count), evenly. */
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
	int r = check_wanted(ranks, wanted, err);

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
	collect_ranks(chosen, taken, ranks);
	chosen->stride = stride;
	chosen->by_stride = given;
	return 0;
}

struct seat {
	uint64_t rank;
	uint32_t node, socket;
	uint64_t node_first; /* lowest rank of the node, which orders nodes */
	uint64_t row;	     /* number of earlier ranks on its socket */
	uint64_t turn;	     /* number of earlier ranks on its node, with sockets in turn */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_by_socket(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int d = compare_numbers(x->node, y->node);

	if (!d)
		d = compare_numbers(x->socket, y->socket);
	return d ? d : compare_numbers(x->rank, y->rank);
}

static int compare_by_row(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int d = compare_numbers(x->node, y->node);

	if (!d)
		d = compare_numbers(x->row, y->row);
	return d ? d : compare_numbers(x->rank, y->rank);
}

static int compare_by_turn(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int d = compare_numbers(x->turn, y->turn);

	return d ? d : compare_numbers(x->node_first, y->node_first);
}

static void order_seats(struct seat *seats, uint64_t ranks)
{
	qsort(seats, ranks, sizeof(*seats), compare_by_socket);
	for (uint64_t i = 1; i < ranks; i++)
		if (seats[i].node == seats[i - 1].node && seats[i].socket == seats[i - 1].socket)
			seats[i].row = seats[i - 1].row + 1;
	qsort(seats, ranks, sizeof(*seats), compare_by_row);
	for (uint64_t i = 0, first = 0; i < ranks; i++) {
		if (seats[i].node != seats[first].node)
			first = i;
		seats[i].turn = i - first;
		/* The first seat of a node has its lowest rank. */
		seats[i].node_first = seats[first].rank;
	}
	qsort(seats, ranks, sizeof(*seats), compare_by_turn);
}

int selector_spread(struct chosen *chosen, const uint32_t *nodes, const uint32_t *sockets,
		    uint64_t ranks, uint64_t wanted, struct err *err)
{
	AUTO_FREE struct seat *seats = NULL;
	AUTO_FREE bool *taken = NULL;
	int r = check_wanted(ranks, wanted, err);

	if (r < 0)
		return r;
	seats = xcalloc(ranks, sizeof(*seats));
	taken = xcalloc(ranks, sizeof(*taken));
	for (uint64_t i = 0; i < ranks; i++)
		seats[i] = (struct seat){ .rank = i,
					  .node = nodes[i],
					  .socket = sockets ? sockets[i] : 0 };
	order_seats(seats, ranks);
	for (uint64_t i = 0; i < wanted; i++)
		taken[seats[i].rank] = true;
	collect_ranks(chosen, taken, ranks);
	return 0;
}
