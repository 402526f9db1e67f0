/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds Sluice's own MPI programs (kernels/), which are built once per MPI, and the matching
 * mpiexec.
 */
#ifndef SLUICE_BASE_LAUNCHER_H
#define SLUICE_BASE_LAUNCHER_H

enum mpi { MPI_AUTO, MPI_MPICH, MPI_OPENMPI, MPIS };
#define MPI_WORDS "auto|mpich|openmpi"

extern const char *const mpi_names[MPIS];

/* Path of the program in the build tree or the installed tree, or NULL. The caller frees it. */
char *launcher_program(const char *name, enum mpi mpi);

/* The MPI whose launcher started this process, or MPI_AUTO. */
enum mpi launcher_current_mpi(void);

/*
 * Chooses the MPI to run the program with: `wanted`, or for MPI_AUTO the one whose launcher started
 * this process, else the first one that has the program. Sets *path, which the caller frees.
 * Returns MPI_AUTO, with *path NULL, if the program was not built for that MPI.
 */
enum mpi launcher_choose(const char *name, int wanted, char **path);

/* Path of mpiexec.MPI, else of mpiexec, or NULL. The caller frees it. */
char *launcher_path(enum mpi mpi);

#endif
