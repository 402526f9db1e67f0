/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: HYB-9, HYB-13 to HYB-23, HYB-25 to HYB-28.
 */
#include "lab/model/bluegene.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "predict/model/counts/counts_internal.h"

/* Indexes into machine.form_options. A fitted model stores the options in this order. */
enum { OPTION_MESSAGE, OPTION_INCOMPLETE, OPTION_SINGLE, OPTION_ROUNDS };

struct bluegene_rules bluegene_rules(const struct machine *machine)
{
	const uint32_t *options = machine->form_options;

	return (struct bluegene_rules){ (enum rule_message)options[OPTION_MESSAGE],
					(enum rule_incomplete)options[OPTION_INCOMPLETE],
					(enum rule_single)options[OPTION_SINGLE],
					(enum rule_rounds)options[OPTION_ROUNDS] };
}

void bluegene_attach(struct machine *machine, const struct bluegene_rules *rules)
{
	if (machine->romio != ROMIO_BLUEGENE)
		return;
	machine->form = &counts_form_bluegene;
	if (!rules)
		return;
	machine->form_options[OPTION_MESSAGE] = rules->message;
	machine->form_options[OPTION_INCOMPLETE] = rules->incomplete;
	machine->form_options[OPTION_SINGLE] = rules->single;
	machine->form_options[OPTION_ROUNDS] = rules->rounds;
}

static double min_double(double a, double b)
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

/* Appends the shuffle of one kind of round, which moves `bytes` to `receivers` aggregators. */
static void count_shuffle(struct counts *counts, const char *what, double times,
			  struct elemental at, double bytes, double receivers)
{
	double ranks = at.nodes * at.cores;

	at.senders = min_double(ceil(bytes / at.bytes), ranks);
	at.receivers = min_double(at.senders, receivers);
	counts_add(counts, OPERATION_ALLTOALLV, what, times, &at);
}

/* Appends what ranks exchange before anything is written and before each round. */
static void count_metadata(struct counts *counts, const struct access *access)
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
			  const struct bluegene_rules *rules, uint64_t buffer)
{
	double rounds = (double)counts->rounds;
	struct elemental full = { .nodes = (double)access->nodes, .bytes = (double)buffer };
	struct elemental part;

	full.cores = (double)access->ranks / full.nodes;
	full.writers = (double)counts->aggregators / full.nodes;
	part = full;
	part.writers *= (double)counts->incomplete_bytes / (double)counts->round_bytes;
	if (rules->incomplete == INCOMPLETE_NAIVE) {
		counts_add(counts, OPERATION_WRITE_FULL, "full rounds", rounds, &full);
		counts_add(counts, OPERATION_WRITE_FULL, "incomplete round",
			   (double)counts->incomplete, &part);
		return;
	}
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
			    const struct bluegene_rules *rules, uint64_t buffer)
{
	uint64_t message = rules->message == MESSAGE_PROCESS ? access->rank_bytes
							     : access->ranks * access->rank_bytes;

	count_rounds(counts, access, buffer);
	count_metadata(counts, access);
	count_shuffles(counts, access, min_double((double)message, (double)buffer));
	count_storage(counts, access, rules, buffer);
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b > 0);
}

/* Consecutive rounds in each of which every writer moves `bytes`. */
struct leg {
	uint64_t rounds, bytes;
	const char *shuffle;
};

/*
 * Appends the storage operations of a leg. The very first round of the access is a first write. The
 * rounds that the caches hold together with everything written before are cached writes. The
 * remaining rounds are full writes, even if not every aggregator writes: full writes were
 * benchmarked far beyond the size of the caches, but partial writes only over twice that size, half
 * of which the caches absorbed. In accesses that exceed the caches, at least four fifths of all
 * aggregators write.
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
	uint64_t domain = divide_up(divide_up(total, counts->aggregators), block) * block;
	uint64_t writers = divide_up(total, domain);
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
	count_metadata(counts, access);
	for (size_t i = 0; i < 2; i++) {
		if (!legs[i].rounds)
			continue;
		at.bytes = min_double((double)legs[i].bytes, (double)access->rank_bytes);
		count_shuffle(counts, legs[i].shuffle, (double)legs[i].rounds, at,
			      (double)(writers * legs[i].bytes), (double)writers);
	}
	at.bytes = 0;
	for (size_t i = 0; i < 2; i++)
		count_leg(counts, &legs[i], at, writers,
			  i ? legs[0].rounds * counts->round_bytes : 0, cache);
}

static int count_bluegene(struct counts *counts, const struct machine *machine,
			  const struct access *access, const struct settings *settings,
			  struct err *err)
{
	uint64_t buffer = settings->buffer_bytes ? settings->buffer_bytes : machine->buffer_bytes;
	const struct bluegene_rules rules = bluegene_rules(machine);

	if (access->is_read || access->pattern != ACCESS_CONTIGUOUS)
		return err_set(err, ENOTSUP,
			       "romio = bluegene supports contiguous writes only, as in the paper");
	counts->aggregators = counts_aggregators(machine, access, settings);
	if (rules.rounds == ROUNDS_DOMAINS)
		count_domains(counts, machine, access, buffer);
	else
		count_published(counts, access, &rules, buffer);
	return 0;
}

/* The slack of the first write of an access of one round that is charged for two: the published
 * rules charge it for all aggregators, the rules of domains only for those that write. */
static double single_round_slack(const struct counts_case *p, double price)
{
	struct bluegene_rules rules = bluegene_rules(p->machine);
	struct machine machine = *p->machine;
	struct counts counts;

	rules.rounds = ROUNDS_DOMAINS;
	bluegene_attach(&machine, &rules);
	if (counts_compute(&counts, &machine, p->access, p->settings, NULL) < 0)
		return 0;
	for (size_t i = 0; i < counts.count; i++) {
		const struct term *term = &counts.terms[i];

		if (term->operation == OPERATION_WRITE_FIRST)
			return fmax(log(price / p->cost(p->cost_arg, term->operation, &term->at)),
				    0);
	}
	return 0;
}

static bool term_slack(const struct counts_case *p, const struct term *term, double price,
		       double *slack)
{
	const struct bluegene_rules rules = bluegene_rules(p->machine);

	*slack = 0;
	if (rules.rounds == ROUNDS_DOMAINS)
		return true; /* the price includes caches and single rounds */
	if (p->counts->rounds || rules.single != SINGLE_PUBLISHED)
		return false;
	if (term->operation == OPERATION_WRITE_FIRST)
		*slack = single_round_slack(p, price);
	else if (term->operation == OPERATION_WRITE_FULL ||
		 term->operation == OPERATION_WRITE_PARTIAL)
		*slack = INFINITY; /* the second round does not exist */
	return true;
}

const struct counts_form counts_form_bluegene = {
	.name = "bluegene",
	.count = count_bluegene,
	.term_slack = term_slack,
};
