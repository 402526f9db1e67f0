/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the NetCDF and PnetCDF programs of the winners benchmark: variables of ROWS x COLUMNS
 * floats, of which each rank writes its own columns with one collective call. So a rank's part of
 * the file consists of many small pieces.
 */
#ifndef SLUICE_BENCH_WINNERS_COLUMNS_H
#define SLUICE_BENCH_WINNERS_COLUMNS_H

#include <mpi.h>
#include <stdio.h>

enum { VARIABLES = 4, ROWS = 1024, COLUMNS = 64 }; /* columns of one rank */

static float columns_values[ROWS * COLUMNS];

static inline void columns_fill(int variable, int rank)
{
	for (int i = 0; i < ROWS * COLUMNS; i++)
		columns_values[i] = (float)(variable * 1000 + rank) + (float)i / 8;
}

/* Prints the time of the slowest rank since `begin`. */
static inline void columns_report(const char *program, double begin)
{
	double mine = MPI_Wtime() - begin, most = 0;
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s seconds=%.6f\n", program, most);
}

#endif
