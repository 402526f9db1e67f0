/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all nodes of a job must do alike, or not at all: apply parameters. A hint that only some
 * ranks of a program pass may end it. Nodes agree in the directory of the trace's parts, by what is
 * atomic on shared file systems: giving a file a name that is not taken.
 *
 *	JOB-parameters              the text that counts: that of the first to come
 *	JOB-parameters.HOST-PID.N   this collector has it, and stands for N ranks
 *	JOB-parameters.verdict      "yes" of the one who saw all ranks stood for, or "no" of the
 *	                            first who would not wait for them any longer
 *
 * A node without parameters takes those that it finds; where it finds none it leaves nothing and
 * waits for nobody, and if others have some they find that not all ranks are stood for.
 */
#ifndef SLUICE_OBSERVE_COLLECT_AGREEMENT_H
#define SLUICE_OBSERVE_COLLECT_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct agreement_options {
	const char *part;     /* this node's part of the trace, see parts.h */
	const char *text;     /* what it would apply; "" for nothing */
	uint32_t ranks, size; /* that it stands for (0: not known), and of the whole job */
	uint64_t patience_ns; /* how long the others may take to come; 0: the usual time */
};

struct agreement {
	char *text;	     /* what counts for all; the caller frees */
	bool is_ours;	     /* we were the first */
	const char *refusal; /* why nobody applies it; NULL: all do */
};

/* On failure the directory cannot be used; nobody gets a "yes" then, since we are not stood for. */
int agreement_reach(struct agreement *agreement, const struct agreement_options *options,
		    struct err *err);

/* Removes the files of the part's job. */
void agreement_remove(const char *part);

#endif
