/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks write their parts of a table by independent transfers of MPI-IO, and read them back:
 * `lockstep_io MODE FILE`. lockstep.h lists the modes. Half of the transfers have an offset, the
 * others use the file pointer. Rank 0 has a file of its own besides, which nobody else opens.
 */
#include <mpi.h>

#include "lockstep.h"

static MPI_Offset place_of(int row, int of)
{
	return (MPI_Offset)(row * ranks + of) * COLUMNS * (MPI_Offset)sizeof(int);
}

static void write_part(const void *table, int row, int of)
{
	MPI_File file = *(const MPI_File *)table;
	int numbers[COLUMNS];
	MPI_Status status;

	numbers_make(numbers, COLUMNS, row * ranks + of);
	if (row % 2) {
		MPI_MUST(MPI_File_seek(file, place_of(row, of), MPI_SEEK_SET));
		MPI_MUST(MPI_File_write(file, numbers, COLUMNS, MPI_INT, &status));
	} else {
		MPI_MUST(MPI_File_write_at(file, place_of(row, of), numbers, COLUMNS, MPI_INT,
					   &status));
	}
	MUST(moved(&status, COLUMNS));
}

static void read_part(MPI_File file, int row, int of)
{
	int numbers[COLUMNS];
	MPI_Status status;

	if (row % 2) {
		MPI_MUST(MPI_File_seek(file, place_of(row, of), MPI_SEEK_SET));
		MPI_MUST(MPI_File_read(file, numbers, COLUMNS, MPI_INT, &status));
	} else {
		MPI_MUST(MPI_File_read_at(file, place_of(row, of), numbers, COLUMNS, MPI_INT,
					  &status));
	}
	MUST(moved(&status, COLUMNS) && numbers_are(numbers, COLUMNS, row * ranks + of));
}

static MPI_File open_table(MPI_Comm comm, const char *path, const char *suffix, int amode)
{
	char name[4096];
	MPI_File file;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	MPI_MUST(MPI_File_open(comm, name, amode, MPI_INFO_NULL, &file));
	return file;
}

/* Nobody else takes part in these. */
static void use_own_file(const char *path)
{
	MPI_File own = open_table(MPI_COMM_SELF, path, ".own",
				  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);

	write_part(&own, 0, 0);
	read_part(own, 0, 0);
	MPI_MUST(MPI_File_close(&own));
}

int main(int argc, char **argv)
{
	const char *mode, *path;
	MPI_File files[2];

	world_begin(&argc, &argv);
	MUST(argc == 3);
	mode = current_mode(argv[1]);
	path = argv[2];
	files[0] = open_table(MPI_COMM_WORLD, path, "", MPI_MODE_CREATE | MPI_MODE_RDWR);
	if (is_mode(mode, "order"))
		files[1] = open_table(MPI_COMM_WORLD, path, ".other",
				      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
	write_rows(mode, write_part, (const void *[]){ &files[0], &files[1] });
	if (is_mode(mode, "order"))
		MPI_MUST(MPI_File_close(&files[1]));
	MPI_MUST(MPI_File_close(&files[0]));
	if (rank == 0)
		use_own_file(path);
	files[0] = open_table(MPI_COMM_WORLD, path, "", MPI_MODE_RDONLY);
	for (int row = 0; row < ROUNDS; row++) {
		begin_row(row);
		read_part(files[0], row, rank);
	}
	MPI_MUST(MPI_File_close(&files[0]));
	MPI_MUST(MPI_Finalize());
	return 0;
}
