/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program, the command line, the environment and the files of a benchmark job.
 */
#ifndef SLUICE_PREDICT_MODEL_MEASURE_JOB_COMMAND_H
#define SLUICE_PREDICT_MODEL_MEASURE_JOB_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "base/launcher.h"

struct err;

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

/* A program of kernels/ and the launcher of its MPI. */
struct job_program {
	enum mpi mpi;
	char *path;
	char *launcher; /* path of mpiexec; NULL: the user names a command */
};

/* -ENOENT: it is not built, or there is no launcher; -EINVAL: this process was launched itself. */
int job_program_find(struct job_program *program, const char *name, enum mpi wanted,
		     const char *launcher_command, struct err *err);
void job_program_release(struct job_program *program);

/* A file name in the directory, with host and process id, because several jobs may share the
 * directory. The suffix is "" for data. The caller frees it. */
#define JOB_LIST ".cases"
char *job_file_name(const char *dir, const char *suffix);

/* Removes the files of jobs of this host whose process no longer exists. */
void job_remove_leftovers(const char *dir);

#endif
