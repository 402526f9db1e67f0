/* SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: climate STEPS WORK posix|mpi|both
 *
 * Like a climate model: each of STEPS steps computes WORK rounds on a small field, which is a fixed
 * amount of work and not of time, and exchanges a norm. Every tenth step writes the field: to a
 * shared file by MPI-IO (mpi), to a file of the rank by POSIX calls (posix), or to both. With
 * "posix" it does not use MPI at all. Rank 0 prints the norm. The files are removed.
 * Papers: SIOX-59.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 4096, EVERY = 10 };

static double field[CELLS], next[CELLS];

static double compute(long work)
{
	double sum = 0;

	for (long round = 0; round < work; round++) {
		for (int i = 0; i < CELLS; i++)
			next[i] = 0.25 * field[(i + CELLS - 1) % CELLS] + 0.5 * field[i] +
				  0.25 * field[(i + 1) % CELLS];
		for (int i = 0; i < CELLS; i++)
			field[i] = next[i];
	}
	for (int i = 0; i < CELLS; i++)
		sum += field[i] * field[i];
	return sum;
}

static void write_own(int own)
{
	if (write(own, field, sizeof(field)) != (ssize_t)sizeof(field))
		exit(1);
}

static int open_own(void)
{
	char name[64];
	int own;

	snprintf(name, sizeof(name), "climate.%ld", (long)getpid());
	own = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (own < 0 || unlink(name) != 0)
		exit(1);
	return own;
}

static void fill_field(int rank)
{
	for (int i = 0; i < CELLS; i++)
		field[i] = (i * 7 + rank) % 13;
}

static double run_alone(int steps, long work)
{
	int own = open_own();
	double norm = 0;

	fill_field(0);
	for (int step = 0; step < steps; step++) {
		norm = compute(work);
		if (step % EVERY == EVERY - 1)
			write_own(own);
	}
	close(own);
	return norm;
}

/* own: the file of the rank; negative: none. */
static double run_ranks(int steps, long work, int rank, int ranks, int own)
{
	double norm = 0, sum;
	MPI_File file;

	fill_field(rank);
	if (MPI_File_open(MPI_COMM_WORLD, "climate.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY,
			  MPI_INFO_NULL, &file) != MPI_SUCCESS)
		exit(1);
	for (int step = 0; step < steps; step++) {
		sum = compute(work);
		MPI_Allreduce(&sum, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (step % EVERY != EVERY - 1)
			continue;
		if (own >= 0)
			write_own(own);
		MPI_File_write_at_all(file,
				      ((MPI_Offset)(step / EVERY) * ranks + rank) *
					      (MPI_Offset)sizeof(field),
				      field, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
	}
	MPI_File_close(&file);
	return norm;
}

int main(int argc, char **argv)
{
	int rank, ranks, own;
	double norm;

	if (argc != 4)
		return 2;
	if (strcmp(argv[3], "posix") == 0) {
		printf("norm %.6g\n", run_alone(atoi(argv[1]), atol(argv[2])));
		return 0;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	own = strcmp(argv[3], "both") == 0 ? open_own() : -1;
	norm = run_ranks(atoi(argv[1]), atol(argv[2]), rank, ranks, own);
	if (own >= 0)
		close(own);
	if (!rank) {
		printf("norm %.6g\n", norm);
		unlink("climate.dat");
	}
	MPI_Finalize();
	return 0;
}
