/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communication, as predict/model/operation.h says what the time of one is: what it adds to a
 * sequence. A collective keeps ranks together by itself and is done many times on end. Exchanges
 * are single messages as those of ROMIO's rounds, and separated by an Alltoall as those are; so are
 * broadcasts, whose root would run ahead.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/elemental.h"

/* Between two looks at the clock that all ranks must agree about. */
#define BATCH 10
#define WARM_UP 2

struct comm {
	const struct elemental *e;
	const struct elemental_cell *cell;
	char *from, *to;
	int *sends, *send_at, *takes, *take_at; /* of an exchange, one per rank */
	MPI_Request *requests;
	double apart_s; /* what keeps exchanges apart takes by itself */
};

struct method {
	const char *name;
	void (*run)(const struct comm *c, int bytes);
	/* Room that a rank needs to send from and to receive into, in units of bytes. */
	bool from_each, to_each;
	bool is_apart; /* does not keep ranks together by itself: something must */
};

static void allreduce(const struct comm *c, int bytes)
{
	/* As ROMIO does: whole numbers. */
	MPI_Allreduce(c->from, c->to, bytes < 4 ? 1 : bytes / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(const struct comm *c, int bytes)
{
	MPI_Alltoall(c->from, bytes, MPI_BYTE, c->to, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void allgather(const struct comm *c, int bytes)
{
	MPI_Allgather(c->from, bytes, MPI_BYTE, c->to, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void broadcast(const struct comm *c, int bytes)
{
	MPI_Bcast(c->from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void barrier(const struct comm *c, int bytes)
{
	(void)c;
	(void)bytes;
	MPI_Barrier(MPI_COMM_WORLD);
}

/* As a round of ROMIO: what is to come is posted first. */
static void exchange(const struct comm *c, int bytes)
{
	int ranks = c->e->kernel->ranks, n = 0;

	(void)bytes;
	for (int r = 0; r < ranks; r++)
		if (c->takes[r])
			MPI_Irecv(c->to + c->take_at[r], c->takes[r], MPI_BYTE, r, 0,
				  MPI_COMM_WORLD, &c->requests[n++]);
	for (int r = 0; r < ranks; r++)
		if (c->sends[r])
			MPI_Isend(c->from + c->send_at[r], c->sends[r], MPI_BYTE, r, 0,
				  MPI_COMM_WORLD, &c->requests[n++]);
	MPI_Waitall(n, c->requests, MPI_STATUSES_IGNORE);
}

static const struct method methods[] = {
	{ "ar", allreduce, false, false, false }, { "aa", alltoall, true, true, false },
	{ "ag", allgather, false, true, false },  { "bc", broadcast, false, false, true },
	{ "ba", barrier, false, false, false },	  { "aav", exchange, false, false, true },
};

static const struct method *method_find(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

/* Sender and index of the receiver of a message: what operation.h says of an exchange. */
static void message_ends(const struct elemental_cell *cell, uint64_t ranks, uint64_t message,
			 uint64_t *sender, uint64_t *receiver)
{
	if (cell->senders <= ranks) {
		*sender = message * ranks / cell->senders;
		*receiver = message * cell->receivers / cell->senders;
	} else {
		*sender = message % ranks;
		*receiver = (*sender * cell->receivers / ranks + message / ranks) % cell->receivers;
	}
}

/* Where each rank's part begins; the whole, or -1 where it is more than MPI counts. */
static int64_t places_fill(const int *counts, int *places, int ranks)
{
	int64_t at = 0;

	for (int r = 0; r < ranks; r++) {
		places[r] = (int)at;
		at += counts[r];
		if (at > INT_MAX)
			return -1;
	}
	return at;
}

static int exchange_plan(struct comm *c, int64_t *from_bytes, int64_t *to_bytes, struct err *err)
{
	const struct elemental_cell *cell = c->cell;
	int rank = c->e->kernel->rank, ranks = c->e->kernel->ranks;
	struct chosen receivers = { 0 };
	int r = selector_spread(&receivers, c->e->place.nodes, c->e->place.sockets, (uint64_t)ranks,
				cell->receivers, err);

	if (r < 0)
		return r;
	for (uint64_t m = 0; m < cell->senders; m++) {
		uint64_t sender, receiver;

		message_ends(cell, (uint64_t)ranks, m, &sender, &receiver);
		if (sender == (uint64_t)rank)
			c->sends[receivers.ranks[receiver]] += (int)cell->bytes;
		if (receivers.ranks[receiver] == (uint64_t)rank)
			c->takes[sender] += (int)cell->bytes;
	}
	chosen_release(&receivers);
	*from_bytes = places_fill(c->sends, c->send_at, ranks);
	*to_bytes = places_fill(c->takes, c->take_at, ranks);
	if (*from_bytes < 0 || *to_bytes < 0)
		return err_set(err, E2BIG, "a rank's messages are more than %d bytes", INT_MAX);
	return 0;
}

static int cell_check(const struct elemental_cell *cell, const struct method *method, int ranks,
		      struct err *err)
{
	uint64_t messages = (uint64_t)ranks * cell->receivers;

	if (!method)
		return err_set(err, EINVAL, "there is no operation \"%s\"", cell->operation);
	if (cell->bytes > INT_MAX || (method->to_each && cell->bytes * (uint64_t)ranks > INT_MAX))
		return err_set(err, E2BIG, "%llu bytes are more than MPI counts",
			       (unsigned long long)cell->bytes);
	if (method->run == exchange &&
	    (!cell->senders || !cell->receivers || cell->senders > messages))
		return err_set(err, EINVAL, "no exchange has %llu senders and %llu receivers",
			       (unsigned long long)cell->senders,
			       (unsigned long long)cell->receivers);
	return 0;
}

static int comm_open(struct comm *c, const struct method *method, struct err *err)
{
	size_t ranks = (size_t)c->e->kernel->ranks;
	int64_t from = (int64_t)c->cell->bytes * (method->from_each ? (int64_t)ranks : 1);
	int64_t to = (int64_t)c->cell->bytes * (method->to_each ? (int64_t)ranks : 1);
	int r = 0;

	c->sends = xcalloc(4 * ranks, sizeof(*c->sends));
	c->send_at = c->sends + ranks;
	c->takes = c->sends + 2 * ranks;
	c->take_at = c->sends + 3 * ranks;
	c->requests = xcalloc(2 * ranks, sizeof(*c->requests));
	if (method->run == exchange)
		r = exchange_plan(c, &from, &to, err);
	if (r < 0)
		return r;
	c->from = calloc((size_t)from + 8, 1);
	c->to = calloc((size_t)to + 8, 1);
	if (!c->from || !c->to)
		return err_set(err, ENOMEM, "no memory for messages of %llu bytes",
			       (unsigned long long)c->cell->bytes);
	/* Pages that were never written are one and the same. */
	memset(c->from, 1, (size_t)from + 8);
	memset(c->to, 1, (size_t)to + 8);
	return 0;
}

static void comm_close(struct comm *c)
{
	free(c->from);
	free(c->to);
	free(c->sends);
	free(c->requests);
}

/* Each once, from clock to clock of this rank. */
static void repeat_batch(const struct comm *c, const struct method *method, uint64_t count,
			 double *took)
{
	double before, now;

	elemental_apart(c->e);
	before = MPI_Wtime();
	for (uint64_t i = 0; i < count; i++) {
		method->run(c, (int)c->cell->bytes);
		if (method->is_apart)
			elemental_apart(c->e);
		now = MPI_Wtime();
		took[i] = elemental_less(now - before, method->is_apart ? c->apart_s : 0);
		before = now;
	}
}

/* Repeats until all is done or takes too long, which rank 0 decides. Returns how often. */
static uint64_t repeat(const struct comm *c, const struct method *method, double *took)
{
	double begin = MPI_Wtime();
	uint64_t done = 0, count;
	int go_on = 1;

	for (int i = 0; i < WARM_UP; i++)
		repeat_batch(c, method, 1, took);
	while (go_on) {
		count = c->cell->repetitions - done < BATCH ? c->cell->repetitions - done : BATCH;
		repeat_batch(c, method, count, took + done);
		done += count;
		go_on = done < c->cell->repetitions && MPI_Wtime() - begin < c->e->limit_s;
		MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	return done;
}

int elemental_comm(const struct elemental *e, const struct elemental_cell *cell)
{
	const struct method *method = method_find(cell->operation);
	AUTO_FREE double *took = xcalloc(cell->repetitions + 1, sizeof(*took));
	struct comm c = { .e = e, .cell = cell };
	struct err err = { 0 };
	uint64_t done;
	int r;

	if (cell_check(cell, method, e->kernel->ranks, &err) >= 0)
		comm_open(&c, method, &err);
	r = kernel_agree(e->kernel, &err);
	if (r >= 0) {
		c.apart_s = method->is_apart ? elemental_apart_seconds(e) : 0;
		done = repeat(&c, method, took);
		for (uint64_t i = 0; i < done; i++)
			elemental_row(e, cell, cell->operation, 0, 0, i, took[i]);
	}
	comm_close(&c);
	return r;
}
