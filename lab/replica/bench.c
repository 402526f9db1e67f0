/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The training sets of HYB-37 as the benchmark programs of the paper would find them on this
 * machine. Which subsets were measured the paper does not say; what is chosen here is told in
 * docs/vesta.md, and was chosen by what one can know before: the settings on offer.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "lab/replica/replica_internal.h"
#include "predict/model/operation.h"
#include "store/elements.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB 1048576.0
#define REPETITIONS 100	  /* of what the network does */
#define FRESH_FILES 10	  /* that a first round is repeated on: HYB-55 */
#define WRITER_BYTES 1024 /* MiB that each writer of a full round writes: HYB-55 */
#define CACHES 2	  /* least volume of what is repeated, in caches */

static const uint64_t nodes_tried[] = { 128, 256, 512 };
static const uint64_t hints_tried[] = { 4, 16, 64 };
static const uint64_t blocks_tried[] = { 1, 2, 4 };

/* Subsets of the writers of a full round: with a fresh file up to all of them, else some. */
static const double first_parts[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 };
static const double partial_parts[] = { 0.02, 0.06, 0.12, 0.2, 0.3, 0.45, 0.6, 0.75, 0.88, 0.97 };

struct bench {
	const struct replica *replica;
	struct elements *out;
	uint64_t seed, nodes;
	size_t begin; /* of out, where ours are */
	struct random random;
};

static bool is_same(const struct element *a, const struct element *b)
{
	return a->bytes == b->bytes && a->writers == b->writers && a->senders == b->senders &&
	       a->receivers == b->receivers && a->nodes == b->nodes &&
	       strcmp(a->operation, b->operation) == 0;
}

/* Subsets of different settings may be of one size: then it was measured again. */
static int64_t repetition_of(const struct bench *b, const struct element *row)
{
	int64_t repetition = 0;

	for (size_t i = b->begin; i < b->out->count; i++)
		repetition += is_same(&b->out->rows[i], row);
	return repetition;
}

static void note(struct bench *b, enum operation operation, const struct elemental *at,
		 int64_t round, double seconds)
{
	struct element row = {
		.nodes = at->nodes,
		.cores = at->cores,
		.senders = at->senders,
		.receivers = at->receivers,
		.writers = at->writers,
		.bytes = at->bytes,
		.round = round,
		.seconds = seconds,
	};

	snprintf(row.platform, sizeof(row.platform), "%s", b->replica->machine.name);
	snprintf(row.operation, sizeof(row.operation), "%s", operations[operation].name);
	if (operations[operation].kind == OPERATION_STORAGE)
		snprintf(row.placement, sizeof(row.placement), "topology");
	row.repetition = repetition_of(b, &row);
	elements_add(b->out, &row);
}

/* What is reported of the network is a mean. */
static double mean_noisy(struct bench *b, double seconds)
{
	double sum = 0;

	for (int i = 0; i < REPETITIONS; i++)
		sum += network_noisy(b->replica, &b->random, seconds);
	return sum / REPETITIONS;
}

static void bench_collectives(struct bench *b)
{
	struct elemental at = { .nodes = (double)b->nodes,
				.cores = (double)b->replica->machine.cores };

	for (at.bytes = 4; at.bytes <= MIB; at.bytes *= 2)
		note(b, OPERATION_ALLREDUCE, &at, 0,
		     mean_noisy(b, network_allreduce(b->replica, at.nodes, at.cores, at.bytes)));
	for (at.bytes = 4; at.bytes <= MIB / 4; at.bytes *= 2)
		note(b, OPERATION_ALLTOALL, &at, 0,
		     mean_noisy(b, network_alltoall(b->replica, at.nodes, at.cores, at.bytes)));
}

static uint64_t writers_of(const struct bench *b, uint64_t hint)
{
	const struct machine *m = &b->replica->machine;

	return (hint + 1) * m->bridges * b->nodes / m->bridge_nodes;
}

/* Messages of a range of sizes between so many ranks; receivers lie as aggregators do. */
static void bench_exchange(struct bench *b, double senders, double receivers, double from,
			   double to)
{
	struct elemental at = { .nodes = (double)b->nodes,
				.cores = (double)b->replica->machine.cores,
				.senders = floor(senders),
				.receivers = floor(receivers) };
	struct placement placement;

	placement_start(&placement, b->replica, b->nodes);
	placement_topology(&placement, 0, (uint64_t)at.receivers, 1);
	for (at.bytes = from; at.bytes <= to; at.bytes *= 2) {
		struct exchange e = { at.nodes,	    at.cores, at.senders,
				      at.receivers, at.bytes, placement_crowd(&placement) };

		note(b, OPERATION_ALLTOALLV, &at, 0,
		     mean_noisy(b, network_exchange(b->replica, &e)));
	}
}

/*
 * One message for each aggregator, or for some of them; everybody to aggregators, up to what these
 * have memory for; and two large ones for each.
 */
static void bench_exchanges(struct bench *b)
{
	double ranks = (double)(b->nodes * b->replica->machine.cores);

	for (size_t i = 0; i < COUNT(hints_tried); i++) {
		double all = (double)writers_of(b, hints_tried[i]);

		bench_exchange(b, all, all, 1, 64 * MIB);
		bench_exchange(b, all / 2, all / 2, 1, 64 * MIB);
		bench_exchange(b, all / 8, all / 8, 1, 64 * MIB);
		bench_exchange(b, ranks, all, 1, 8 * MIB);
		bench_exchange(b, 2 * all, all, MIB / 16, 64 * MIB);
	}
}

/* One cell of the storage benchmark: so many writers of so many bytes each. */
struct cell {
	uint64_t writers, bytes;
	struct load load;
};

static void cell_make(struct cell *cell, const struct bench *b, double writers, uint64_t blocks)
{
	struct placement placement;

	cell->writers = (uint64_t)fmax(round(writers), 1);
	cell->bytes = blocks * b->replica->machine.block_bytes;
	placement_start(&placement, b->replica, b->nodes);
	placement_topology(&placement, 0, cell->writers, (double)cell->bytes);
	load_of(&cell->load, b->replica, &placement);
}

static void cell_start(struct course *course, const struct bench *b, const struct cell *cell,
		       enum operation operation, uint64_t repetition)
{
	const uint64_t key[] = { 3, b->seed, b->nodes, b->out->count, operation, repetition };

	course_start(course, b->replica, cell->load.psets, replica_mix(key, COUNT(key)));
}

static void cell_note(struct bench *b, const struct cell *cell, enum operation operation,
		      double seconds)
{
	const struct elemental at = { .nodes = (double)b->nodes,
				      .cores = (double)b->replica->machine.cores,
				      .writers = (double)cell->writers / (double)b->nodes,
				      .bytes = (double)cell->bytes };

	note(b, operation, &at, operation != OPERATION_WRITE_FIRST, seconds);
}

/* The first round on each of several fresh files, in whatever state the caches are. */
static void bench_first(struct bench *b, const struct cell *cell)
{
	struct course course;
	double sum = 0;

	for (uint64_t i = 0; i < FRESH_FILES; i++) {
		cell_start(&course, b, cell, OPERATION_WRITE_FIRST, i);
		sum += course_write(&course, &cell->load, true);
	}
	cell_note(b, cell, OPERATION_WRITE_FIRST, sum / FRESH_FILES);
}

/* The mean of the rounds after the first. */
static void bench_later(struct bench *b, const struct cell *cell, enum operation operation,
			uint64_t rounds)
{
	struct course course;
	double sum = 0;

	cell_start(&course, b, cell, operation, 0);
	course_write(&course, &cell->load, true);
	for (uint64_t i = 1; i < rounds; i++)
		sum += course_write(&course, &cell->load, false);
	cell_note(b, cell, operation, sum / (double)(rounds - 1));
}

/* So that what is written is CACHES times what the I/O nodes in use can hold. */
static uint64_t rounds_for(const struct bench *b, const struct cell *cell)
{
	uint64_t psets = b->nodes / b->replica->machine.pset_nodes;
	uint64_t used = cell->writers < psets ? cell->writers : psets;
	uint64_t volume = CACHES * used * b->replica->machine.cache_bytes;
	uint64_t round = cell->writers * cell->bytes;

	return 2 + (volume + round - 1) / round;
}

static void bench_storage(struct bench *b, uint64_t hint, uint64_t blocks)
{
	double all = (double)writers_of(b, hint);
	struct cell cell;

	for (size_t i = 0; i < COUNT(first_parts); i++) {
		cell_make(&cell, b, first_parts[i] * all, blocks);
		bench_first(b, &cell);
	}
	cell_make(&cell, b, all, blocks);
	bench_later(b, &cell, OPERATION_WRITE_FULL, (uint64_t)(WRITER_BYTES * MIB) / cell.bytes);
	for (size_t i = 0; i < COUNT(partial_parts); i++) {
		cell_make(&cell, b, partial_parts[i] * all, blocks);
		bench_later(b, &cell, OPERATION_WRITE_PARTIAL, rounds_for(b, &cell));
	}
}

int replica_benchmark(const struct replica *replica, uint64_t seed, struct elements *out,
		      struct err *err)
{
	struct bench b = { .replica = replica, .out = out, .seed = seed, .begin = out->count };

	if (512 % replica->machine.pset_nodes ||
	    512 / replica->machine.pset_nodes > REPLICA_PSETS_MAX)
		return err_set(err, EINVAL, "%s: the benchmark's 512 nodes are not so many psets",
			       replica->machine.name);
	random_stream(&b.random, seed, 3);
	for (size_t i = 0; i < COUNT(nodes_tried); i++) {
		b.nodes = nodes_tried[i];
		bench_collectives(&b);
		bench_exchanges(&b);
		for (size_t k = 0; k < COUNT(hints_tried) * COUNT(blocks_tried); k++)
			bench_storage(&b, hints_tried[k / COUNT(blocks_tried)],
				      blocks_tried[k % COUNT(blocks_tried)]);
	}
	return 0;
}
