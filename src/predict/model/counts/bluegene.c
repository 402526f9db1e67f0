/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The paper's own form: MPICH 3.1 on Blue Gene/Q, contiguous writes (HYB-14 to HYB-28). The names
 * of its symbols stand in comments.
 */
#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "predict/model/counts/counts_internal.h"

static double at_most(double a, double b)
{
	return a < b ? a : b;
}

static void count_rounds(struct counts *counts, const struct access *access, uint64_t buffer)
{
	counts->bytes = access->ranks * access->rank_bytes;
	counts->round_bytes = counts->aggregators * buffer;
	counts->rounds = counts->bytes / counts->round_bytes;
	counts->incomplete_bytes = counts->bytes % counts->round_bytes;
	counts->incomplete = counts->incomplete_bytes > 0;
}

/* One round of the shuffle that moves so many bytes (HYB-20, HYB-22). */
static void count_shuffle(struct counts *counts, const char *what, double times,
			  struct elemental at, double bytes, double receivers)
{
	double ranks = at.nodes * at.cores;

	at.senders = at_most(ceil(bytes / at.bytes), ranks);
	at.receivers = at_most(at.senders, receivers);
	counts_add(counts, OPERATION_ALLTOALLV, what, times, &at);
}

/* What ranks tell one another before anything is written, and ahead of each round. */
static void count_talk(struct counts *counts, const struct access *access)
{
	double ranks = (double)access->ranks, steps = (double)(counts->rounds + counts->incomplete);
	struct elemental at = { .nodes = (double)access->nodes };

	at.cores = ranks / at.nodes;
	at.bytes = 2 * ranks * 8;
	counts_add(counts, OPERATION_ALLREDUCE, "offsets of all ranks", 1, &at);
	at.bytes = 4;
	counts_add(counts, OPERATION_ALLREDUCE, "size of the transfer", 1, &at);
	counts_add(counts, OPERATION_ALLTOALL, "sizes of messages", 1 + steps, &at);
	at.senders = ranks;
	at.receivers = (double)counts->aggregators;
	counts_add(counts, OPERATION_ALLTOALLV, "lengths to aggregators", 1, &at);
	at.bytes = 8;
	counts_add(counts, OPERATION_ALLTOALLV, "offsets to aggregators", 1, &at);
}

/* ---- as published ---- */

static void count_shuffles(struct counts *counts, const struct access *access, double message)
{
	struct elemental at = { .nodes = (double)access->nodes, .bytes = message };

	at.cores = (double)access->ranks / at.nodes;
	count_shuffle(counts, "shuffle of a full round", (double)counts->rounds, at,
		      (double)counts->round_bytes, (double)counts->aggregators);
	count_shuffle(counts, "shuffle of the incomplete round", (double)counts->incomplete, at,
		      (double)counts->incomplete_bytes, (double)counts->aggregators);
}

static void count_storage(struct counts *counts, const struct access *access,
			  const struct rules *rules, uint64_t buffer)
{
	double rounds = (double)counts->rounds;
	struct elemental full = { .nodes = (double)access->nodes, .bytes = (double)buffer };
	struct elemental part;

	full.cores = (double)access->ranks / full.nodes;
	full.writers = (double)counts->aggregators / full.nodes;
	part = full;
	part.writers *= (double)counts->incomplete_bytes / (double)counts->round_bytes;
	if (rules->single == SINGLE_CORRECTED && !counts->rounds) {
		counts_add(counts, OPERATION_WRITE_FIRST, "the only round", 1, &part);
		return;
	}
	counts_add(counts, OPERATION_WRITE_FIRST, "first round", 1, &full);
	counts_add(counts, OPERATION_WRITE_FULL, "full rounds", rounds - 1, &full);
	if (rules->incomplete != INCOMPLETE_NONE)
		counts_add(counts,
			   rules->incomplete == INCOMPLETE_FULL ? OPERATION_WRITE_FULL
								: OPERATION_WRITE_PARTIAL,
			   "incomplete round", (double)counts->incomplete, &part);
}

static void count_published(struct counts *counts, const struct access *access,
			    const struct rules *rules, uint64_t buffer)
{
	uint64_t message = rules->message == MESSAGE_PROCESS ? access->rank_bytes
							     : access->ranks * access->rank_bytes;

	count_rounds(counts, access, buffer);
	count_talk(counts, access);
	count_shuffles(counts, access, at_most((double)message, (double)buffer));
	count_storage(counts, access, rules, buffer);
}

/* ---- as ROMIO does it ---- */

static uint64_t ratio_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b > 0);
}

/* Rounds of a kind, one after the other, in which all writers move so many bytes each. */
struct leg {
	uint64_t rounds, bytes;
	const char *shuffle;
};

/*
 * The first of all is a first one; then come those that caches hold together with all that was
 * written before; then the rest. The rest are full rounds even where not every aggregator writes:
 * these were benchmarked far beyond the caches, partial ones over twice of what caches hold, half
 * of which these took; and there are no fewer than four fifths of all where accesses exceed caches.
 */
static void count_leg(struct counts *counts, const struct leg *leg, struct elemental at,
		      uint64_t writers, uint64_t before, uint64_t cache)
{
	bool is_first = !before && leg->rounds;
	uint64_t round = writers * leg->bytes, held = 0;
	uint64_t rounds = leg->rounds - is_first;

	before += is_first ? round : 0;
	if (rounds && cache > before)
		held = (cache - before) / round;
	held = held < rounds ? held : rounds;
	at.writers = (double)writers / at.nodes;
	at.bytes = (double)leg->bytes;
	counts_add(counts, OPERATION_WRITE_FIRST,
		   counts->rounds + counts->incomplete > 1 ? "first round" : "the only round",
		   is_first, &at);
	counts_add(counts, OPERATION_WRITE_CACHED, "rounds that caches hold", (double)held, &at);
	counts_add(counts, OPERATION_WRITE_FULL, "rounds beyond caches", (double)(rounds - held),
		   &at);
}

static void count_domains(struct counts *counts, const struct machine *machine,
			  const struct access *access, uint64_t buffer)
{
	uint64_t total = access->ranks * access->rank_bytes;
	uint64_t block = machine->block_bytes ? machine->block_bytes : 1;
	uint64_t domain = ratio_up(ratio_up(total, counts->aggregators), block) * block;
	uint64_t writers = ratio_up(total, domain);
	uint64_t cache = machine_cache_bytes(machine, access->nodes);
	const struct leg legs[] = { { domain / buffer, buffer, "shuffle of a full round" },
				    { domain % buffer > 0, domain % buffer,
				      "shuffle of the last round" } };
	struct elemental at = { .nodes = (double)access->nodes };

	at.cores = (double)access->ranks / at.nodes;
	counts->bytes = total;
	counts->round_bytes = writers * buffer;
	counts->rounds = legs[0].rounds;
	counts->incomplete = legs[1].rounds;
	counts->incomplete_bytes = writers * legs[1].bytes;
	count_talk(counts, access);
	for (size_t i = 0; i < 2; i++) {
		if (!legs[i].rounds)
			continue;
		at.bytes = at_most((double)legs[i].bytes, (double)access->rank_bytes);
		count_shuffle(counts, legs[i].shuffle, (double)legs[i].rounds, at,
			      (double)(writers * legs[i].bytes), (double)writers);
	}
	at.bytes = 0;
	for (size_t i = 0; i < 2; i++)
		count_leg(counts, &legs[i], at, writers,
			  i ? legs[0].rounds * counts->round_bytes : 0, cache);
}

int counts_bluegene(struct counts *counts, const struct machine *machine,
		    const struct access *access, const struct settings *settings,
		    const struct rules *rules, struct err *err)
{
	uint64_t buffer = settings->buffer_bytes ? settings->buffer_bytes : machine->buffer_bytes;

	if (access->is_read || access->pattern != ACCESS_CONTIGUOUS)
		return err_set(err, ENOTSUP,
			       "the Blue Gene form is that of the paper: contiguous writes only");
	counts->aggregators = counts_aggregators(machine, access, settings);
	if (rules->rounds == ROUNDS_DOMAINS)
		count_domains(counts, machine, access, buffer);
	else
		count_published(counts, access, rules, buffer);
	return 0;
}
