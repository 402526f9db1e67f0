/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Agreement of all nodes of a job on the parameters to apply: all nodes apply the same, or none
 * does. A hint that only some ranks of a program pass may abort it. Nodes agree in the directory of
 * the trace's parts, using the operation that is atomic on shared file systems: linking a file to a
 * name that does not exist yet.
 *
 *   JOB-parameters              the text in force: that of the first node
 *   JOB-parameters.HOST-PID.N   this collector has the text and represents N ranks
 *   JOB-parameters.verdict      "yes" from the node that saw all ranks represented, or "no" from
 * the first node whose time limit expired
 *
 * A node without parameters uses those that it finds. If it finds none, it writes nothing and does
 * not wait; if other nodes have parameters, they find that not all ranks are represented.
 */
#ifndef SLUICE_OBSERVE_JOB_AGREEMENT_H
#define SLUICE_OBSERVE_JOB_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct agreement_options {
	const char *part; /* this node's part of the trace, see parts.h */
	const char *text; /* the node's own parameters; "" for none */
	uint32_t ranks,
		size; /* ranks that this node represents (0: unknown), and ranks of the job */
	uint64_t patience_ns; /* how long to wait for the other nodes; 0: the default */
	/* May the text of another node be applied here? err says why not. NULL: always. */
	bool (*accepts)(void *arg, const char *text, struct err *err);
	void *arg;
};

struct agreement {
	char *text;	     /* the text in force for all nodes; the caller frees it */
	bool is_ours;	     /* this node was the first */
	const char *refusal; /* why no node applies it; NULL: all do */
};

/*
 * Fails if the directory cannot be used, or if this node does not accept the text of another node.
 * No node decides "yes" then, because this node is not represented.
 */
int agreement_reach(struct agreement *agreement, const struct agreement_options *options,
		    struct err *err);

/* Removes the agreement files of the part's job. */
void agreement_remove(const char *part);

#endif
