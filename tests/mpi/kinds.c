/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Alternates two kinds of accesses to open files: large contiguous ones and small strided ones.
 * `kinds ROUNDS [set-info|begin] [KEY=VALUE]...`. All ranks share the file kinds.dat; in
 * kinds.dat.RANK the same accesses are made by one rank alone, and independent. After each access,
 * the rank appends the hints in effect to the file effective.RANK: "FILE KIND CB_WRITE DS_WRITE".
 * set-info: the program sets hints of the open file itself. begin: it makes a split collective
 * access after the first round.
 */
#include <mpi.h>

#include "must.h"

#define LARGE 65536 /* numbers of a contiguous access */
#define PIECE 64    /* numbers of one piece of a strided access */
#define PIECES 8
#define SMALL (PIECE * PIECES)

static MPI_Info info = MPI_INFO_NULL;
static FILE *effective;

static void write_effective(MPI_File file, const char *name, const char *kind)
{
	static const char *const keys[] = { "romio_cb_write", "romio_ds_write" };
	char value[64];
	MPI_Info now;
	int is_set;

	MPI_MUST(MPI_File_get_info(file, &now));
	fprintf(effective, "%s %s", name, kind);
	for (int i = 0; i < 2; i++) {
		MPI_MUST(MPI_Info_get(now, keys[i], sizeof(value) - 1, value, &is_set));
		fprintf(effective, " %s", is_set ? value : "-");
	}
	fprintf(effective, "\n");
	MPI_MUST(MPI_Info_free(&now));
}

/* Writes and reads back numbers through the view; alone: by independent calls. */
static void transfer(MPI_File file, MPI_Offset at, int n, int seed, int alone)
{
	static int numbers[LARGE], back[LARGE];
	MPI_Status status;

	numbers_make(numbers, n, seed);
	if (alone) {
		MPI_MUST(MPI_File_write_at(file, at, numbers, n, MPI_INT, &status));
		MPI_MUST(MPI_File_read_at(file, at, back, n, MPI_INT, &status));
	} else {
		MPI_MUST(MPI_File_write_at_all(file, at, numbers, n, MPI_INT, &status));
		MPI_MUST(MPI_File_read_at_all(file, at, back, n, MPI_INT, &status));
	}
	MUST(moved(&status, n) && numbers_are(back, n, seed));
}

static MPI_Offset block_bytes(int members)
{
	return (MPI_Offset)members * (LARGE + SMALL) * (MPI_Offset)sizeof(int);
}

/* A round has a block of contiguous parts of all members, and a block of interleaved pieces. */
static void make_round(MPI_File file, const char *name, int round, int member, int members,
		       int alone)
{
	MPI_Offset begin = round * block_bytes(members);
	MPI_Datatype pieces;

	MPI_MUST(MPI_File_set_view(file, begin, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	transfer(file, (MPI_Offset)member * LARGE, LARGE, round * 100 + rank, alone);
	write_effective(file, name, "contiguous");
	MPI_MUST(MPI_Type_vector(PIECES, PIECE, PIECE * (members + alone), MPI_INT, &pieces));
	MPI_MUST(MPI_Type_commit(&pieces));
	begin += (MPI_Offset)(members * LARGE + member * PIECE) * (MPI_Offset)sizeof(int);
	MPI_MUST(MPI_File_set_view(file, begin, MPI_INT, pieces, "native", MPI_INFO_NULL));
	transfer(file, 0, SMALL, round * 100 + 50 + rank, alone);
	write_effective(file, name, "strided");
	MPI_MUST(MPI_Type_free(&pieces));
}

static void set_info(MPI_File file)
{
	MPI_Info own;

	MPI_MUST(MPI_Info_create(&own));
	MPI_MUST(MPI_Info_set(own, "cb_buffer_size", "1048576"));
	MPI_MUST(MPI_File_set_info(file, own));
	MPI_MUST(MPI_Info_free(&own));
}

static void write_split(MPI_File file)
{
	int number = number_at(7, rank);
	MPI_Status status;

	MPI_MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	MPI_MUST(MPI_File_write_at_all_begin(file, rank, &number, 1, MPI_INT));
	MPI_MUST(MPI_File_write_at_all_end(file, &number, &status));
}

static void use_file(MPI_Comm comm, const char *path, int rounds, const char *extra)
{
	int member, members, alone;
	MPI_File file;

	MPI_Comm_rank(comm, &member);
	MPI_Comm_size(comm, &members);
	alone = members == 1;
	MPI_MUST(MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file));
	/* Beyond the end of a file, data sieving fills holes with whatever its buffer holds. */
	MPI_MUST(MPI_File_set_size(file, (rounds + 1) * block_bytes(members)));
	/* Invalid handles must cause an error and not abort the program. */
	MUST(MPI_File_write_at_all(MPI_FILE_NULL, 0, &member, 1, MPI_INT, MPI_STATUS_IGNORE) !=
	     MPI_SUCCESS);
	for (int round = 0; round < rounds; round++) {
		make_round(file, alone ? "self" : "world", round, member, members, alone);
		if (round == 0 && !strcmp(extra, "set-info"))
			set_info(file);
		if (round == 0 && !strcmp(extra, "begin"))
			write_split(file);
	}
	MPI_MUST(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
	const char *extra = argc > 2 && !strchr(argv[2], '=') ? argv[2] : "";
	char path[64];
	int rounds;

	world_begin(&argc, &argv);
	MUST(argc > 1);
	rounds = atoi(argv[1]);
	if (argc > 2 + !!*extra)
		MPI_MUST(MPI_Info_create(&info));
	for (int i = 2 + !!*extra; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		MUST(equals);
		*equals = 0;
		MPI_MUST(MPI_Info_set(info, argv[i], equals + 1));
	}
	snprintf(path, sizeof(path), "effective.%d", rank);
	effective = fopen(path, "w");
	MUST(effective);
	use_file(MPI_COMM_WORLD, "kinds.dat", rounds, extra);
	snprintf(path, sizeof(path), "kinds.dat.%d", rank);
	use_file(MPI_COMM_SELF, path, rounds, extra);
	MUST(fclose(effective) == 0);
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
	MPI_Finalize();
	return 0;
}
