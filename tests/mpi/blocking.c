/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The blocking functions of MPI-IO with explicit offsets and individual file pointers, and the
 * functions that get or set properties: size, view, info, mode, group, atomicity, error handlers.
 */
#include <mpi.h>

#include "must.h"

#define N 256
#define PATH "blocking.dat"

static int out[N], in[N];

static MPI_Offset own_place(void)
{
	return (MPI_Offset)rank * N * (MPI_Offset)sizeof(int);
}

static MPI_File file_open(int mode)
{
	MPI_File f;
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", "1048576");
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, PATH, mode, info, &f));
	MPI_Info_free(&info);
	return f;
}

static void data_expect(int seed, const MPI_Status *status)
{
	MUST(moved(status, N));
	MUST(numbers_are(in, N, seed));
	memset(in, 0, sizeof(in));
}

static void explicit_offsets(MPI_File f)
{
	MPI_Status status;

	numbers_make(out, N, rank);
	MPI_MUST(MPI_File_write_at(f, own_place(), out, N, MPI_INT, &status));
	MUST(moved(&status, N));
	MPI_MUST(MPI_File_read_at(f, own_place(), in, N, MPI_INT, &status));
	data_expect(rank, &status);

	numbers_make(out, N, ranks + rank);
	MPI_MUST(MPI_File_write_at_all(f, own_place(), out, N, MPI_INT, &status));
	MUST(moved(&status, N));
	MPI_MUST(MPI_File_read_at_all(f, own_place(), in, N, MPI_INT, &status));
	data_expect(ranks + rank, &status);
}

static void individual_pointers(MPI_File f)
{
	MPI_Status status;
	MPI_Offset at;

	numbers_make(out, N, 2 * ranks + rank);
	MPI_MUST(MPI_File_seek(f, own_place(), MPI_SEEK_SET));
	MPI_MUST(MPI_File_write(f, out, N, MPI_INT, &status));
	MPI_MUST(MPI_File_get_position(f, &at));
	MUST(at == own_place() + (MPI_Offset)sizeof(out));
	MPI_MUST(MPI_File_seek(f, -(MPI_Offset)sizeof(out), MPI_SEEK_CUR));
	MPI_MUST(MPI_File_read(f, in, N, MPI_INT, &status));
	data_expect(2 * ranks + rank, &status);

	numbers_make(out, N, 3 * ranks + rank);
	MPI_MUST(MPI_File_seek(f, own_place(), MPI_SEEK_SET));
	MPI_MUST(MPI_File_write_all(f, out, N, MPI_INT, &status));
	MUST(moved(&status, N));
	MPI_MUST(MPI_File_seek(f, own_place(), MPI_SEEK_SET));
	MPI_MUST(MPI_File_read_all(f, in, N, MPI_INT, &status));
	data_expect(3 * ranks + rank, &status);
}

/* Each rank sees every ranks-th number. Data written through the view is read without it. */
static void views(MPI_File f)
{
	MPI_Datatype every, etype, filetype;
	MPI_Offset displacement, byte;
	MPI_Aint extent;
	char representation[MPI_MAX_DATAREP_STRING];
	MPI_Status status;
	int *all = calloc((size_t)N * (size_t)ranks, sizeof(int));

	MUST(all);
	MPI_Type_vector(N, 1, ranks, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_MUST(MPI_File_set_view(f, rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native",
				   MPI_INFO_NULL));
	MPI_MUST(MPI_File_get_view(f, &displacement, &etype, &filetype, representation));
	MUST(displacement == rank * (MPI_Offset)sizeof(int) && !strcmp(representation, "native"));
	MPI_MUST(MPI_File_get_byte_offset(f, 1, &byte));
	MUST(byte == (ranks + rank) * (MPI_Offset)sizeof(int));
	MPI_MUST(MPI_File_get_type_extent(f, MPI_INT, &extent));
	MUST(extent == (MPI_Aint)sizeof(int));

	numbers_make(out, N, 4 * ranks + rank);
	MPI_MUST(MPI_File_write_all(f, out, N, MPI_INT, &status));
	MUST(moved(&status, N));
	MPI_MUST(MPI_File_sync(f));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_MUST(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	MPI_MUST(MPI_File_read_at(f, 0, all, N * ranks, MPI_INT, &status));
	for (int i = 0; i < N * ranks; i++)
		MUST(all[i] == number_at(4 * ranks + i % ranks, i / ranks));
	MPI_Type_free(&every);
	if (filetype != every && filetype != MPI_INT)
		MPI_Type_free(&filetype);
	free(all);
}

static void sizes(MPI_File f)
{
	MPI_Offset size, whole = (MPI_Offset)ranks * N * (MPI_Offset)sizeof(int);

	/* Collective calls need not synchronize: no rank may resize the file before all have read
	 * it. */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_MUST(MPI_File_set_size(f, whole / 2));
	MPI_MUST(MPI_File_get_size(f, &size));
	MUST(size == whole / 2);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_MUST(MPI_File_preallocate(f, whole * 2));
	MPI_MUST(MPI_File_get_size(f, &size));
	MUST(size == whole * 2);
}

static void properties(MPI_File f)
{
	MPI_Info info;
	MPI_Group group;
	int mode, n, atomic, known;

	MPI_MUST(MPI_File_get_amode(f, &mode));
	MUST(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
	MPI_MUST(MPI_File_get_group(f, &group));
	MPI_Group_size(group, &n);
	MUST(n == ranks);
	MPI_Group_free(&group);
	MPI_MUST(MPI_File_get_info(f, &info));
	MPI_MUST(MPI_Info_get_nkeys(info, &known));
	MPI_MUST(MPI_File_set_info(f, info));
	MPI_Info_free(&info);
	MPI_MUST(MPI_File_set_atomicity(f, 1));
	MPI_MUST(MPI_File_get_atomicity(f, &atomic));
	MUST(atomic == 1);
	MPI_MUST(MPI_File_set_atomicity(f, 0));
	MUST(MPI_File_f2c(MPI_File_c2f(f)) == f);
}

static int handled;

static void count_error(MPI_File *f, int *code, ...)
{
	(void)f, (void)code;
	handled++;
}

static void error_handlers(MPI_File f)
{
	MPI_Errhandler ours, before, now;
	MPI_File none;

	MPI_MUST(MPI_File_get_errhandler(f, &before));
	MUST(before == MPI_ERRORS_RETURN);
	MPI_MUST(MPI_File_create_errhandler(count_error, &ours));
	MPI_MUST(MPI_File_set_errhandler(f, ours));
	MPI_MUST(MPI_File_get_errhandler(f, &now));
	MPI_MUST(MPI_File_call_errhandler(f, MPI_ERR_FILE));
	MUST(handled == 1);
	MPI_MUST(MPI_File_set_errhandler(f, before));
	MPI_Errhandler_free(&ours);
	/* Failures return error codes. */
	MUST(MPI_File_open(MPI_COMM_SELF, "no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL,
			   &none) != MPI_SUCCESS);
	MUST(MPI_File_delete("no/such/folder/file", MPI_INFO_NULL) != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
	MPI_File f;

	world_begin(&argc, &argv);
	f = file_open(MPI_MODE_CREATE | MPI_MODE_RDWR);
	explicit_offsets(f);
	individual_pointers(f);
	views(f);
	properties(f);
	error_handlers(f);
	sizes(f);
	MPI_MUST(MPI_File_close(&f));
	MUST(f == MPI_FILE_NULL);
	file_remove(PATH);
	return MPI_Finalize();
}
