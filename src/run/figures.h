/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The figures of a recorded run by which a tuned entry is judged: the same that a tuning would get
 * from its trace (tune/trial/objective.h), and what became of the parameters.
 */
#ifndef SLUICE_RUN_FIGURES_H
#define SLUICE_RUN_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tune/trial/trial.h"

struct err;
struct trace_head;

struct figures {
	struct trial trial; /* the times and bytes only */
	double bytes;	    /* read and written */
	int exit_status;    /* of the program; -1: unknown */
	/* Parameters per file and library that were requested, and those that had no effect. */
	size_t requested, ignored;
	/* Why the figures cannot be compared with those of other runs; NULL: they can. */
	const char *flaw;
};

/* Reads the trace twice. If it has more than `most` activities, the figures have a flaw instead. */
int figures_read(struct figures *figures, const char *trace, uint64_t most, struct err *err);

/* What acted on the program. */
enum figures_origin {
	FIGURES_UNMODIFIED,
	FIGURES_ENTRY, /* of the knowledge base */
	FIGURES_OTHER, /* other parameters, or plug-ins */
};

/* Writes the name of an entry as the origin of parameters; the caller frees it. */
char *figures_entry_name(int64_t entry);

/* Sets *entry if the result is FIGURES_ENTRY. */
enum figures_origin figures_origin(const struct trace_head *head, int64_t *entry);

#endif
