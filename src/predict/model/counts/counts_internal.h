/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Helpers that the forms of ROMIO share. A form outside this folder may use them, too. counts.c,
 * layout.c and rounds.c implement the counting together.
 */
#ifndef SLUICE_PREDICT_MODEL_COUNTS_COUNTS_INTERNAL_H
#define SLUICE_PREDICT_MODEL_COUNTS_COUNTS_INTERNAL_H

#include "predict/model/counts/counts.h"
#include "predict/model/counts/layout.h"

/* Appends a term, unless its count is 0. */
void counts_add(struct counts *counts, enum operation operation, const char *what, double count,
		const struct elemental *at);

/* Appends a collective of all ranks. */
void counts_add_collective(struct counts *counts, const struct access *access,
			   enum operation operation, const char *what, double count, double bytes);

/* True if every rank accesses its own bytes: collective buffering is disabled, or it is automatic
 * and the accesses of ranks do not interleave. */
bool counts_is_independent(const struct machine *machine, const struct access *access,
			   const struct settings *settings);
void counts_independent(struct counts *counts, const struct layout *layout);

/*
 * Computes the layout. Returns true if the access is independent: all of its terms are then in
 * counts already.
 */
bool counts_begin(struct counts *counts, struct layout *layout, const struct machine *machine,
		  const struct access *access, const struct settings *settings);

/*
 * The division of the file among aggregators in two sizes, so that nothing steps through the parts.
 * The bytes that alignment moves from one part to the next are neglected.
 */
struct shares {
	uint64_t many, many_bytes; /* aggregators with the longer part, and its length */
	uint64_t few, few_bytes;   /* aggregators with the shorter part; few_bytes <= many_bytes */
};

/* Appends the lists of offsets for aggregators, and the exchange and storage of each round. */
void counts_add_rounds(struct counts *counts, const struct layout *layout,
		       const struct shares *shares);

/* Appends the terms of the generic code; reads on Lustre use it, too. */
void counts_add_generic(struct counts *counts, const struct layout *layout);

#endif
