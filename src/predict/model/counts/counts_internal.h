/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files that count share: one per form of ROMIO.
 */
#ifndef SLUICE_PREDICT_MODEL_COUNTS_COUNTS_INTERNAL_H
#define SLUICE_PREDICT_MODEL_COUNTS_COUNTS_INTERNAL_H

#include "predict/model/counts/counts.h"
#include "predict/model/counts/layout.h"

/* Buffers of data sieving, where a rank alone accesses pieces (ind_wr_buffer_size and so on). */
#define SIEVE_WRITE_BYTES (512 << 10)
#define SIEVE_READ_BYTES (4 << 20)

/* A term; one that counts nothing is left out. */
void counts_add(struct counts *counts, enum operation operation, const char *what, double count,
		const struct elemental *at);

/* The same of a collective of all ranks. */
void counts_add_collective(struct counts *counts, const struct access *access,
			   enum operation operation, const char *what, double count, double bytes);

/* Everybody accesses what is its own: buffering is off, or automatic and of no use. */
bool counts_is_independent(const struct machine *machine, const struct access *access,
			   const struct settings *settings);
void counts_independent(struct counts *counts, const struct machine *machine,
			const struct layout *layout);

/*
 * How the file is shared out, without a walk through parts: so many aggregators have longer parts,
 * so many shorter ones. What aligning moves from one part to the next is neglected.
 */
struct shares {
	uint64_t many, many_bytes;
	uint64_t few, few_bytes; /* <= many_bytes */
};

/* Lists of offsets to aggregators, the exchange of each round, and its storage. */
void counts_add_rounds(struct counts *counts, const struct layout *layout,
		       const struct shares *shares);

int counts_bluegene(struct counts *counts, const struct machine *machine,
		    const struct access *access, const struct settings *settings,
		    const struct rules *rules, struct err *err);
void counts_generic(struct counts *counts, const struct layout *layout);
void counts_lustre(struct counts *counts, const struct layout *layout);
void counts_gpfs(struct counts *counts, const struct layout *layout);

#endif
