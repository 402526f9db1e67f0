/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of the generic code, the Lustre and the GPFS driver: collectives as observed in traces,
 * and all terms compared with the exact calls of ranks.
 */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "check.h"
#include "predict/model/counts/counts.h"
#include "predict/model/counts/layout.h"

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)

static const struct machine generic = {
	.romio = ROMIO_GENERIC, .cores = 4, .node_aggregators = 1, .buffer_bytes = 16 * MIB
};
static const struct machine lustre = { .romio = ROMIO_LUSTRE,
				       .cores = 4,
				       .node_aggregators = 1,
				       .buffer_bytes = 16 * MIB,
				       .stripes = 4,
				       .stripe_bytes = MIB };
static const struct machine gpfs = { .romio = ROMIO_GPFS,
				     .cores = 4,
				     .node_aggregators = 1,
				     .buffer_bytes = 16 * MIB,
				     .block_bytes = 4 * MIB };

static struct counts count(const struct machine *machine, struct access access,
			   struct settings settings)
{
	struct counts counts = { 0 };
	struct err err = { 0 };

	CHECK_INT(counts_compute(&counts, machine, &access, &settings, &err), 0);
	CHECK_TEXT(err.text, "");
	return counts;
}

static double times(const struct counts *c, enum operation operation)
{
	double sum = 0;

	for (size_t i = 0; i < c->count; i++)
		sum += c->terms[i].operation == operation ? c->terms[i].count : 0;
	return sum;
}

/* Total bytes of storage operations in one direction. Sieved windows are read and written. */
static double moved(const struct counts *c, bool is_read)
{
	double sum = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct term *t = &c->terms[i];

		bool is_storage = operations[t->operation].kind == OPERATION_STORAGE &&
				  operations[t->operation].is_read == is_read;
		bool is_sieve = t->operation == OPERATION_SIEVE && strncmp(t->what, "wait", 4) != 0;

		if (is_storage || is_sieve)
			sum += t->count * t->at.writers * t->at.nodes * t->at.bytes;
	}
	return sum;
}

/* Messages of all rounds and their bytes, without lists of offsets. */
static double messages(const struct counts *c, double *bytes)
{
	double sum = 0;

	*bytes = 0;
	for (size_t i = 0; i < c->count; i++) {
		const struct term *t = &c->terms[i];

		if (t->operation != OPERATION_ALLTOALLV || strncmp(t->what, "offsets", 7) == 0)
			continue;
		sum += t->count * t->at.senders;
		*bytes += t->count * t->at.senders * t->at.bytes;
	}
	return sum;
}

/* The table of docs/reference/model.md: P ranks, A aggregators, r rounds. */
static void generic_collectives_match_the_traces(void)
{
	for (uint64_t ranks = 1; ranks <= 8; ranks++)
		for (uint64_t a = 1; a <= ranks; a++)
			for (uint64_t rounds = 1; rounds <= 5; rounds++) {
				struct access access = { .nodes = 1, .ranks = ranks };
				struct settings s = { .aggregators = a,
						      .buffer_bytes = 64 * KIB,
						      .buffering = BUFFERING_ENABLED };
				struct counts w, r;

				/* Every aggregator gets whole buffers. */
				access.rank_bytes = a * rounds * 64 * KIB;
				s.buffer_bytes = 64 * KIB * ranks;
				w = count(&generic, access, s);
				access.is_read = true;
				r = count(&generic, access, s);
				CHECK_INT(w.rounds, rounds);
				CHECK_INT(w.incomplete, 0);
				CHECK(times(&w, OPERATION_ALLGATHER) == 2);
				CHECK(times(&r, OPERATION_ALLGATHER) == 2);
				CHECK(times(&w, OPERATION_ALLTOALL) == 1 + (double)rounds);
				CHECK(times(&r, OPERATION_ALLTOALL) == 1 + (double)rounds);
				CHECK(times(&w, OPERATION_ALLREDUCE) == 1 + (a > 1));
				CHECK(times(&r, OPERATION_ALLREDUCE) == 1);
				CHECK(times(&w, OPERATION_BROADCAST) == (a == 1));
				CHECK(times(&r, OPERATION_BROADCAST) == 0);
				CHECK(times(&w, OPERATION_WRITE_FIRST) == 1);
				CHECK(times(&w, OPERATION_WRITE_FULL) == (double)rounds - 1);
				CHECK(times(&r, OPERATION_READ_FIRST) == 1);
				CHECK(times(&r, OPERATION_READ_FULL) == (double)rounds - 1);
				CHECK(moved(&w, false) == (double)w.bytes);
				CHECK(moved(&w, true) == 0);
			}
}

static void contiguous_access_is_buffered_only_on_request(void)
{
	struct access access = { .nodes = 1, .ranks = 4, .rank_bytes = MIB };
	struct settings s = { 0 };
	struct counts c = count(&generic, access, s);

	CHECK_INT(c.count, 2);
	CHECK(times(&c, OPERATION_ALLGATHER) == 2);
	CHECK(times(&c, OPERATION_WRITE_FIRST) == 1 && moved(&c, false) == 4 * (double)MIB);
	c = count(&gpfs, access, s);
	CHECK(times(&c, OPERATION_ALLREDUCE) == 1 && times(&c, OPERATION_ALLTOALL) == 0);
	c = count(&lustre, access, s);
	CHECK(times(&c, OPERATION_ALLTOALL) == 1);
	CHECK(times(&c, OPERATION_ALLREDUCE) == 1 + 2 + 2 && times(&c, OPERATION_BROADCAST) == 1);
	s.buffering = BUFFERING_DISABLED;
	c = count(&generic, access, s);
	CHECK_INT(c.count, 1);
	c = count(&lustre, access, s);
	CHECK_INT(c.count, 1);
}

static void strided_access_is_buffered_automatically(void)
{
	struct access access = { .pattern = ACCESS_STRIDED,
				 .nodes = 1,
				 .ranks = 4,
				 .rank_bytes = MIB,
				 .block_bytes = 4 * KIB,
				 .stride_bytes = 4 * KIB };
	struct settings s = { .aggregators = 2 };
	struct counts c = count(&generic, access, s);
	double bytes;

	CHECK(times(&c, OPERATION_ALLTOALL) == 2);
	CHECK(moved(&c, false) == 4 * (double)MIB && moved(&c, true) == 0);
	/* Every rank has data for both aggregators. */
	CHECK(messages(&c, &bytes) == 8 && bytes == 4 * (double)MIB);
	/* Holes are read and written, too. */
	access.stride_bytes = 8 * KIB;
	c = count(&generic, access, s);
	CHECK(moved(&c, false) == moved(&c, true));
	CHECK(fabs(moved(&c, false) - 8 * (double)MIB) < 8 * (double)KIB);
	messages(&c, &bytes);
	CHECK(fabs(bytes - 4 * (double)MIB) < 4 * (double)KIB);
	/* Without buffering, a rank sieves in windows of 512 KiB. */
	s.buffering = BUFFERING_DISABLED;
	c = count(&generic, access, s);
	CHECK_INT(c.transfer, TRANSFER_SIEVED);
	/* 16 windows, and one for each of the three ranks before it. */
	CHECK(times(&c, OPERATION_SIEVE) == 16 + 3);
	CHECK(times(&c, OPERATION_PIECE_COPY) == 256 * 19.0 / 16);
	CHECK(moved(&c, false) == 4 * 8 * (double)MIB);
}

static void pieces_are_counted_for_every_kind_of_transfer(void)
{
	struct access access = { .pattern = ACCESS_STRIDED,
				 .nodes = 1,
				 .ranks = 4,
				 .rank_bytes = MIB,
				 .block_bytes = KIB,
				 .stride_bytes = KIB };
	struct settings s = { .aggregators = 2 };
	struct counts c = count(&generic, access, s);

	/* Every rank has 1024 pieces, and each of two aggregators gets half of all. */
	CHECK_INT(c.transfer, TRANSFER_COLLECTIVE);
	CHECK(times(&c, OPERATION_PIECE_EXCHANGE) == 1024 + 2048);
	s.buffering = BUFFERING_DISABLED;
	s.sieve_bytes = 64 * KIB;
	c = count(&generic, access, s);
	CHECK(times(&c, OPERATION_SIEVE) == 64 + 3);
	access.is_read = true;
	c = count(&generic, access, s);
	CHECK_INT(c.transfer, TRANSFER_SIEVED);
	CHECK(times(&c, OPERATION_READ_FIRST) + times(&c, OPERATION_READ_FULL) == 64);
	CHECK(times(&c, OPERATION_PIECE_COPY) == 1024);
	s.sieving = BUFFERING_DISABLED;
	c = count(&generic, access, s);
	CHECK_INT(c.transfer, TRANSFER_PIECES);
	CHECK(c.count == 1 && times(&c, OPERATION_PIECE_READ) == 1024);
	access.is_read = false;
	c = count(&lustre, access, s);
	CHECK(c.count == 1 && times(&c, OPERATION_PIECE_WRITE) == 1024);
	CHECK(c.terms[0].at.writers == 4 && c.terms[0].at.bytes == (double)KIB);
	/* A single rank without gaps has one contiguous piece. */
	access.ranks = 1;
	c = count(&generic, access, s);
	CHECK_INT(c.transfer, TRANSFER_CONTIGUOUS);
	CHECK(c.count == 1 && times(&c, OPERATION_WRITE_FIRST) == 1);
}

static void lustre_rounds_depend_on_stripes_not_on_the_buffer(void)
{
	static const struct {
		uint64_t hinted, stripes, aggregators;
	} cases[] = { { 42, 20, 20 }, { 8, 60, 6 }, { 4, 4, 4 }, { 3, 4, 2 },
		      { 1, 7, 1 },    { 6, 7, 1 },  { 7, 7, 7 }, { 5, 12, 4 } };
	struct access access = { .nodes = 64, .ranks = 64, .rank_bytes = MIB };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct settings s = { .aggregators = cases[i].hinted, .stripes = cases[i].stripes };
		struct counts c = count(&lustre, access, s), other;
		double rounds = ceil(64.0 / (double)cases[i].aggregators);

		CHECK_INT(c.aggregators, cases[i].aggregators);
		CHECK_INT(c.rounds + c.incomplete, (long)rounds);
		CHECK(moved(&c, false) == 64 * (double)MIB);
		CHECK(times(&c, OPERATION_ALLTOALL) == 1);
		s.buffer_bytes = 64 * MIB;
		other = count(&lustre, access, s);
		CHECK_INT(other.rounds, c.rounds);
	}
}

static void lustre_reads_are_generic_with_parts_of_whole_stripes(void)
{
	struct access access = { .is_read = true, .nodes = 4, .ranks = 16, .rank_bytes = 3 * MIB };
	struct settings s = { .buffering = BUFFERING_ENABLED, .buffer_bytes = 4 * MIB };
	struct counts c = count(&lustre, access, s);

	CHECK(times(&c, OPERATION_ALLGATHER) == 2);
	CHECK(times(&c, OPERATION_ALLTOALL) == 1 + 3);
	CHECK(moved(&c, true) == 48 * (double)MIB);
}

static void gpfs_rounds_are_alltoallv_of_whole_blocks(void)
{
	/* 17 blocks for 3 aggregators: 6, 6 and 5. */
	struct access access = { .nodes = 17, .ranks = 17, .rank_bytes = 4 * MIB };
	struct settings s = { .aggregators = 3,
			      .buffer_bytes = 4 * MIB,
			      .buffering = BUFFERING_ENABLED };
	struct counts c = count(&gpfs, access, s);
	struct rank_calls calls;
	double bytes;

	CHECK_INT(c.rounds, 5);
	CHECK_INT(c.incomplete, 1);
	CHECK_INT(c.incomplete_bytes, 8 * MIB);
	CHECK(times(&c, OPERATION_ALLTOALL) == 7);
	CHECK(times(&c, OPERATION_ALLTOALLV) == 7);
	CHECK(times(&c, OPERATION_ALLREDUCE) == 2 && times(&c, OPERATION_ALLGATHER) == 0);
	CHECK(messages(&c, &bytes) == 17 && bytes == 68 * (double)MIB);
	CHECK_INT(rank_calls_count(&calls, &gpfs, &access, &s, 0, NULL), 0);
	CHECK_INT(calls.alltoallvs, 7);
	CHECK_INT(calls.sends, 0);
	CHECK_INT(calls.written_bytes, 24 * MIB);
}

/* 4 ranks of 3 MiB in parts of 6 MiB: after one 4 MiB buffer, 2 MiB remain for each aggregator. */
static void a_short_last_round_of_all_aggregators_is_a_full_one(void)
{
	struct access access = { .nodes = 1, .ranks = 4, .rank_bytes = 3 * MIB };
	struct settings settings = { .aggregators = 2,
				     .buffer_bytes = 4 * MIB,
				     .buffering = BUFFERING_ENABLED };
	struct machine two = generic;
	struct counts c;

	two.node_aggregators = 4;
	c = count(&two, access, settings);
	CHECK_INT(c.aggregators, 2);
	CHECK_INT(c.incomplete, 1);
	CHECK(times(&c, OPERATION_WRITE_FULL) == 1);
	CHECK(times(&c, OPERATION_WRITE_PARTIAL) == 0);
	CHECK(moved(&c, false) == 12.0 * MIB);
}

static uint64_t draw_state = 11;

static uint64_t draw(uint64_t below)
{
	draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
	return (draw_state >> 33) % below;
}

static struct access draw_access(void)
{
	struct access a = { .is_read = draw(2), .nodes = 1 + draw(2) };

	a.ranks = a.nodes * (1 + draw(4));
	a.rank_bytes = 1 + draw(100000);
	if (draw(2))
		return a;
	a.pattern = ACCESS_STRIDED;
	a.block_bytes = 1 + draw(3000);
	a.rank_bytes = a.block_bytes * (1 + draw(30));
	a.stride_bytes = a.block_bytes + draw(2) * draw(2000);
	return a;
}

static void check_collectives(const struct counts *c, const struct rank_calls *calls, bool is_gpfs)
{
	CHECK(times(c, OPERATION_ALLREDUCE) == (double)calls->allreduces);
	CHECK(times(c, OPERATION_ALLTOALL) == (double)calls->alltoalls);
	CHECK(times(c, OPERATION_ALLGATHER) == (double)calls->allgathers);
	CHECK(times(c, OPERATION_BROADCAST) == (double)calls->broadcasts);
	CHECK(is_gpfs || calls->alltoallvs == 0);
}

/* Draws random ordinary accesses. */
static void collectives_equal_the_calls_of_ranks(void)
{
	const struct machine *const machines[] = { &generic, &lustre, &gpfs };

	for (int i = 0; i < 3000 && !check_failures; i++) {
		struct machine machine = *machines[i % 3];
		struct access access = draw_access();
		struct settings s = { .aggregators = draw(9),
				      .buffer_bytes = 1 + draw(60000),
				      .buffering = (enum buffering)draw(3),
				      .sieving = (enum buffering)draw(3) };
		struct rank_calls calls;
		struct counts c;

		machine.block_bytes = 1 + draw(20000);
		machine.stripe_bytes = machine.stripe_bytes ? 1 + draw(20000) : 0;
		c = count(&machine, access, s);
		CHECK_INT(rank_calls_count(&calls, &machine, &access, &s, 0, NULL), 0);
		check_collectives(&c, &calls, machine.romio == ROMIO_GPFS);
		CHECK(c.count < COUNTS_TERMS);
	}
}

/* The exact bytes of all ranks, and the messages of all rounds. */
static void exact_sums(const struct machine *machine, const struct access *access,
		       const struct settings *s, double *written, double *read, double *sent)
{
	struct layout layout;

	layout_compute(&layout, machine, access, s);
	*written = *read = *sent = 0;
	for (uint64_t rank = 0; rank < access->ranks; rank++) {
		struct rank_calls calls;

		REQUIRE(rank_calls_count(&calls, machine, access, s, rank, NULL) == 0);
		*written += (double)calls.written_bytes;
		*read += (double)calls.read_bytes;
		*sent += (double)calls.sends;
		for (uint64_t i = 0; i < layout.aggregators; i++)
			*sent -= layout_messages(&layout, rank, i) > 0;
	}
}

/* Means over rounds are close to the sums over all ranks, for arbitrary numbers. */
static void storage_and_messages_are_close_to_the_calls_of_ranks(void)
{
	const struct machine *const machines[] = { &generic, &lustre };

	for (int i = 0; i < 300 && !check_failures; i++) {
		const struct machine *machine = machines[i % 2];
		struct access access = { .nodes = 2, .ranks = 8, .is_read = i % 3 == 0 };
		struct settings s = { .aggregators = 1 + draw(8),
				      .buffer_bytes = 50000 + draw(100000),
				      .stripe_bytes = 70000 + draw(50000),
				      .buffering = BUFFERING_ENABLED };
		double written, read, sent, counted, bytes;
		struct counts c;

		access.rank_bytes = 2000000 + draw(1000000);
		if (i % 5 == 0) {
			access.pattern = ACCESS_STRIDED;
			access.block_bytes = 1000 + draw(500);
			access.rank_bytes = access.block_bytes * 2000;
			access.stride_bytes = access.block_bytes + draw(2) * draw(1000);
		}
		c = count(machine, access, s);
		exact_sums(machine, &access, &s, &written, &read, &sent);
		counted = messages(&c, &bytes);
		CHECK(fabs(moved(&c, false) - written) <= 0.04 * written);
		CHECK(fabs(moved(&c, true) - read) <= 0.04 * read);
		CHECK(fabs(counted - sent) <= 0.12 * sent);
		CHECK(fabs(bytes - (double)c.bytes) <= 0.04 * (double)c.bytes);
		if (check_failures)
			printf("case %d: %g %g, %g %g, %g %g, %g %lu\n", i, moved(&c, false),
			       written, moved(&c, true), read, counted, sent, bytes, c.bytes);
	}
}

static void invalid_accesses_and_ranks_are_refused(void)
{
	struct access good = { .nodes = 2, .ranks = 4, .rank_bytes = 8 }, access = good;
	struct settings s = { 0 };
	struct counts c = { .rounds = 77 };
	struct rank_calls calls;
	struct err err = { 0 };

	access.nodes = 3;
	CHECK(counts_compute(&c, &generic, &access, &s, &err) < 0);
	CHECK(strstr(err.text, "3 nodes"));
	CHECK_INT(c.rounds, 77);
	CHECK(rank_calls_count(&calls, &generic, &good, &s, 4, &err) < 0);
	CHECK(strstr(err.text, "rank 4"));
}

/* Two aggregators; rank 1 of three has data for both. */
static void older_code_sends_offsets_and_lengths_separately(void)
{
	struct access access = { .nodes = 1, .ranks = 3, .rank_bytes = 10 * KIB };
	struct settings settings = { .aggregators = 2,
				     .buffer_bytes = 64 * KIB,
				     .buffering = BUFFERING_ENABLED };
	struct machine one = generic, two = generic;
	struct rank_calls now, then;
	struct counts new, old;

	one.node_aggregators = two.node_aggregators = 0;
	two.list_messages = 2;
	CHECK_INT(rank_calls_count(&now, &one, &access, &settings, 1, NULL), 0);
	CHECK_INT(rank_calls_count(&then, &two, &access, &settings, 1, NULL), 0);
	CHECK_INT(now.sends, 2 + 2);
	CHECK_INT(then.sends, 4 + 2);
	CHECK_INT(now.receives, 2 + 2);
	CHECK_INT(then.receives, 4 + 2);
	CHECK_INT(then.alltoalls, now.alltoalls);
	CHECK_INT(then.written_bytes, now.written_bytes);
	new = count(&one, access, settings);
	old = count(&two, access, settings);
	CHECK(times(&old, OPERATION_ALLTOALLV) == times(&new, OPERATION_ALLTOALLV) + 1);
}

TESTS(TEST(generic_collectives_match_the_traces),
      TEST(contiguous_access_is_buffered_only_on_request),
      TEST(strided_access_is_buffered_automatically),
      TEST(pieces_are_counted_for_every_kind_of_transfer),
      TEST(lustre_rounds_depend_on_stripes_not_on_the_buffer),
      TEST(lustre_reads_are_generic_with_parts_of_whole_stripes),
      TEST(gpfs_rounds_are_alltoallv_of_whole_blocks), TEST(collectives_equal_the_calls_of_ranks),
      TEST(a_short_last_round_of_all_aggregators_is_a_full_one),
      TEST(storage_and_messages_are_close_to_the_calls_of_ranks),
      TEST(older_code_sends_offsets_and_lengths_separately),
      TEST(invalid_accesses_and_ranks_are_refused))
