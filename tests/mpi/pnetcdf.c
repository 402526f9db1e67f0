/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PnetCDF: blocking calls, collective and independent, and non-blocking calls: iput, iget and bput,
 * completed by wait and wait_all, by their ids or all at once. Each rank has one row.
 */
#include <mpi.h>
#include <pnetcdf.h>

#include "must.h"

#define N 64
#define PIECES 4
#define PATH "pnetcdf.nc"

#define NC_MUST(call) must_nc((call), __LINE__, #call)

static void must_nc(int code, int line, const char *what)
{
	if (code != NC_NOERR)
		must_fail(__FILE__, line, what, ncmpi_strerror(code));
}

static int file, numbers;
static int out[N], in[N];

static MPI_Offset row_start[2], row_count[2] = { 1, N };

static void file_make(void)
{
	int dims[2], version = 7;

	NC_MUST(ncmpi_create(MPI_COMM_WORLD, PATH, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
			     &file));
	NC_MUST(ncmpi_def_dim(file, "rank", ranks, &dims[0]));
	NC_MUST(ncmpi_def_dim(file, "place", N, &dims[1]));
	NC_MUST(ncmpi_def_var(file, "numbers", NC_INT, 2, dims, &numbers));
	NC_MUST(ncmpi_put_att_int(file, NC_GLOBAL, "version", NC_INT, 1, &version));
	NC_MUST(ncmpi_enddef(file));
	row_start[0] = rank;
}

static void row_expect(int seed)
{
	MUST(numbers_are(in, N, seed));
	memset(in, 0, sizeof(in));
}

static void row_read(int seed)
{
	NC_MUST(ncmpi_get_vara_int_all(file, numbers, row_start, row_count, in));
	row_expect(seed);
}

static void collective(void)
{
	MPI_Offset half[] = { 1, N / 2 }, stride[] = { 1, 2 }, odd[] = { rank, 1 };
	MPI_Offset spread[] = { N, 2 }, first[] = { rank, 0 };
	MPI_Offset *starts[] = { first, odd };

	numbers_make(out, N, rank);
	NC_MUST(ncmpi_put_vara_int_all(file, numbers, row_start, row_count, out));
	row_read(rank);
	numbers_make(out, N, ranks + rank);
	NC_MUST(ncmpi_put_varm_int_all(file, numbers, row_start, half, stride, spread, out));
	NC_MUST(ncmpi_put_varm_int_all(file, numbers, odd, half, stride, spread, out + 1));
	row_read(ranks + rank);
	/* Two single elements by one call. */
	NC_MUST(ncmpi_put_varn_int_all(file, numbers, 2, starts, NULL, out));
	NC_MUST(ncmpi_get_vars_int_all(file, numbers, row_start, half, stride, in));
	for (int i = 0; i < N / 2; i++)
		MUST(in[i] == out[2 * i]);
	/* With an MPI type instead of a C type. */
	NC_MUST(ncmpi_get_vara_all(file, numbers, row_start, row_count, in, N, MPI_INT));
	row_expect(ranks + rank);
}

static void independent(void)
{
	numbers_make(out, N, 2 * ranks + rank);
	NC_MUST(ncmpi_begin_indep_data(file));
	NC_MUST(ncmpi_put_vara_int(file, numbers, row_start, row_count, out));
	NC_MUST(ncmpi_put_var1_int(file, numbers, row_start, out));
	NC_MUST(ncmpi_get_vara_int(file, numbers, row_start, row_count, in));
	row_expect(2 * ranks + rank);
	NC_MUST(ncmpi_end_indep_data(file));
}

/* The row in pieces with one request each. */
static void pieces_begin(bool write, bool buffered, int *requests)
{
	for (int p = 0; p < PIECES; p++) {
		MPI_Offset start[] = { rank, p * N / PIECES }, count[] = { 1, N / PIECES };
		int *o = out + p * N / PIECES, *i = in + p * N / PIECES;

		if (write && buffered)
			NC_MUST(ncmpi_bput_vara_int(file, numbers, start, count, o, &requests[p]));
		else if (write)
			NC_MUST(ncmpi_iput_vara_int(file, numbers, start, count, o, &requests[p]));
		else
			NC_MUST(ncmpi_iget_vara_int(file, numbers, start, count, i, &requests[p]));
	}
}

static void statuses_expect(const int *statuses)
{
	for (int p = 0; p < PIECES; p++)
		NC_MUST(statuses[p]);
}

static void by_ids(int seed)
{
	int requests[PIECES], statuses[PIECES];

	numbers_make(out, N, seed);
	pieces_begin(true, false, requests);
	NC_MUST(ncmpi_wait_all(file, PIECES, requests, statuses));
	statuses_expect(statuses);
	pieces_begin(false, false, requests);
	NC_MUST(ncmpi_wait_all(file, PIECES, requests, statuses));
	statuses_expect(statuses);
	row_expect(seed);
}

static void all_at_once(int seed)
{
	int requests[PIECES];

	numbers_make(out, N, seed);
	pieces_begin(true, false, requests);
	NC_MUST(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
	pieces_begin(false, false, requests);
	NC_MUST(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
	row_expect(seed);
}

/* The program may change its data as soon as bput has returned. */
static void buffered(int seed)
{
	int requests[PIECES], statuses[PIECES];

	NC_MUST(ncmpi_buffer_attach(file, sizeof(out)));
	numbers_make(out, N, seed);
	pieces_begin(true, true, requests);
	memset(out, 0, sizeof(out));
	NC_MUST(ncmpi_wait_all(file, PIECES, requests, statuses));
	statuses_expect(statuses);
	NC_MUST(ncmpi_buffer_detach(file));
	row_read(seed);
}

/* Independent calls; one request is canceled. */
static void independent_wait(int seed)
{
	int requests[PIECES], statuses[PIECES], given_up, status;

	NC_MUST(ncmpi_begin_indep_data(file));
	numbers_make(out, N, seed);
	pieces_begin(true, false, requests);
	NC_MUST(ncmpi_iput_var1_int(file, numbers, row_start, in, &given_up));
	NC_MUST(ncmpi_cancel(file, 1, &given_up, &status));
	NC_MUST(ncmpi_wait(file, PIECES, requests, statuses));
	statuses_expect(statuses);
	pieces_begin(false, false, requests);
	NC_MUST(ncmpi_wait(file, NC_REQ_ALL, NULL, NULL));
	row_expect(seed);
	NC_MUST(ncmpi_end_indep_data(file));
}

static void reopen(int seed)
{
	int version;

	NC_MUST(ncmpi_sync(file));
	NC_MUST(ncmpi_close(file));
	NC_MUST(ncmpi_open(MPI_COMM_WORLD, PATH, NC_NOWRITE, MPI_INFO_NULL, &file));
	NC_MUST(ncmpi_inq_varid(file, "numbers", &numbers));
	NC_MUST(ncmpi_get_att_int(file, NC_GLOBAL, "version", &version));
	MUST(version == 7);
	row_read(seed);
	NC_MUST(ncmpi_close(file));
}

int main(int argc, char **argv)
{
	world_begin(&argc, &argv);
	file_make();
	collective();
	independent();
	by_ids(3 * ranks + rank);
	all_at_once(4 * ranks + rank);
	buffered(5 * ranks + rank);
	independent_wait(6 * ranks + rank);
	reopen(6 * ranks + rank);
	file_remove(PATH);
	return MPI_Finalize();
}
