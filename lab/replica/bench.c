/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmarks of Isaila et al. on the simulated machine. The paper does not list all measured
 * arguments; docs/reference/simulated/vesta.md describes the selection made here, which depends only on the settings
 * that an application can choose from.
 * Papers: HYB-37.
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
#define REPETITIONS 100 /* of network operations */
#define FRESH_FILES 10	/* repetitions of a first round */
#define WRITER_MIB 1024 /* written by each writer of full rounds */
#define CACHES 2	/* least volume of partial rounds, in sizes of the caches */
#define NODES_MAX 512

static const uint64_t nodes_tried[] = { 128, 256, NODES_MAX };
static const uint64_t hints_tried[] = { 4, 16, 64 };
static const uint64_t blocks_tried[] = { 1, 2, 4 };

/* Parts of the writers of a full round that write: in first rounds, and in partial rounds. */
static const double first_parts[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 };
static const double partial_parts[] = { 0.02, 0.06, 0.12, 0.2, 0.3, 0.45, 0.6, 0.75, 0.88, 0.97 };

struct bench {
	const struct replica *replica;
	struct elements *out;
	uint64_t seed, nodes;
	size_t begin; /* index of our first row in `out` */
	struct random random;
};

static bool has_same_arguments(const struct element *a, const struct element *b)
{
	return a->bytes == b->bytes && a->writers == b->writers && a->senders == b->senders &&
	       a->receivers == b->receivers && a->nodes == b->nodes &&
	       strcmp(a->operation, b->operation) == 0;
}

/* Different settings can lead to equal arguments; these rows are repetitions. */
static int64_t count_equal_rows(const struct bench *b, const struct element *row)
{
	int64_t repetition = 0;

	for (size_t i = b->begin; i < b->out->count; i++)
		repetition += has_same_arguments(&b->out->rows[i], row);
	return repetition;
}

static void add_row(struct bench *b, enum operation operation, const struct elemental *at,
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
	row.repetition = count_equal_rows(b, &row);
	elements_add(b->out, &row);
}

/* Network operations are reported as means. */
static double mean_with_noise(struct bench *b, double seconds)
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
		add_row(b, OPERATION_ALLREDUCE, &at, 0,
			mean_with_noise(
				b, network_allreduce(b->replica, at.nodes, at.cores, at.bytes)));
	for (at.bytes = 4; at.bytes <= MIB / 4; at.bytes *= 2)
		add_row(b, OPERATION_ALLTOALL, &at, 0,
			mean_with_noise(
				b, network_alltoall(b->replica, at.nodes, at.cores, at.bytes)));
}

static uint64_t count_writers(const struct bench *b, uint64_t hint)
{
	const struct machine *m = &b->replica->machine;

	return (hint + 1) * m->bridges * b->nodes / m->bridge_nodes;
}

/* Benchmarks messages of a range of sizes; receivers are placed like aggregators. */
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

		add_row(b, OPERATION_ALLTOALLV, &at, 0,
			mean_with_noise(b, network_exchange(b->replica, &e)));
	}
}

/*
 * Benchmarks one message per aggregator, for all or some aggregators; messages from all ranks to
 * the aggregators, up to the size of their memory; and two large messages per aggregator.
 */
static void bench_exchanges(struct bench *b)
{
	double ranks = (double)(b->nodes * b->replica->machine.cores);

	for (size_t i = 0; i < COUNT(hints_tried); i++) {
		double all = (double)count_writers(b, hints_tried[i]);

		bench_exchange(b, all, all, 1, 64 * MIB);
		bench_exchange(b, all / 2, all / 2, 1, 64 * MIB);
		bench_exchange(b, all / 8, all / 8, 1, 64 * MIB);
		bench_exchange(b, ranks, all, 1, 8 * MIB);
		bench_exchange(b, 2 * all, all, MIB / 16, 64 * MIB);
	}
}

/* One cell of the storage benchmark. bytes: of each writer. */
struct cell {
	uint64_t writers, bytes;
	struct load load;
};

static void cell_init(struct cell *cell, const struct bench *b, double writers, uint64_t blocks)
{
	struct placement placement;

	cell->writers = (uint64_t)fmax(round(writers), 1);
	cell->bytes = blocks * b->replica->machine.block_bytes;
	placement_start(&placement, b->replica, b->nodes);
	placement_topology(&placement, 0, cell->writers, (double)cell->bytes);
	load_init(&cell->load, b->replica, &placement);
}

static void cell_start(struct storage_state *state, const struct bench *b, const struct cell *cell,
		       enum operation operation, uint64_t repetition)
{
	const uint64_t key[] = { 3, b->seed, b->nodes, b->out->count, operation, repetition };

	storage_start(state, b->replica, cell->load.psets, replica_mix(key, COUNT(key)));
}

static void add_cell(struct bench *b, const struct cell *cell, enum operation operation,
		     double seconds)
{
	const struct elemental at = { .nodes = (double)b->nodes,
				      .cores = (double)b->replica->machine.cores,
				      .writers = (double)cell->writers / (double)b->nodes,
				      .bytes = (double)cell->bytes };

	add_row(b, operation, &at, operation != OPERATION_WRITE_FIRST, seconds);
}

/* Writes the first round of several new files; the caches are in a random state. */
static void bench_first(struct bench *b, const struct cell *cell)
{
	struct storage_state state;
	double sum = 0;

	for (uint64_t i = 0; i < FRESH_FILES; i++) {
		cell_start(&state, b, cell, OPERATION_WRITE_FIRST, i);
		sum += storage_write(&state, &cell->load, true);
	}
	add_cell(b, cell, OPERATION_WRITE_FIRST, sum / FRESH_FILES);
}

/* Records the mean of the rounds after the first. */
static void bench_later(struct bench *b, const struct cell *cell, enum operation operation,
			uint64_t rounds)
{
	struct storage_state state;
	double sum = 0;

	cell_start(&state, b, cell, operation, 0);
	storage_write(&state, &cell->load, true);
	for (uint64_t i = 1; i < rounds; i++)
		sum += storage_write(&state, &cell->load, false);
	add_cell(b, cell, operation, sum / (double)(rounds - 1));
}

/* The number of rounds that writes CACHES times the capacity of the I/O nodes in use. */
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
	double all = (double)count_writers(b, hint);
	struct cell cell;

	for (size_t i = 0; i < COUNT(first_parts); i++) {
		cell_init(&cell, b, first_parts[i] * all, blocks);
		bench_first(b, &cell);
	}
	cell_init(&cell, b, all, blocks);
	bench_later(b, &cell, OPERATION_WRITE_FULL, (uint64_t)(WRITER_MIB * MIB) / cell.bytes);
	for (size_t i = 0; i < COUNT(partial_parts); i++) {
		cell_init(&cell, b, partial_parts[i] * all, blocks);
		bench_later(b, &cell, OPERATION_WRITE_PARTIAL, rounds_for(b, &cell));
	}
}

int replica_benchmark(const struct replica *replica, uint64_t seed, struct elements *out,
		      struct err *err)
{
	struct bench b = { .replica = replica, .out = out, .seed = seed, .begin = out->count };

	if (NODES_MAX % replica->machine.pset_nodes ||
	    NODES_MAX / replica->machine.pset_nodes > REPLICA_PSETS_MAX)
		return err_set(err, EINVAL,
			       "%s: cannot divide the %d nodes of the benchmark into psets",
			       replica->machine.name, NODES_MAX);
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
