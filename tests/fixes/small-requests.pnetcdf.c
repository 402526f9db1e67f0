/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each rank writes a variable of its own, element by element.
 *
 * @mpi openmpi
 * @libraries pnetcdf
 */
#include "fix.h"

#define ELEMENTS 600

static void program(void)
{
	int file, dimension, variable, variables[2];
	MPI_Offset first[1] = { 0 }, many[1] = { ELEMENTS }, elements = ELEMENTS;
	MPI_Datatype type = MPI_DOUBLE;

	MUST(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file) == NC_NOERR);
	MUST(ncmpi_def_dim(file, "x", ELEMENTS, &dimension) == NC_NOERR);
	MUST(ncmpi_def_var(file, "a", NC_DOUBLE, 1, &dimension, &variables[0]) == NC_NOERR);
	MUST(ncmpi_def_var(file, "b", NC_DOUBLE, 1, &dimension, &variables[1]) == NC_NOERR);
	MUST(ncmpi_enddef(file) == NC_NOERR);
	variable = variables[rank % 2];
#ifdef FIX
#include FIX
#else
	MUST(ncmpi_begin_indep_data(file) == NC_NOERR);
	for (; first[0] < many[0]; first[0]++)
		MUST(ncmpi_put_var1(file, variable, first, block, 1, type) == NC_NOERR);
	MUST(ncmpi_end_indep_data(file) == NC_NOERR);
	(void)elements;
#endif
	MUST(ncmpi_close(file) == NC_NOERR);
}
