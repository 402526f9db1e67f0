/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The identity of a run: which program, with how many ranks, and where. It is found from the
 * command line before the run (tune/program/launch.h), so that earlier results can be applied to
 * the run.
 */
#ifndef SLUICE_TUNE_PROGRAM_IDENTITY_H
#define SLUICE_TUNE_PROGRAM_IDENTITY_H

#include <stdint.h>

#include "params/tunable.h"

/*
 * No text is NULL unless noted. The fingerprint is
 *
 *	build:HEX   the build id of the program
 *	bytes:HEX   of a program without a build id: its size and first MiB
 *	text:HEX    of a script: its text and the name of its interpreter
 *	""          the program was not found
 *
 * Programs that a script starts do not change its fingerprint.
 */
struct identity {
	char *program; /* base name of what the ranks run; the script if an interpreter runs it; the
			  kernel of `sluice lab kernel`, whose fingerprint is that of sluice */
	char *path;    /* of the program; NULL: not found */
	char *fingerprint;	    /* of its code, see above */
	char *arguments;	    /* its own, quoted for a shell */
	char *launcher;		    /* "mpiexec", "srun"; NULL: none */
	uint32_t ranks;		    /* 1 without a launcher; 0: unknown */
	char *platform;		    /* tune.platform, or by the machine: "x86_64-64-epyc-7742" */
	enum filesystem filesystem; /* of the working directory */
};

/*
 * argv as given to `sluice run`. Inside a launched rank the number of ranks is that of the job.
 * platform: name, or NULL, "" or "auto" to name it by the machine. Always succeeds.
 */
void identity_init(struct identity *identity, char *const *argv, const char *platform);
void identity_release(struct identity *identity);

/*
 * The name of the platform, which the caller frees: a copy of `name`, or, if it is NULL, "" or
 * "auto", a name made of machine type, number of processors and processor model.
 */
char *identity_platform(const char *name);

#endif
