/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Repeats a strided collective write of 4 blocks of 64 KiB per rank, always of the same bytes:
 * `repeats ROUNDS CHANGES [KEY=VALUE]...`. All ranks share the file repeats.dat, which is opened
 * with these hints. If CHANGES is not 0, the program ends 60 rounds after the hints in effect have
 * changed so often, and after ROUNDS rounds in any case. After each write, the rank appends the
 * hints in effect to the file effective.RANK: "ROUND CB_WRITE DS_WRITE".
 */
#include <mpi.h>

#include "must.h"

#define PIECE 16384 /* numbers */
#define PIECES 4
#define NUMBERS (PIECE * PIECES)
#define FURTHER 60

static char effective[2][64];
static FILE *output;

/* Returns whether the hints in effect are others than before. */
static bool read_effective(MPI_File file, int round)
{
	static const char *const keys[] = { "romio_cb_write", "romio_ds_write" };
	bool differs = false;
	char value[64];
	MPI_Info now;
	int is_set;

	MPI_MUST(MPI_File_get_info(file, &now));
	fprintf(output, "%d", round);
	for (int i = 0; i < 2; i++) {
		MPI_MUST(MPI_Info_get(now, keys[i], sizeof(value) - 1, value, &is_set));
		if (!is_set)
			strcpy(value, "-");
		differs |= strcmp(value, effective[i]) != 0;
		strcpy(effective[i], value);
		fprintf(output, " %s", value);
	}
	fprintf(output, "\n");
	fflush(output);
	MPI_MUST(MPI_Info_free(&now));
	return differs;
}

static void write_rounds(MPI_File file, int rounds, int changes)
{
	static int numbers[NUMBERS];
	int seen = -1, left = FURTHER;
	MPI_Status status;

	numbers_make(numbers, NUMBERS, rank);
	for (int round = 0; round < rounds && left; round++) {
		MPI_MUST(MPI_File_write_at_all(file, 0, numbers, NUMBERS, MPI_INT, &status));
		MUST(moved(&status, NUMBERS));
		seen += read_effective(file, round);
		left -= changes && seen >= changes;
	}
}

int main(int argc, char **argv)
{
	MPI_Info info = MPI_INFO_NULL;
	MPI_Datatype pieces;
	char path[64];
	MPI_File file;

	world_begin(&argc, &argv);
	MUST(argc > 2);
	MPI_MUST(MPI_Info_create(&info));
	for (int i = 3; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		MUST(equals);
		*equals = 0;
		MPI_MUST(MPI_Info_set(info, argv[i], equals + 1));
	}
	snprintf(path, sizeof(path), "effective.%d", rank);
	output = fopen(path, "w");
	MUST(output);
	MPI_MUST(MPI_Type_vector(PIECES, PIECE, PIECE * ranks, MPI_INT, &pieces));
	MPI_MUST(MPI_Type_commit(&pieces));
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, "repeats.dat", MPI_MODE_RDWR | MPI_MODE_CREATE, info,
			       &file));
	MPI_MUST(MPI_File_set_view(file, (MPI_Offset)rank * PIECE * (MPI_Offset)sizeof(int),
				   MPI_INT, pieces, "native", MPI_INFO_NULL));
	write_rounds(file, atoi(argv[1]), atoi(argv[2]));
	MPI_MUST(MPI_File_close(&file));
	MUST(fclose(output) == 0);
	MPI_MUST(MPI_Type_free(&pieces));
	MPI_MUST(MPI_Info_free(&info));
	MPI_Finalize();
	return 0;
}
