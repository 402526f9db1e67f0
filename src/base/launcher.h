/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs of ours that are built once per MPI (kernels/), and what starts them.
 */
#ifndef SLUICE_BASE_LAUNCHER_H
#define SLUICE_BASE_LAUNCHER_H

enum mpi { MPI_AUTO, MPI_MPICH, MPI_OPENMPI, MPIS };
#define MPI_WORDS "auto|mpich|openmpi"

extern const char *const mpi_names[MPIS];

/* The program in the build tree or installed; NULL where there is none for that MPI. */
char *launcher_program(const char *name, enum mpi mpi);

/* The MPI whose launcher has started us; MPI_AUTO if none has. */
enum mpi launcher_mpi_around(void);

/* The MPI to run with and the path of the program; MPI_AUTO and NULL where there is none. */
enum mpi launcher_choose(const char *name, int wanted, char **path);

/* mpiexec.mpich where there is one, else mpiexec; NULL where there is neither. */
char *launcher_path(enum mpi mpi);

#endif
