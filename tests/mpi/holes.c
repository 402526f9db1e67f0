/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Updates a shared file by collective writes with holes, which are where OMPIO loses data if it has
 * several aggregators: `holes FILE [WHEN KEY VALUE]`. WHEN is the call at which the program itself
 * sets a hint: open, info or view (MPI_File_open, MPI_File_set_info, MPI_File_set_view). Rank 0
 * prints the hints of the open file, and "wrong N" if N bytes of the file are not what they should
 * be.
 */
#include <mpi.h>

#include "must.h"

#define PIECE 1000 /* bytes that a rank writes in one place */
#define STRIDE 3000
#define PIECES 500 /* of each rank in a round */
#define ROUNDS 2

static unsigned char buffer[PIECE * PIECES];

static unsigned char old_byte(long long at)
{
	return (unsigned char)(at * 7 + 1);
}

static unsigned char new_byte(long long at)
{
	return (unsigned char)(at * 13 + 5);
}

static long long file_bytes(void)
{
	return (long long)STRIDE * PIECES * ranks * ROUNDS;
}

static void hints_print(MPI_File file)
{
	char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
	int n = 0, found;
	MPI_Info used;

	MPI_MUST(MPI_File_get_info(file, &used));
	MPI_MUST(MPI_Info_get_nkeys(used, &n));
	for (int i = 0; i < n; i++) {
		MPI_MUST(MPI_Info_get_nthkey(used, i, key));
		MPI_MUST(MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &found));
		printf("hint %s=%s\n", key, value);
	}
	MPI_Info_free(&used);
}

/* Every byte has its old value before the rounds. */
static void file_fill(const char *path)
{
	FILE *file = fopen(path, "wb");

	MUST(file);
	for (long long at = 0; at < file_bytes(); at += STRIDE) {
		for (int i = 0; i < STRIDE; i++)
			buffer[i] = old_byte(at + i);
		MUST(fwrite(buffer, STRIDE, 1, file) == 1);
	}
	MUST(fclose(file) == 0);
}

/* Each rank writes the first bytes of every ranks-th stride. */
static void round_write(MPI_File file, int number, MPI_Info info)
{
	long long start = (long long)number * STRIDE * PIECES * ranks + (long long)rank * STRIDE;
	MPI_Datatype view;

	for (long long i = 0; i < PIECE * PIECES; i++)
		buffer[i] = new_byte(start + i / PIECE * STRIDE * ranks + i % PIECE);
	MPI_MUST(MPI_Type_vector(PIECES, PIECE, STRIDE * ranks, MPI_BYTE, &view));
	MPI_MUST(MPI_Type_commit(&view));
	MPI_MUST(MPI_File_set_view(file, start, MPI_BYTE, view, "native", info));
	MPI_MUST(MPI_File_write_all(file, buffer, PIECE * PIECES, MPI_BYTE, MPI_STATUS_IGNORE));
	MPI_MUST(MPI_Type_free(&view));
}

static void file_check(const char *path)
{
	FILE *file = fopen(path, "rb");
	long long wrong = 0, at = 0;

	MUST(file);
	for (; fread(buffer, STRIDE, 1, file) == 1; at += STRIDE)
		for (int i = 0; i < STRIDE; i++)
			wrong += buffer[i] != (i < PIECE ? new_byte(at + i) : old_byte(at + i));
	fclose(file);
	wrong += at != file_bytes();
	if (wrong)
		printf("wrong %lld\n", wrong);
}

int main(int argc, char **argv)
{
	MPI_Info own = MPI_INFO_NULL;
	const char *when;
	MPI_File file;

	world_begin(&argc, &argv);
	MUST(argc > 1);
	when = argc > 4 ? argv[2] : "";
	if (*when) {
		MPI_MUST(MPI_Info_create(&own));
		MPI_MUST(MPI_Info_set(own, argv[3], argv[4]));
	}
	if (!rank)
		file_fill(argv[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
			       strcmp(when, "open") ? MPI_INFO_NULL : own, &file));
	if (!strcmp(when, "info"))
		MPI_MUST(MPI_File_set_info(file, own));
	if (!rank)
		hints_print(file);
	for (int i = 0; i < ROUNDS; i++)
		round_write(file, i, strcmp(when, "view") ? MPI_INFO_NULL : own);
	MPI_MUST(MPI_File_close(&file));
	if (!rank)
		file_check(argv[1]);
	if (own != MPI_INFO_NULL)
		MPI_Info_free(&own);
	MPI_Finalize();
	return 0;
}
