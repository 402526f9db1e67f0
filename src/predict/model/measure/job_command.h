/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line and the environment of one benchmark job.
 */
#ifndef SLUICE_PREDICT_MODEL_MEASURE_JOB_COMMAND_H
#define SLUICE_PREDICT_MODEL_MEASURE_JOB_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "base/launcher.h"

/* A list of words that ends with NULL. Zero-initialized is empty. */
struct words {
	char **items;
	size_t count, cap;
};

void words_add(struct words *words, const char *word);
void words_release(struct words *words);

struct job_command {
	const char *launcher_command; /* "srun -n {ranks}", split at blanks; NULL: launcher */
	const char *launcher;	      /* path of mpiexec */
	enum mpi mpi;		      /* of the launcher */
	const char *hosts;	      /* "a,b"; NULL: the launcher decides */
	uint64_t ranks;
	uint64_t cores; /* of this node that the ranks share; 0: each rank has its own */
};

/* Adds the words that start the ranks, up to and without the program. */
void job_command_line(const struct job_command *command, struct words *words);

/* Adds "NAME=VALUE" words that Open MPI needs to run more ranks than cores; variables that the user
 * has set stay. */
void job_command_environment(const struct job_command *command, struct words *words);

#endif
