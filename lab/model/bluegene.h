/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The form of ROMIO that Isaila et al. (2015) modeled: contiguous collective writes of MPICH 3.1 on
 * Blue Gene/Q. It is research code: `sluice model` refuses machines with romio = bluegene, and the
 * lab attaches this form to them with bluegene_attach().
 */
#ifndef SLUICE_LAB_MODEL_BLUEGENE_H
#define SLUICE_LAB_MODEL_BLUEGENE_H

#include "predict/model/counts/counts.h"

/* How to count where versions of the paper disagree or contain errors. 0 is the published version.
 */

/* The size of a message in the shuffle: as the paper states it, or what one process holds. */
enum rule_message { MESSAGE_LITERAL, MESSAGE_PROCESS };

/*
 * The form of the storage cost, by the cost of the last, incomplete round: a partial write
 * (published), a full write (intermediate form), or nothing (preprint). INCOMPLETE_NAIVE is the
 * form that the paper starts with: all rounds are full writes, also the first, so locks cost
 * nothing.
 */
enum rule_incomplete { INCOMPLETE_PARTIAL, INCOMPLETE_FULL, INCOMPLETE_NONE, INCOMPLETE_NAIVE };

/* An access of a single round: charged for two rounds (published), or for one. */
enum rule_single { SINGLE_PUBLISHED, SINGLE_CORRECTED };

/*
 * ROUNDS_DOMAINS goes beyond the paper and counts rounds as ROMIO does on GPFS. ROMIO cuts the file
 * into domains of whole blocks, one per aggregator as long as bytes remain, so every writer writes
 * in every round, and the last round is shorter. Later rounds that fit into the caches of the I/O
 * nodes are terms of their own. The other three rules have no effect then.
 */
enum rule_rounds { ROUNDS_PUBLISHED, ROUNDS_DOMAINS, ROUNDS_RULES };

#define RULE_MESSAGE_WORDS "literal|process"
#define RULE_INCOMPLETE_WORDS "partial|full|none|naive"
#define RULE_SINGLE_WORDS "published|corrected"
#define RULE_ROUNDS_WORDS "published|domains"

struct bluegene_rules {
	enum rule_message message;
	enum rule_incomplete incomplete;
	enum rule_single single;
	enum rule_rounds rounds;
};

extern const struct counts_form counts_form_bluegene;

/*
 * Lets accesses on the machine be counted by the rules. rules NULL: keep the rules that the machine
 * has, which are the published ones unless a model was loaded. A machine with another romio is left
 * as it is.
 */
void bluegene_attach(struct machine *machine, const struct bluegene_rules *rules);

/* The rules of a machine, from bluegene_attach() or from a loaded model. */
struct bluegene_rules bluegene_rules(const struct machine *machine);

#endif
