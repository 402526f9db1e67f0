/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a command line really runs: which program stands behind a launcher (mpiexec of MPICH, Open
 * MPI and their relatives, srun, aprun, jsrun) and behind commands that only start another (env,
 * time, numactl, ...), and in how many copies. Nothing is run; the words are looked at, and for an
 * option that we do not know, whether the word behind it is a program.
 */
#ifndef SLUICE_TUNE_PROGRAM_LAUNCH_H
#define SLUICE_TUNE_PROGRAM_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points into the argv that was parsed. */
struct launch {
	char *const *argv;	 /* of the program itself; of several with ":" the first */
	size_t argc;		 /* at least 1, unless there was nothing at all */
	const char *launcher;	 /* base name, "mpiexec"; NULL: none */
	const char *interpreter; /* argv[0] is a script that was given to it; NULL: it is not */
	uint32_t ranks;		 /* of all programs; 1 without launcher; 0: it is not told */
};

void launch_parse(struct launch *launch, char *const *argv);

/* Is it a shell, whose scripts may start anything? By base name. */
bool launch_is_shell(const char *program);

#endif
