/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts on the paper's platform: the values that the paper prints, to the last digit. The expected
 * values were computed without the code under test.
 * Papers: HYB-3, HYB-9, HYB-13 to HYB-23, HYB-25 to HYB-28, HYB-30, HYB-AC-1 to HYB-AC-4.
 */
#include "lab/model/bluegene.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "check.h"

#define MIB (UINT64_C(1) << 20)

static const uint64_t grid_nodes[] = { 128, 256, 512 };
static const uint64_t grid_pset[] = { 4, 16, 64 };
static const uint64_t grid_buffer[] = { 8, 16, 32 };
static const uint64_t grid_size[] = { 1, 2, 4, 8, 16, 32, 64, 96, 128, 196, 256 };

static struct machine vesta(void)
{
	return (struct machine){ .name = "vesta",
				 .romio = ROMIO_BLUEGENE,
				 .form = &counts_form_bluegene,
				 .cores = 16,
				 .bridges = 8,
				 .bridge_nodes = 128,
				 .pset_nodes = 32,
				 .cache_bytes = 4096 * MIB,
				 .block_bytes = 8 * MIB,
				 .aggregators = 64,
				 .buffer_bytes = 16 * MIB };
}

static struct access make_access(uint64_t nodes, uint64_t mib)
{
	return (struct access){ .nodes = nodes, .ranks = 16 * nodes, .rank_bytes = mib * MIB };
}

static struct settings make_settings(uint64_t pset, uint64_t mib)
{
	return (struct settings){ .aggregators = pset, .buffer_bytes = mib * MIB };
}

static struct counts count(uint64_t nodes, uint64_t size, uint64_t pset, uint64_t buffer,
			   const struct bluegene_rules *rules)
{
	struct machine machine = vesta();
	struct access access = make_access(nodes, size);
	struct settings settings = make_settings(pset, buffer);
	struct counts counts = { 0 };

	bluegene_attach(&machine, rules);
	REQUIRE(counts_compute(&counts, &machine, &access, &settings, NULL) == 0);
	return counts;
}

static void aggregators_are_those_of_the_paper(void)
{
	static const uint64_t expected[3][3] = { { 40, 80, 160 },
						 { 136, 272, 544 },
						 { 520, 1040, 2080 } };
	struct machine machine = vesta();

	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++) {
			struct access access = make_access(grid_nodes[k], 1);
			struct settings settings = make_settings(grid_pset[i], 8);

			CHECK_INT(counts_aggregators(&machine, &access, &settings), expected[i][k]);
		}
}

/* Complete rounds, and the share of the incomplete round in ten thousandths. */
static const struct {
	unsigned complete, share;
} rounds[11][9] = {
	{ { 6, 4000 },
	  { 3, 2000 },
	  { 1, 6000 },
	  { 1, 8824 },
	  { 0, 9412 },
	  { 0, 4706 },
	  { 0, 4923 },
	  { 0, 2462 },
	  { 0, 1231 } },
	{ { 12, 8000 },
	  { 6, 4000 },
	  { 3, 2000 },
	  { 3, 7647 },
	  { 1, 8824 },
	  { 0, 9412 },
	  { 0, 9846 },
	  { 0, 4923 },
	  { 0, 2462 } },
	{ { 25, 6000 },
	  { 12, 8000 },
	  { 6, 4000 },
	  { 7, 5294 },
	  { 3, 7647 },
	  { 1, 8824 },
	  { 1, 9692 },
	  { 0, 9846 },
	  { 0, 4923 } },
	{ { 51, 2000 },
	  { 25, 6000 },
	  { 12, 8000 },
	  { 15, 588 },
	  { 7, 5294 },
	  { 3, 7647 },
	  { 3, 9385 },
	  { 1, 9692 },
	  { 0, 9846 } },
	{ { 102, 4000 },
	  { 51, 2000 },
	  { 25, 6000 },
	  { 30, 1176 },
	  { 15, 588 },
	  { 7, 5294 },
	  { 7, 8769 },
	  { 3, 9385 },
	  { 1, 9692 } },
	{ { 204, 8000 },
	  { 102, 4000 },
	  { 51, 2000 },
	  { 60, 2353 },
	  { 30, 1176 },
	  { 15, 588 },
	  { 15, 7538 },
	  { 7, 8769 },
	  { 3, 9385 } },
	{ { 409, 6000 },
	  { 204, 8000 },
	  { 102, 4000 },
	  { 120, 4706 },
	  { 60, 2353 },
	  { 30, 1176 },
	  { 31, 5077 },
	  { 15, 7538 },
	  { 7, 8769 } },
	{ { 614, 4000 },
	  { 307, 2000 },
	  { 153, 6000 },
	  { 180, 7059 },
	  { 90, 3529 },
	  { 45, 1765 },
	  { 47, 2615 },
	  { 23, 6308 },
	  { 11, 8154 } },
	{ { 819, 2000 },
	  { 409, 6000 },
	  { 204, 8000 },
	  { 240, 9412 },
	  { 120, 4706 },
	  { 60, 2353 },
	  { 63, 154 },
	  { 31, 5077 },
	  { 15, 7538 } },
	{ { 1254, 4000 },
	  { 627, 2000 },
	  { 313, 6000 },
	  { 368, 9412 },
	  { 184, 4706 },
	  { 92, 2353 },
	  { 96, 4923 },
	  { 48, 2462 },
	  { 24, 1231 } },
	{ { 1638, 4000 },
	  { 819, 2000 },
	  { 409, 6000 },
	  { 481, 8824 },
	  { 240, 9412 },
	  { 120, 4706 },
	  { 126, 308 },
	  { 63, 154 },
	  { 31, 5077 } },
};

struct grid {
	int node, size, column; /* of the table above */
	uint64_t nodes, bytes, pset, buffer;
	struct counts counts;
};

static void for_each_configuration(const struct bluegene_rules *rules,
				   void (*see)(const struct grid *at, void *arg), void *arg)
{
	for (int i = 0; i < 297; i++) {
		struct grid at = { .node = i / 99, .size = i % 99 / 9, .column = i % 9 };

		at.nodes = grid_nodes[at.node];
		at.bytes = grid_size[at.size];
		at.pset = grid_pset[at.column / 3];
		at.buffer = grid_buffer[at.column % 3];
		at.counts = count(at.nodes, at.bytes, at.pset, at.buffer, rules);
		see(&at, arg);
	}
}

static void see_golden(const struct grid *at, void *arg)
{
	const struct counts *c = &at->counts;
	double share = (double)c->incomplete_bytes / (double)c->round_bytes;

	CHECK_INT(c->rounds, rounds[at->size][at->column].complete);
	CHECK_INT(lround(share * 1e4), rounds[at->size][at->column].share);
	CHECK_INT(c->bytes, at->nodes * 16 * at->bytes * MIB);
	++*(int *)arg;
}

static void rounds_are_those_of_the_table_on_any_number_of_nodes(void)
{
	int seen = 0;

	for_each_configuration(NULL, see_golden, &seen);
	CHECK_INT(seen, 297);
}

struct singles {
	int incomplete, alone;
	bool of_default[11];
};

static void see_single(const struct grid *at, void *arg)
{
	struct singles *singles = arg;

	singles->incomplete += at->counts.incomplete == 1;
	singles->alone += at->counts.rounds == 0;
	if (at->pset == 64 && at->buffer == 16)
		singles->of_default[at->size] = at->counts.rounds == 0;
}

static void every_access_has_an_incomplete_round_and_36_nothing_else(void)
{
	struct singles singles = { 0 };

	for_each_configuration(NULL, see_single, &singles);
	CHECK_INT(singles.incomplete, 297);
	CHECK_INT(singles.alone, 36);
	for (int i = 0; i < 11; i++)
		CHECK_INT(singles.of_default[i], i < 3);
}

static double unit_cost(void *arg, enum operation operation, const struct elemental *at)
{
	(void)arg, (void)operation, (void)at;
	return 1;
}

static void see_unit(const struct grid *at, void *arg)
{
	const struct counts *c = &at->counts;
	double expected = c->rounds ? 8 + 3 * (double)c->rounds : 9;

	CHECK(counts_price(c, unit_cost, NULL, NULL) == expected - *(double *)arg);
}

static void unit_costs_add_up_on_the_whole_grid(void)
{
	const struct bluegene_rules preprint = { .incomplete = INCOMPLETE_NONE };
	double less = 0;

	for_each_configuration(NULL, see_unit, &less);
	less = 1;
	for_each_configuration(&preprint, see_unit, &less);
}

/* The toy costs for which the paper prints times. */
static double toy_cost(void *arg, enum operation operation, const struct elemental *at)
{
	double wb = at->writers * at->bytes / (double)MIB;

	(void)arg;
	switch (operation) {
	case OPERATION_ALLREDUCE:
		return 1e-5 + 1e-9 * at->bytes;
	case OPERATION_ALLTOALL:
		return 2e-6 * at->bytes;
	case OPERATION_ALLTOALLV:
		return 1e-4 + 1e-9 * at->bytes * (at->senders / at->receivers);
	case OPERATION_WRITE_FIRST:
		return 1 + 0.01 * wb;
	case OPERATION_WRITE_FULL:
		return 0.5 + 0.005 * wb;
	case OPERATION_WRITE_PARTIAL:
		return 0.25 + 0.005 * wb;
	default:
		return NAN;
	}
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

static const struct {
	uint64_t nodes, size, pset, buffer, aggregators, rounds, incomplete_mib;
	double full, partial, ar, aa, aav, storage;
	double published, intermediate, preprint, corrected, unit;
} vectors[] = {
	{ 128, 16, 16, 16, 136, 15, 128, 1.0625, 0.0625, 0.000053, 0.000136, 0.270236, 9.615,
	  9.885424, 10.135424, 9.630424, 9.885424, 53 },
	{ 128, 1, 64, 16, 520, 0, 2048, 4.0625, 1.0, 0.000053, 0.000016, 0.017077, 1.98, 1.997146,
	  2.247146, 1.667146, 1.177146, 9 },
	{ 512, 96, 4, 8, 160, 614, 512, 0.3125, 0.125, 0.000151, 0.004928, 5.220695, 315.4425,
	  320.668274, 320.918274, 320.413274, 320.668274, 1850 },
	{ 256, 256, 64, 32, 1040, 31, 16896, 4.0625, 2.0625, 0.000086, 0.000264, 1.077142, 37.38,
	  38.457491, 38.707491, 37.877491, 38.457491, 101 },
};

#define VECTORS (sizeof(vectors) / sizeof(vectors[0]))

static double toy_price(size_t i, const struct bluegene_rules *rules)
{
	struct counts c =
		count(vectors[i].nodes, vectors[i].size, vectors[i].pset, vectors[i].buffer, rules);

	return counts_price(&c, toy_cost, NULL, NULL);
}

/* Seconds of the terms from one operation to another. */
static double toy_part(const struct counts *c, enum operation first, enum operation last)
{
	double terms[COUNTS_TERMS], sum = 0;

	counts_price(c, toy_cost, NULL, terms);
	for (size_t i = 0; i < c->count; i++)
		if (c->terms[i].operation >= first && c->terms[i].operation <= last)
			sum += terms[i];
	return sum;
}

static void check_parts(size_t i)
{
	struct counts c =
		count(vectors[i].nodes, vectors[i].size, vectors[i].pset, vectors[i].buffer, NULL);

	CHECK_INT(c.aggregators, vectors[i].aggregators);
	CHECK_INT(c.rounds, vectors[i].rounds);
	CHECK_INT(c.incomplete_bytes, vectors[i].incomplete_mib * MIB);
	CHECK(c.terms[c.count - 1].at.writers == vectors[i].partial);
	CHECK((double)c.aggregators / (double)vectors[i].nodes == vectors[i].full);
	CHECK(is_near(toy_part(&c, OPERATION_ALLREDUCE, OPERATION_ALLREDUCE), vectors[i].ar));
	CHECK(is_near(toy_part(&c, OPERATION_ALLTOALL, OPERATION_ALLTOALL), vectors[i].aa));
	CHECK(is_near(toy_part(&c, OPERATION_ALLTOALLV, OPERATION_ALLTOALLV), vectors[i].aav));
	CHECK(is_near(toy_part(&c, OPERATION_WRITE_FIRST, OPERATION_WRITE_PARTIAL),
		      vectors[i].storage));
	CHECK(counts_price(&c, unit_cost, NULL, NULL) == vectors[i].unit);
}

static void toy_costs_give_the_printed_times_in_all_variants(void)
{
	const struct bluegene_rules full = { .incomplete = INCOMPLETE_FULL };
	const struct bluegene_rules none = { .incomplete = INCOMPLETE_NONE };
	const struct bluegene_rules corrected = { .single = SINGLE_CORRECTED };

	for (size_t i = 0; i < VECTORS; i++) {
		check_parts(i);
		CHECK(is_near(toy_price(i, NULL), vectors[i].published));
		CHECK(is_near(toy_price(i, &full), vectors[i].intermediate));
		CHECK(is_near(toy_price(i, &none), vectors[i].preprint));
		CHECK(is_near(toy_price(i, &corrected), vectors[i].corrected));
	}
}

/* HYB-23: the intermediate form without locks; a single round is charged once. */
static void naive_form_prices_all_rounds_alike(void)
{
	const struct bluegene_rules naive = { .incomplete = INCOMPLETE_NAIVE };

	for (size_t i = 0; i < VECTORS; i++) {
		struct counts c = count(vectors[i].nodes, vectors[i].size, vectors[i].pset,
					vectors[i].buffer, NULL);
		const struct term *first = c.terms;
		double locks, full;

		while (first->operation != OPERATION_WRITE_FIRST)
			first++;
		locks = toy_cost(NULL, OPERATION_WRITE_FIRST, &first->at);
		full = vectors[i].rounds ? toy_cost(NULL, OPERATION_WRITE_FULL, &first->at) : 0;
		CHECK(is_near(toy_price(i, &naive), vectors[i].intermediate - locks + full));
	}
}

static void messages_per_process_change_small_accesses_only(void)
{
	const struct bluegene_rules process = { .message = MESSAGE_PROCESS };

	for (size_t i = 0; i < VECTORS; i++)
		if (i == 1) {
			struct counts c = count(128, 1, 64, 16, &process);

			CHECK(is_near(toy_part(&c, OPERATION_ALLTOALLV, OPERATION_ALLTOALLV),
				      0.004430));
			CHECK(is_near(toy_price(i, &process), 1.984499));
		} else
			CHECK(toy_price(i, &process) == toy_price(i, NULL));
}

static void see_cache(const struct grid *at, void *arg)
{
	struct machine machine = vesta();
	bool exceeds = at->counts.round_bytes > machine_cache_bytes(&machine, at->nodes);

	(void)arg;
	CHECK_INT(exceeds, at->pset == 64 && at->buffer == 32);
	if (at->nodes == 128 && exceeds)
		CHECK_INT(at->counts.round_bytes, 16640 * MIB);
}

static void largest_round_alone_exceeds_the_caches(void)
{
	for_each_configuration(NULL, see_cache, NULL);
}

static void see_exchange(const struct grid *at, void *arg)
{
	for (size_t i = 0; i < at->counts.count; i++) {
		const struct term *term = &at->counts.terms[i];

		if (term->operation != OPERATION_ALLTOALLV)
			continue;
		CHECK(term->at.senders == floor(term->at.senders));
		CHECK(term->at.receivers >= 1 &&
		      term->at.receivers <= (double)at->counts.aggregators);
		CHECK(term->at.senders <= (double)(at->nodes * 16));
		++*(int *)arg;
	}
}

static void exchanges_have_whole_senders_and_at_least_one_receiver(void)
{
	const struct bluegene_rules process = { .message = MESSAGE_PROCESS };
	struct counts c = count(128, 1, 4, 17, NULL); /* off the grid */
	int seen = 0;

	for_each_configuration(NULL, see_exchange, &seen);
	for_each_configuration(&process, see_exchange, &seen);
	CHECK(seen > 4 * 297);
	see_exchange(&(struct grid){ .nodes = 128, .counts = c }, &seen);
}

static const struct bluegene_rules domains = { .rounds = ROUNDS_DOMAINS };

/* The sum of counts of an operation, of terms with this number of writers and MiB; 0 MiB: of all
 * terms. */
static double count_rounds(const struct counts *counts, enum operation operation, double writers,
			   double mib)
{
	double sum = 0;

	for (size_t i = 0; i < counts->count; i++) {
		const struct term *t = &counts->terms[i];

		if (t->operation == operation && (!mib || (t->at.bytes == mib * (double)MIB &&
							   t->at.writers * t->at.nodes == writers)))
			sum += t->count;
	}
	return sum;
}

static const struct term *find_shuffle(const struct counts *counts, double bytes)
{
	for (size_t i = 0; i < counts->count; i++)
		if (counts->terms[i].operation == OPERATION_ALLTOALLV &&
		    counts->terms[i].at.bytes == bytes)
			return &counts->terms[i];
	return NULL;
}

/*
 * Computed by hand. (128, 16, 16, 16): 32768 MiB over 136 aggregators are 240.9 MiB each, so
 * domains have 248 MiB and there are 133 writers with 15 rounds of 16 MiB and one of 8. A round
 * moves 2128 MiB, and the caches hold 16384 MiB: 7 rounds.
 */
static void domains_are_whole_blocks_that_all_writers_fill_together(void)
{
	struct counts c = count(128, 16, 16, 16, &domains);
	const struct term *shuffle;

	CHECK_INT(c.aggregators, 136);
	CHECK_INT(c.rounds, 15);
	CHECK_INT(c.incomplete, 1);
	CHECK_INT(c.round_bytes, 2128 * MIB);
	CHECK_INT(c.incomplete_bytes, 133 * 8 * MIB);
	CHECK(count_rounds(&c, OPERATION_WRITE_FIRST, 133, 16) == 1);
	CHECK(count_rounds(&c, OPERATION_WRITE_CACHED, 133, 16) == 6);
	CHECK(count_rounds(&c, OPERATION_WRITE_FULL, 133, 16) == 8);
	CHECK(count_rounds(&c, OPERATION_WRITE_FULL, 133, 8) == 1);
	CHECK(count_rounds(&c, OPERATION_WRITE_PARTIAL, 0, 0) == 0);
	CHECK(count_rounds(&c, OPERATION_WRITE_FIRST, 0, 0) == 1);
	CHECK(count_rounds(&c, OPERATION_ALLTOALL, 0, 0) == 17);
	shuffle = find_shuffle(&c, 16 * (double)MIB);
	REQUIRE(shuffle);
	CHECK(shuffle->count == 15 && shuffle->at.senders == 133 && shuffle->at.receivers == 133);
	shuffle = find_shuffle(&c, 8 * (double)MIB);
	REQUIRE(shuffle);
	CHECK(shuffle->count == 1 && shuffle->at.senders == 133 && shuffle->at.receivers == 133);
	/* A message is at most what one process holds: 2048 of 1 MiB to 256 writers of 8 MiB. */
	c = count(128, 1, 64, 16, &domains);
	CHECK_INT(c.rounds, 0);
	CHECK(count_rounds(&c, OPERATION_WRITE_FIRST, 256, 8) == 1);
	shuffle = find_shuffle(&c, (double)MIB);
	REQUIRE(shuffle);
	CHECK(shuffle->count == 1 && shuffle->at.senders == 2048 && shuffle->at.receivers == 256);
	for (int o = OPERATION_WRITE_FULL; o <= OPERATION_WRITE_PARTIAL; o++)
		CHECK(count_rounds(&c, (enum operation)o, 0, 0) == 0);
	CHECK(count_rounds(&c, OPERATION_WRITE_CACHED, 0, 0) == 0);
	/* 4096 ranks of 196 MiB over 80: 10035.2 MiB, 1255 blocks; 313 rounds of 32 MiB, one of 24.
	 */
	c = count(256, 196, 4, 32, &domains);
	CHECK_INT(c.rounds, 313);
	CHECK(count_rounds(&c, OPERATION_WRITE_FIRST, 80, 32) == 1);
	CHECK(count_rounds(&c, OPERATION_WRITE_CACHED, 80, 32) == 11);
	CHECK(count_rounds(&c, OPERATION_WRITE_FULL, 80, 32) == 301);
	CHECK(count_rounds(&c, OPERATION_WRITE_FULL, 80, 24) == 1);
}

/* If only the last round exceeds the caches, all earlier rounds stay cached. */
static void caches_hold_rounds_up_to_their_last_byte(void)
{
	struct machine machine = vesta();
	struct access access = make_access(128, 8); /* 16384 MiB: exactly the size of all caches */
	struct settings settings = make_settings(4, 8);
	struct counts fits, over;

	bluegene_attach(&machine, &domains);
	/* 40 writers, domains of 416 MiB: 52 rounds, 16640 MiB; 51 rounds of 320 MiB fit into
	 * 16384. */
	REQUIRE(counts_compute(&over, &machine, &access, &settings, NULL) == 0);
	CHECK(count_rounds(&over, OPERATION_WRITE_CACHED, 40, 8) == 50);
	CHECK(count_rounds(&over, OPERATION_WRITE_FULL, 40, 8) == 1);
	machine.cache_bytes = 16640 / 4 * MIB;
	REQUIRE(counts_compute(&fits, &machine, &access, &settings, NULL) == 0);
	CHECK(count_rounds(&fits, OPERATION_WRITE_CACHED, 40, 8) == 51);
	CHECK(count_rounds(&fits, OPERATION_WRITE_FULL, 0, 0) == 0);
	machine.cache_bytes--;
	REQUIRE(counts_compute(&fits, &machine, &access, &settings, NULL) == 0);
	CHECK(count_rounds(&fits, OPERATION_WRITE_CACHED, 40, 8) == 50);
	machine.cache_bytes = 0;
	REQUIRE(counts_compute(&over, &machine, &access, &settings, NULL) == 0);
	CHECK(count_rounds(&over, OPERATION_WRITE_CACHED, 0, 0) == 0);
	CHECK(count_rounds(&over, OPERATION_WRITE_FULL, 40, 8) == 51);
}

static void see_domains(const struct grid *at, void *arg)
{
	double bytes = 0, times = 0;

	(void)arg;
	for (size_t i = 0; i < at->counts.count; i++) {
		const struct term *t = &at->counts.terms[i];

		if (operations[t->operation].kind != OPERATION_STORAGE)
			continue;
		times += t->count;
		bytes += t->count * t->at.writers * t->at.nodes * t->at.bytes;
		CHECK(t->at.writers * t->at.nodes <= (double)at->counts.aggregators);
	}
	CHECK(times == (double)(at->counts.rounds + at->counts.incomplete));
	/* Domains are rounded up to whole blocks, and the last writer has less. */
	CHECK(bytes >= (double)at->counts.bytes);
	CHECK(bytes <
	      (double)at->counts.bytes + 2 * 8 * (double)MIB * (double)at->counts.aggregators);
}

static void domains_hold_all_bytes_of_the_grid(void)
{
	for_each_configuration(&domains, see_domains, NULL);
}

/* The product has no Blue Gene form: it refuses the machine and names the command that has. */
static void the_product_refers_blue_gene_to_the_lab(void)
{
	struct access access = make_access(128, 1);
	struct settings settings = { 0 };
	struct machine machine = vesta();
	struct counts counts;
	struct err err = { 0 };

	machine.form = NULL;
	CHECK_INT(counts_compute(&counts, &machine, &access, &settings, &err), -ENOTSUP);
	CHECK(strstr(err.text, "sluice lab"));
	bluegene_attach(&machine, NULL);
	CHECK_INT(counts_compute(&counts, &machine, &access, &settings, NULL), 0);
}

static void reads_are_refused(void)
{
	struct machine machine = vesta();
	struct access access = make_access(128, 1);
	struct settings settings = { 0 };
	struct counts counts = { .rounds = 77 };
	struct err err = { 0 };

	access.is_read = true;
	CHECK_INT(counts_compute(&counts, &machine, &access, &settings, &err), -ENOTSUP);
	CHECK(*err.text);
	CHECK_INT(counts.rounds, 77);
}

TESTS(TEST(aggregators_are_those_of_the_paper),
      TEST(rounds_are_those_of_the_table_on_any_number_of_nodes),
      TEST(every_access_has_an_incomplete_round_and_36_nothing_else),
      TEST(unit_costs_add_up_on_the_whole_grid),
      TEST(toy_costs_give_the_printed_times_in_all_variants),
      TEST(naive_form_prices_all_rounds_alike),
      TEST(messages_per_process_change_small_accesses_only),
      TEST(largest_round_alone_exceeds_the_caches),
      TEST(exchanges_have_whole_senders_and_at_least_one_receiver),
      TEST(domains_are_whole_blocks_that_all_writers_fill_together),
      TEST(caches_hold_rounds_up_to_their_last_byte), TEST(domains_hold_all_bytes_of_the_grid),
      TEST(reads_are_refused), TEST(the_product_refers_blue_gene_to_the_lab))
