/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The paper's own form: MPICH 3.1 on Blue Gene/Q, contiguous writes (HYB-14 to HYB-28). The names
 * of its symbols stand in comments.
 */
#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "predict/model/counts_parts.h"

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
			  struct elemental at, double bytes)
{
	double ranks = at.nodes * at.cores;

	at.senders = at_most(ceil(bytes / at.bytes), ranks);
	at.receivers = at_most(at.senders, (double)counts->aggregators);
	counts_add(counts, OPERATION_ALLTOALLV, what, times, &at);
}

static void count_communication(struct counts *counts, const struct access *access, double message)
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
	at.bytes = message;
	count_shuffle(counts, "shuffle of a full round", (double)counts->rounds, at,
		      (double)counts->round_bytes);
	count_shuffle(counts, "shuffle of the incomplete round", (double)counts->incomplete, at,
		      (double)counts->incomplete_bytes);
}

/* A single round: a domain of whole blocks per aggregator, as far as there are bytes. */
static struct elemental domains_of(const struct counts *counts, const struct machine *machine,
				   struct elemental at)
{
	double bytes = (double)counts->bytes, block = (double)machine->block_bytes;
	double domain = ceil(bytes / (double)counts->aggregators / block) * block;

	at.bytes = at_most(domain, at.bytes);
	at.writers = ceil(bytes / at.bytes) / at.nodes;
	return at;
}

static void count_storage(struct counts *counts, const struct machine *machine,
			  const struct access *access, const struct rules *rules, uint64_t buffer)
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
	if (rules->single == SINGLE_DOMAINS && !counts->rounds) {
		part = domains_of(counts, machine, full);
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

int counts_bluegene(struct counts *counts, const struct machine *machine,
		    const struct access *access, const struct settings *settings,
		    const struct rules *rules, struct err *err)
{
	uint64_t buffer = settings->buffer_bytes ? settings->buffer_bytes : machine->buffer_bytes;
	uint64_t message = rules->message == MESSAGE_PROCESS ? access->rank_bytes
							     : access->ranks * access->rank_bytes;

	if (access->is_read || access->pattern != ACCESS_CONTIGUOUS)
		return err_set(err, ENOTSUP,
			       "the Blue Gene form is that of the paper: contiguous writes only");
	counts->aggregators = counts_aggregators(machine, access, settings);
	count_rounds(counts, access, buffer);
	count_communication(counts, access, at_most((double)message, (double)buffer));
	count_storage(counts, machine, access, rules, buffer);
	return 0;
}
