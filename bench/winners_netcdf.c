/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The NetCDF program of the winners benchmark (NetCDF-4, so HDF5 through MPI-IO):
 *
 *	winners_netcdf FILE
 */
#include <netcdf.h>
#include <netcdf_par.h>

#include "winners_columns.h"

static void must(int code, const char *what)
{
	if (code == NC_NOERR)
		return;
	fprintf(stderr, "winners_netcdf: %s: %s\n", what, nc_strerror(code));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_file(const char *path, int rank, int ranks)
{
	size_t start[] = { 0, (size_t)rank * COLUMNS }, count[] = { ROWS, COLUMNS };
	int file, dims[2], ids[VARIABLES];
	char name[16];

	must(nc_create_par(path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file),
	     path);
	must(nc_def_dim(file, "row", ROWS, &dims[0]), "row");
	must(nc_def_dim(file, "column", (size_t)ranks * COLUMNS, &dims[1]), "column");
	for (int i = 0; i < VARIABLES; i++) {
		snprintf(name, sizeof(name), "v%d", i);
		must(nc_def_var(file, name, NC_FLOAT, 2, dims, &ids[i]), name);
	}
	must(nc_enddef(file), "enddef");
	for (int i = 0; i < VARIABLES; i++) {
		columns_fill(i, rank);
		must(nc_var_par_access(file, ids[i], NC_COLLECTIVE), "access");
		must(nc_put_vara_float(file, ids[i], start, count, columns_values), "put");
	}
	must(nc_close(file), "close");
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
	columns_report("winners_netcdf", begin);
	MPI_Finalize();
	return 0;
}
