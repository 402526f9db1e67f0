/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures communication. The time of an operation is what it adds to a sequence
 * (predict/model/operation.h). A collective synchronizes ranks itself and is repeated without
 * pauses. Exchanges are point-to-point messages as in ROMIO's rounds, separated by an Alltoall as
 * in ROMIO; so are broadcasts, whose root would run ahead otherwise.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/elemental.h"

/* Repetitions between two checks of the time limit, on which all ranks have to agree. */
#define BATCH 10
#define WARM_UP 2

struct comm {
	const struct elemental *e;
	const struct elemental_cell *cell;
	char *from, *to;
	int *sends, *send_at, *takes, *take_at; /* exchange: one entry per rank */
	MPI_Request *requests;
	double apart_s; /* time of one separation */
};

struct method {
	const char *name;
	void (*run)(const struct comm *c, int bytes);
	/* The buffer holds `bytes` for each rank instead of `bytes` in all. */
	bool from_each, to_each;
	bool is_apart; /* does not synchronize ranks, so it needs a separation */
};

static void allreduce(const struct comm *c, int bytes)
{
	/* Integers, as in ROMIO. */
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

/* Posts receives first, as a round of ROMIO does. */
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

static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

/* Computes the sender and the index of the receiver of a message (see operation.h). */
static void find_message_ends(const struct elemental_cell *cell, uint64_t ranks, uint64_t message,
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

/* Computes the offset of each rank's part. Returns the total, or -1 if it exceeds INT_MAX. */
static int64_t compute_offsets(const int *counts, int *places, int ranks)
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

static int plan_exchange(struct comm *c, int64_t *from_bytes, int64_t *to_bytes, struct err *err)
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

		find_message_ends(cell, (uint64_t)ranks, m, &sender, &receiver);
		if (sender == (uint64_t)rank)
			c->sends[receivers.ranks[receiver]] += (int)cell->bytes;
		if (receivers.ranks[receiver] == (uint64_t)rank)
			c->takes[sender] += (int)cell->bytes;
	}
	chosen_release(&receivers);
	*from_bytes = compute_offsets(c->sends, c->send_at, ranks);
	*to_bytes = compute_offsets(c->takes, c->take_at, ranks);
	if (*from_bytes < 0 || *to_bytes < 0)
		return err_set(err, E2BIG, "the messages of a rank exceed %d bytes", INT_MAX);
	return 0;
}

static int check_cell(const struct elemental_cell *cell, const struct method *method, int ranks,
		      struct err *err)
{
	uint64_t messages = (uint64_t)ranks * cell->receivers;

	if (!method)
		return err_set(err, EINVAL, "unknown operation \"%s\"", cell->operation);
	if (cell->bytes > INT_MAX || (method->to_each && cell->bytes * (uint64_t)ranks > INT_MAX))
		return err_set(err, E2BIG, "%llu bytes exceed the limit of MPI",
			       (unsigned long long)cell->bytes);
	if (method->run == exchange &&
	    (!cell->senders || !cell->receivers || cell->senders > messages))
		return err_set(err, EINVAL, "invalid exchange of %llu senders and %llu receivers",
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
		r = plan_exchange(c, &from, &to, err);
	if (r < 0)
		return r;
	c->from = calloc((size_t)from + 8, 1);
	c->to = calloc((size_t)to + 8, 1);
	if (!c->from || !c->to)
		return err_set(err, ENOMEM, "out of memory for messages of %llu bytes",
			       (unsigned long long)c->cell->bytes);
	/* Touch all pages; unwritten pages would share one physical page. */
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

/* Measures each repetition with the clock of this rank. */
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
		took[i] = elemental_net_seconds(now - before, method->is_apart ? c->apart_s : 0);
		before = now;
	}
}

/* Repeats the operation until rank 0 finds the time limit exceeded. Returns the number of
 * repetitions. */
static uint64_t repeat_operation(const struct comm *c, const struct method *method, double *took)
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
	const struct method *method = find_method(cell->operation);
	AUTO_FREE double *took = xcalloc(cell->repetitions + 1, sizeof(*took));
	struct comm c = { .e = e, .cell = cell };
	struct err err = { 0 };
	uint64_t done;
	int r;

	if (check_cell(cell, method, e->kernel->ranks, &err) >= 0)
		comm_open(&c, method, &err);
	r = kernel_agree(e->kernel, &err);
	if (r >= 0) {
		c.apart_s = method->is_apart ? elemental_apart_seconds(e) : 0;
		done = repeat_operation(&c, method, took);
		for (uint64_t i = 0; i < done; i++)
			elemental_row(e, cell, cell->operation, 0, 0, i, took[i]);
	}
	comm_close(&c);
	return r;
}
