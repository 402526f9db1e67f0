/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decides whether a parameter took effect. MPICH's ROMIO and HDF5 report the value they use. Open
 * MPI reports every hint back unchanged, so its effect is derived from the calls inside: how many
 * ranks wrote to storage in collective writes, and how large these writes were. HDF5 cannot report
 * on files that several ranks share; their alignment is derived from the offsets of the datasets.
 * Where the trace holds no evidence, the effect is EFFECT_UNKNOWN.
 */
#ifndef SLUICE_OBSERVE_TALLY_EFFECT_H
#define SLUICE_OBSERVE_TALLY_EFFECT_H

#include "observe/tally/parameters.h"

enum effect {
	EFFECT_IGNORED,
	EFFECT_APPLIED,
	EFFECT_UNKNOWN, /* the parameter may take effect, but the trace cannot show it */
};

struct effect_judgment {
	enum effect effect;
	const char *by; /* component that applied it, or that was asked: "ROMIO", "HDF5", "OMPIO",
			   or "" */
	char why[128];	/* evidence, as a sentence; may be empty for EFFECT_APPLIED */
	/*
	 * Alignment only: datasets that are large enough to be aligned, how many of them are, and
	 * the requested boundary in bytes.
	 */
	uint64_t datasets, aligned, boundary;
};

/* row must have been requested or refused. evidence may be NULL. */
struct effect_judgment effect_judge(const struct parameter *row, const struct evidence *evidence);

/* Does the file system driver support striping? The drivers for local and NFS files do not. */
bool effect_has_stripes(const struct evidence *evidence);

/*
 * Adds the datasets of another file with the same effect, and rewrites `why` to cover both files.
 */
void effect_join(struct effect_judgment *judgment, const struct effect_judgment *other);

/* "yes", "no" or "unknown" */
const char *effect_name(enum effect effect);

#endif
