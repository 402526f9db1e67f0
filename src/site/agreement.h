/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The votes of a job's nodes in the database of the site (contract/agreement.h): a row per job and
 * node, and one per job with the verdict, which is written once and never changes. Any node may
 * write the verdict; the first one counts.
 */
#ifndef SLUICE_SITE_AGREEMENT_H
#define SLUICE_SITE_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct site_db;

enum agreement_verdict { VERDICT_NONE, VERDICT_GRANTED, VERDICT_REFUSED };

struct agreement_view {
	uint64_t votes;	   /* of all nodes */
	bool is_same;	   /* all nodes have voted for the same digest and number of ranks */
	bool is_confirmed; /* by all nodes that have voted */
	enum agreement_verdict verdict;
};

/* Enters the votes of a node so far. Rows of an earlier job with the same id are removed. */
int site_agreement_vote(struct site_db *site, const char *job, const char *node, uint32_t ranks,
			uint32_t votes, uint64_t digest, struct err *err);

/* Confirms the vote of a node. */
int site_agreement_confirm(struct site_db *site, const char *job, const char *node,
			   struct err *err);

int site_agreement_read(struct site_db *site, const char *job, struct agreement_view *view,
			struct err *err);

/* Proposes a verdict; *verdict is the one that counts. */
int site_agreement_decide(struct site_db *site, const char *job, enum agreement_verdict proposal,
			  enum agreement_verdict *verdict, struct err *err);

#endif
