/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run is known by from one time to the next: which program, with how many ranks, where.
 * Found from the command line before the run (tune/program/launch.h), so that what was learnt can
 * be applied to it.
 */
#ifndef SLUICE_TUNE_PROGRAM_IDENTITY_H
#define SLUICE_TUNE_PROGRAM_IDENTITY_H

#include <stdint.h>

#include "params/tunable.h"

/*
 * No text is NULL but where it says so. The fingerprint is
 *
 *	build:HEX   the build id of a program
 *	bytes:HEX   of a program without: its size and first MiB
 *	text:HEX    of a script: its text and the name of its interpreter
 *	""          the program was not found
 *
 * What a script starts in turn is not looked at.
 */
struct identity {
	char *program;	   /* base name of what the ranks run; a script goes before Python */
	char *path;	   /* of it; NULL: not found */
	char *fingerprint; /* of its code */
	char *arguments;   /* its own, quoted for a shell */
	char *launcher;	   /* "mpiexec", "srun"; NULL: none */
	uint32_t ranks;	   /* 1 without launcher; 0: the command line does not tell */
	char *platform;	   /* setting tune.platform, else the machine's: "x86_64-64-epyc-7742" */
	enum filesystem filesystem; /* of the working directory, where nothing better is known */
};

/*
 * argv as given to `sluice run`. Inside a launched rank the job tells how many there are. platform
 * NULL, "" or "auto": by the machine.
 */
void identity_of(struct identity *identity, char *const *argv, const char *platform);
void identity_release(struct identity *identity);

/*
 * What a platform is called that has the name given by a user or the setting tune.platform; NULL,
 * "" or "auto": the machine as a word, that is type, processors and, where the kernel tells it,
 * their name.
 */
char *identity_platform(const char *name);

#endif
