/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Did anybody listen to a parameter? MPICH's ROMIO and HDF5 tell what they made of it when they are
 * asked. Open MPI repeats what it was told, so what counts there is what the calls beneath show:
 * how many ranks wrote to storage in collective writes, and how much at a time. Of files that ranks
 * share HDF5 cannot be asked either; their alignment is judged by where datasets are. Where nothing
 * can be shown the judgement says so.
 */
#ifndef SLUICE_OBSERVE_TALLY_EFFECT_H
#define SLUICE_OBSERVE_TALLY_EFFECT_H

#include "observe/tally/parameters.h"

enum effect {
	EFFECT_IGNORED,
	EFFECT_APPLIED,
	EFFECT_UNKNOWN, /* it may well have an effect, but none that we can see */
};

struct judgement {
	enum effect honour;
	const char *by; /* "ROMIO", "HDF5", "OMPIO": of SOMEBODY, else who was asked; may be "" */
	char why[128];	/* what it is concluded from; of SOMEBODY it may be empty */
	/* Of alignment, where it is concluded from them: large enough ones, and those in place. */
	uint64_t datasets, aligned, boundary;
};

/* row is one that was asked for. */
struct judgement effect_judge(const struct parameter *row, const struct evidence *evidence);

/* Of one file and another that fared alike: makes it one judgement about both. */
void effect_join(struct judgement *judgement, const struct judgement *other);

/* "yes", "no", "unknown" */
const char *effect_name(enum effect honour);

#endif
