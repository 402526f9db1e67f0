/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many elemental operations of which size a collective access is made of: plain arithmetic
 * after the code of ROMIO, nothing is learnt here (HYB-14 to HYB-28). The price of an access is
 * then the sum over terms of count times what one operation costs.
 *
 * counts_of() never walks through rounds or ranks where a formula does, so that ten thousand
 * settings are counted in milliseconds. Of the forms of ROMIO that are not the paper's, collectives
 * are exact; storage and messages are means over rounds (docs/model.md tells how close they are).
 */
#ifndef SLUICE_PREDICT_MODEL_COUNTS_COUNTS_H
#define SLUICE_PREDICT_MODEL_COUNTS_COUNTS_H

#include "predict/model/access.h"
#include "predict/model/machine.h"
#include "predict/model/operation.h"

/* Where the texts of the paper differ or err. Zero is what was published. */
enum rule_message { MESSAGE_LITERAL, MESSAGE_PROCESS };			       /* HYB-21 */
enum rule_incomplete { INCOMPLETE_PARTIAL, INCOMPLETE_FULL, INCOMPLETE_NONE }; /* HYB-27 */
enum rule_single { SINGLE_PUBLISHED, SINGLE_CORRECTED };		       /* HYB-28 */
/*
 * Beyond the paper, "domains": rounds as ROMIO makes them on GPFS. The file is cut into domains of
 * whole blocks, one per aggregator as far as there are bytes (HYB-33), so all that write do so in
 * every round, the last of which is shorter; and rounds after the first that the caches of the I/O
 * nodes still hold are terms of their own (HYB-34). The other three rules then have no meaning.
 */
enum rule_rounds { ROUNDS_PUBLISHED, ROUNDS_DOMAINS, ROUNDS_RULES };
#define RULE_MESSAGE_WORDS "literal|process"
#define RULE_INCOMPLETE_WORDS "partial|full|none"
#define RULE_SINGLE_WORDS "published|corrected"
#define RULE_ROUNDS_WORDS "published|domains"

struct rules {
	enum rule_message message;
	enum rule_incomplete incomplete;
	enum rule_single single;
	enum rule_rounds rounds;
};

struct term {
	enum operation operation;
	const char *what; /* for people: "offsets of all ranks" */
	double count;
	struct elemental at;
};

#define COUNTS_TERMS 24

struct counts {
	uint64_t aggregators;	   /* n_a, in all */
	uint64_t bytes;		   /* s_t */
	uint64_t round_bytes;	   /* s_r: of a full round */
	uint64_t rounds;	   /* r_c: complete ones, in which full buffers are written */
	uint64_t incomplete;	   /* r_i: 1 or 0 */
	uint64_t incomplete_bytes; /* s_i */
	struct term terms[COUNTS_TERMS];
	size_t count;
};

/*
 * HYB-9, or the hint itself, cut down to what there is and to what cb_config_list allows on a node
 * (*:K, the second: K). ROMIO fills node after node with them.
 */
uint64_t counts_aggregators(const struct machine *machine, const struct access *access,
			    const struct settings *settings);
uint64_t counts_node_aggregators(const struct machine *machine, const struct access *access,
				 const struct settings *settings);

/* rules NULL: as published; they matter for Blue Gene alone. counts is untouched on failure. */
int counts_of(struct counts *counts, const struct machine *machine, const struct access *access,
	      const struct settings *settings, const struct rules *rules, struct err *err);

/* Seconds of one operation. */
typedef double (*counts_cost)(void *arg, enum operation operation, const struct elemental *at);

/* The sum; terms NULL, or per term count times cost. */
double counts_price(const struct counts *counts, counts_cost cost, void *arg, double *terms);

/*
 * What one rank is seen to do in the library: what a trace of the real one is compared with. Exact,
 * and walks through all rounds. Storage calls are those that ROMIO means to do: where a read meets
 * the end of the file it tries once more, and that is not counted.
 */
struct rank_calls {
	uint64_t allreduces, alltoalls, alltoallvs, allgathers, broadcasts, barriers;
	uint64_t sends, receives; /* single messages */
	uint64_t reads, writes;	  /* storage calls */
	uint64_t read_bytes, written_bytes;
};
int rank_calls_of(struct rank_calls *calls, const struct machine *machine,
		  const struct access *access, const struct settings *settings, uint64_t rank,
		  struct err *err);

#endif
