/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NetCDF: the put and get families (var, var1, vara, vars, varm) for several types, attributes, and
 * the change between definition and data mode. One source for the serial library without MPI, in
 * the classic and the HDF5 format, and for the parallel library (HDF5 format), where each rank has
 * one row of every variable.
 */
#include <netcdf.h>
#include <netcdf_meta.h>
#if NC_HAS_PARALLEL4
#include <mpi.h>
#include <netcdf_par.h>
#endif

#include "must.h"

#define N 64
#define PATH "netcdf.nc"

#define NC_MUST(call) must_nc((call), __LINE__, #call)

static void must_nc(int code, int line, const char *what)
{
	if (code != NC_NOERR)
		must_fail(__FILE__, line, what, nc_strerror(code));
}

#if !NC_HAS_PARALLEL4
static const int rank = 0, ranks = 1;
#endif

static int file, numbers, reals, letters;
static int ints_out[N], ints_in[N];
static double reals_out[N], reals_in[N];
static char letters_out[N], letters_in[N];

static void make_data(void)
{
	numbers_make(ints_out, N, rank);
	for (int i = 0; i < N; i++) {
		reals_out[i] = ints_out[i] / 8.0;
		letters_out[i] = (char)('a' + (i + rank) % 26);
	}
}

static void clear_data(void)
{
	memset(ints_in, 0, sizeof(ints_in));
	memset(reals_in, 0, sizeof(reals_in));
	memset(letters_in, 0, sizeof(letters_in));
}

static void file_create(int format)
{
#if NC_HAS_PARALLEL4
	NC_MUST(nc_create_par(PATH, NC_CLOBBER | format, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
#else
	NC_MUST(nc_create(PATH, NC_CLOBBER | format, &file));
#endif
}

static void file_open(void)
{
#if NC_HAS_PARALLEL4
	NC_MUST(nc_open_par(PATH, NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
#else
	NC_MUST(nc_open(PATH, NC_WRITE, &file));
#endif
}

/* The default of HDF5 is independent access; the variables use both kinds. */
static void access_collective(bool yes)
{
#if NC_HAS_PARALLEL4
	NC_MUST(nc_var_par_access(file, numbers, yes ? NC_COLLECTIVE : NC_INDEPENDENT));
	NC_MUST(nc_var_par_access(file, reals, yes ? NC_COLLECTIVE : NC_INDEPENDENT));
#else
	(void)yes;
#endif
}

static void define(void)
{
	int dims[2], of_file = 7;

	NC_MUST(nc_def_dim(file, "rank", (size_t)ranks, &dims[0]));
	NC_MUST(nc_def_dim(file, "place", N, &dims[1]));
	NC_MUST(nc_def_var(file, "numbers", NC_INT, 2, dims, &numbers));
	NC_MUST(nc_def_var(file, "reals", NC_DOUBLE, 2, dims, &reals));
	NC_MUST(nc_def_var(file, "letters", NC_CHAR, 2, dims, &letters));
	NC_MUST(nc_put_att_text(file, numbers, "units", 2, "km"));
	NC_MUST(nc_put_att_int(file, NC_GLOBAL, "version", NC_INT, 1, &of_file));
	NC_MUST(nc_enddef(file));
}

/* Each row in three ways: the even elements by a stride, then the odd ones, and a single one. */
static void put(void)
{
	size_t start[] = { (size_t)rank, 0 }, odd[] = { (size_t)rank, 1 };
	size_t row[] = { 1, N }, half[] = { 1, N / 2 };
	ptrdiff_t stride[] = { 1, 2 }, spread[] = { N, 2 };

	access_collective(true);
	NC_MUST(nc_put_vara_int(file, numbers, start, row, ints_out));
	NC_MUST(nc_put_varm_double(file, reals, start, half, stride, spread, reals_out));
	NC_MUST(nc_put_varm(file, reals, odd, half, stride, spread, reals_out + 1));
	access_collective(false);
	NC_MUST(nc_put_vara_text(file, letters, start, row, letters_out));
	NC_MUST(nc_put_vars_text(file, letters, start, half, stride,
				 "................................"));
	NC_MUST(nc_put_var1_int(file, numbers, odd, &ints_out[1]));
	for (size_t i = 0; i < N; i += 2)
		NC_MUST(nc_put_var1_text(file, letters, (size_t[]){ (size_t)rank, i },
					 &letters_out[i]));
	NC_MUST(nc_sync(file));
}

static void data_expect(void)
{
	MUST(!memcmp(ints_in, ints_out, sizeof(ints_in)));
	MUST(!memcmp(reals_in, reals_out, sizeof(reals_in)));
	MUST(!memcmp(letters_in, letters_out, sizeof(letters_in)));
	clear_data();
}

static void get(void)
{
	size_t start[] = { (size_t)rank, 0 }, odd[] = { (size_t)rank, 1 };
	size_t row[] = { 1, N }, half[] = { 1, N / 2 };
	ptrdiff_t stride[] = { 1, 2 }, spread[] = { N, 2 };
	int version;

	NC_MUST(nc_get_att_int(file, NC_GLOBAL, "version", &version));
	MUST(version == 7);
	clear_data();
	NC_MUST(nc_get_vara(file, numbers, start, row, ints_in));
	NC_MUST(nc_get_varm_double(file, reals, start, half, stride, spread, reals_in));
	NC_MUST(nc_get_varm_double(file, reals, odd, half, stride, spread, reals_in + 1));
	NC_MUST(nc_get_vara_text(file, letters, start, row, letters_in));
	data_expect();
}

/* A whole variable at once, and numbers read as another type. */
static void get_whole(void)
{
	int *all = calloc((size_t)ranks * N, sizeof(int));
	double one;
	short half[N / 2];

	MUST(all);
	NC_MUST(nc_get_var_int(file, numbers, all));
	for (int r = 0; r < ranks; r++)
		MUST(numbers_are(all + (ptrdiff_t)r * N, N, r));
	NC_MUST(nc_get_var1_double(file, numbers, (size_t[]){ (size_t)rank, 3 }, &one));
	MUST(one == (double)ints_out[3]);
	if (!rank) {
		NC_MUST(nc_get_vars_short(file, numbers, (size_t[]){ 0, 0 }, (size_t[]){ 1, N / 2 },
					  (ptrdiff_t[]){ 1, 2 }, half));
		for (int i = 0; i < N / 2; i++)
			MUST(half[i] == ints_out[2 * i]);
	}
	free(all);
}

/* Back to definition mode; in classic files this moves data to make room. */
static void define_more(void)
{
	NC_MUST(nc_redef(file));
	NC_MUST(nc_put_att_text(file, NC_GLOBAL, "history", 12, "defined more"));
	NC_MUST(nc_enddef(file));
	get();
}

/* One process writes whole variables by one call each. */
static void put_whole(void)
{
	if (ranks > 1)
		return;
	NC_MUST(nc_put_var_int(file, numbers, ints_out));
	NC_MUST(nc_put_var_double(file, reals, reals_out));
	NC_MUST(nc_put_var_text(file, letters, letters_out));
	get();
}

static void format_run(int format)
{
	file_create(format);
	define();
	put();
	NC_MUST(nc_close(file));
	file_open();
	get();
	get_whole();
	define_more();
	put_whole();
	NC_MUST(nc_close(file));
}

int main(int argc, char **argv)
{
#if NC_HAS_PARALLEL4
	world_begin(&argc, &argv);
#else
	(void)argc, (void)argv;
#endif
	make_data();
	format_run(NC_NETCDF4);
#if NC_HAS_PARALLEL4
	MPI_Barrier(MPI_COMM_WORLD);
	MUST(rank || !unlink(PATH));
	MPI_Finalize();
#else
	format_run(0);
	format_run(NC_64BIT_OFFSET);
	MUST(!unlink(PATH));
#endif
	return 0;
}
