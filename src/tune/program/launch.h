/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the program that a command line runs, and in how many copies: behind a launcher (mpiexec of
 * MPICH, Open MPI and relatives, srun, aprun, jsrun) and behind commands that only start another
 * one (env, time, numactl). `sluice lab kernel` is both: a launcher, and the program. Nothing is
 * run. After an unknown option, the next word is taken for its value unless it is a program.
 */
#ifndef SLUICE_TUNE_PROGRAM_LAUNCH_H
#define SLUICE_TUNE_PROGRAM_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points into the parsed argv. */
struct launch {
	char *const *argv;	 /* of the program; of several separated by ":", the first */
	size_t argc;		 /* at least 1, unless the command line is empty */
	const char *name;	 /* of the program; of `sluice lab kernel NAME`, NAME */
	const char *launcher;	 /* base name, "mpiexec"; NULL: none */
	const char *interpreter; /* that runs the script argv[0]; NULL: none */
	uint32_t ranks;		 /* of all programs; 1 without a launcher; 0: unknown */
};

void launch_parse(struct launch *launch, char *const *argv);

/* A command line that starts its programs through Slurm. */
struct launch_step {
	const char *command; /* "srun" or "sbatch"; NULL: neither starts a program */
	/* Index in argv of the command that srun starts; 0 if another word cannot be put before it:
	 * an option is unknown, or it changes the meaning of that word. */
	size_t at;
};

/* Also finds srun behind salloc and behind commands that only start another one. */
void launch_find_step(struct launch_step *step, char *const *argv);

/* Is it a shell, by its base name? The scripts of a shell may start any number of ranks. */
bool launch_is_shell(const char *program);

#endif
