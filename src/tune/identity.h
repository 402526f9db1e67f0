/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run is known by from one time to the next: which program, with how many ranks, where.
 * Found from the command line before the run, so that what was learnt can be applied to it.
 */
#ifndef SLUICE_TUNE_IDENTITY_H
#define SLUICE_TUNE_IDENTITY_H

#include <stdint.h>

#include "params/tunable.h"

struct identity {
	char *program;	   /* base name of what the ranks run */
	char *path;	   /* of it; NULL: not found */
	char *fingerprint; /* of its code: build id, else of its bytes; scripts: of their text */
	char *arguments;   /* its own, quoted for a shell */
	char *launcher;	   /* "mpiexec", "srun"; NULL: none */
	uint32_t ranks;	   /* 1 without launcher; 0: the command line does not tell */
	char *platform;	   /* setting tune.platform, else the machine's: "aarch64-2" */
	enum filesystem filesystem; /* of the working directory, where nothing better is known */
};

/* argv as given to `sluice run`. Inside a launched rank the job tells how many there are. */
void identity_of(struct identity *identity, char *const *argv, const char *platform);
void identity_release(struct identity *identity);

#endif
