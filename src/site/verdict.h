/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of the system reasoner: what the anomalies of nodes have in common, and who loads the
 * storage meanwhile. They see evidence only and touch no database (site/anomaly.h does).
 *
 * Anomalies are grouped by target. Nodes *use* a target if they report load on it. The first rule
 * that holds gives the verdict on a group:
 *
 *   job      at least two nodes are slow, and one job moves at least half of the bytes on the
 *            target or, if none does, makes half of the operations. Likely: it is four fifths of
 *            them, the job does not run on all slow nodes, and most nodes that use the target are
 *            slow; then others suffer while it runs
 *   target   at least two nodes are slow. Likely: most nodes that use the target are
 *   load     at least two nodes are slow, and nothing tells on which target. Never likely
 *   node     one node is slow. Likely: the target is its own, or at least two other nodes use the
 *            target and are not slow
 *
 * What is not likely is possible: nothing here proves a cause.
 */
#ifndef SLUICE_SITE_VERDICT_H
#define SLUICE_SITE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* An anomaly of a node that lasts. Texts are never NULL. */
struct verdict_anomaly {
	const char *node, *target; /* target "": unknown */
	double value;		   /* how many times slower */
};

/* The load of a user's job on a node and target, per second. */
struct verdict_load {
	const char *node, *owner, *job, *target; /* owner "": all others */
	double bytes, operations;
};

struct verdict_evidence {
	const struct verdict_anomaly *anomalies;
	size_t anomaly_count;
	const struct verdict_load *loads;
	size_t load_count;
};

enum verdict_cause { VERDICT_NODE, VERDICT_TARGET, VERDICT_JOB, VERDICT_LOAD, VERDICT_CAUSES };
extern const char *const verdict_causes[VERDICT_CAUSES];

/* Texts other than the detail belong to the evidence. */
struct verdict {
	const char *node;	 /* "": more than one */
	const char *target;	 /* "": unknown */
	const char *owner, *job; /* "" unless the cause is a job; job "": the user's runs outside of
				    jobs */
	enum verdict_cause cause;
	bool is_likely; /* false: possible */
	double value;	/* of the worst anomaly */
	char *detail;	/* one sentence without a period */
};

/*
 * Judges. There is one verdict per target, in the order of their names; the unknown target is
 * the first. verdict_free() frees the list.
 */
size_t verdict_judge(const struct verdict_evidence *evidence, struct verdict **verdicts);
void verdict_free(struct verdict *verdicts, size_t count);

/* "likely job", "possible node". */
void verdict_put_cause(struct buf *out, const struct verdict *verdict);

#endif
