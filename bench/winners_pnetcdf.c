/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PnetCDF program of the winners benchmark:
 *
 *	winners_pnetcdf FILE
 */
#include <pnetcdf.h>

#include "winners_columns.h"

static void must(int code, const char *what)
{
	if (code == NC_NOERR)
		return;
	fprintf(stderr, "winners_pnetcdf: %s: %s\n", what, ncmpi_strerror(code));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_file(const char *path, int rank, int ranks)
{
	MPI_Offset start[] = { 0, (MPI_Offset)rank * COLUMNS }, count[] = { ROWS, COLUMNS };
	int file, dims[2], ids[VARIABLES];
	char name[16];

	must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
	     path);
	must(ncmpi_def_dim(file, "row", ROWS, &dims[0]), "row");
	must(ncmpi_def_dim(file, "column", (MPI_Offset)ranks * COLUMNS, &dims[1]), "column");
	for (int i = 0; i < VARIABLES; i++) {
		snprintf(name, sizeof(name), "v%d", i);
		must(ncmpi_def_var(file, name, NC_FLOAT, 2, dims, &ids[i]), name);
	}
	must(ncmpi_enddef(file), "enddef");
	for (int i = 0; i < VARIABLES; i++) {
		columns_fill(i, rank);
		must(ncmpi_put_vara_float_all(file, ids[i], start, count, columns_values), "put");
	}
	must(ncmpi_close(file), "close");
}

int main(int argc, char **argv)
{
	double begin;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	begin = MPI_Wtime();
	write_file(argv[1], rank, ranks);
	columns_report("winners_pnetcdf", begin);
	MPI_Finalize();
	return 0;
}
