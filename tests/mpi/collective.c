/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes the collective accesses of a list, each to a separate file, and checks the data:
 *
 *	collective CASES
 *
 * CASES has one line per access: write|read, contiguous|strided, bytes per rank, bytes of a piece,
 * stride, offset of the first byte (as in predict/model/access.h), aggregators, bytes of the
 *buffer, automatic|enable|disable|pieces (disable, and no data
 * sieving). With 0 aggregators or bytes the hint is not set. The file of
 *line N is collective.N; it has its full size before the access.
 */
#include <fcntl.h>
#include <mpi.h>

#include "must.h"

struct one {
	char way[8], pattern[16], buffering[16];
	long rank_bytes, block, stride, offset;
	int aggregators, buffer;
};

static bool is_read(const struct one *c)
{
	return strcmp(c->way, "read") == 0;
}

static bool is_strided(const struct one *c)
{
	return strcmp(c->pattern, "strided") == 0;
}

static bool case_next(FILE *list, struct one *c)
{
	int n = fscanf(list, "%7s %15s %ld %ld %ld %ld %d %d %15s", c->way, c->pattern,
		       &c->rank_bytes, &c->block, &c->stride, &c->offset, &c->aggregators,
		       &c->buffer, c->buffering);

	MUST(n == 9 || n == EOF);
	return n == 9;
}

/* Adjacent bytes differ, and reads and writes use different data. */
static char byte_at(long at)
{
	return (char)(at * 31 + at / 251 + 7);
}

/* The offset in the file of byte i of the rank's data. */
static long place_of(const struct one *c, long i)
{
	if (!is_strided(c))
		return c->offset + rank * c->rank_bytes + i;
	return c->offset + (i / c->block * ranks + rank) * c->stride + i % c->block;
}

static long file_bytes(const struct one *c)
{
	if (!is_strided(c))
		return c->offset + ranks * c->rank_bytes;
	return c->offset + c->rank_bytes / c->block * ranks * c->stride;
}

/* Fills the file with the data to be read; for a write, with other data. */
static void file_make(const struct one *c, const char *path)
{
	long bytes = file_bytes(c);
	char *data = malloc((size_t)bytes);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	MUST(data && fd >= 0);
	for (long i = 0; i < bytes; i++)
		data[i] = is_read(c) ? byte_at(i) : '.';
	MUST(write(fd, data, (size_t)bytes) == bytes);
	close(fd);
	free(data);
}

static void hint(MPI_Info info, const char *key, const char *format, int n)
{
	char value[32];

	snprintf(value, sizeof(value), format, n);
	if (n)
		MPI_MUST(MPI_Info_set(info, key, value));
}

static MPI_Info case_hints(const struct one *c)
{
	MPI_Info info;

	MPI_MUST(MPI_Info_create(&info));
	/* Otherwise there is one aggregator per node, whatever cb_nodes is. */
	hint(info, "cb_config_list", "*:%d", c->aggregators);
	hint(info, "cb_nodes", "%d", c->aggregators);
	hint(info, "cb_buffer_size", "%d", c->buffer);
	bool pieces = strcmp(c->buffering, "pieces") == 0;
	const char *buffering = pieces ? "disable" : c->buffering;

	MPI_MUST(MPI_Info_set(info, "romio_cb_write", buffering));
	MPI_MUST(MPI_Info_set(info, "romio_cb_read", buffering));
	if (pieces) {
		MPI_MUST(MPI_Info_set(info, "romio_ds_write", "disable"));
		MPI_MUST(MPI_Info_set(info, "romio_ds_read", "disable"));
	}
	return info;
}

static void view_set(const struct one *c, MPI_File f)
{
	MPI_Datatype piece, view;

	MPI_MUST(MPI_Type_contiguous((int)c->block, MPI_BYTE, &piece));
	MPI_MUST(MPI_Type_create_resized(piece, 0, ranks * c->stride, &view));
	MPI_MUST(MPI_Type_commit(&view));
	MPI_MUST(MPI_File_set_view(f, c->offset + rank * c->stride, MPI_BYTE, view, "native",
				   MPI_INFO_NULL));
	MPI_Type_free(&view);
	MPI_Type_free(&piece);
}

static void access_do(const struct one *c, MPI_File f, char *data)
{
	MPI_Offset at = is_strided(c) ? 0 : c->offset + rank * c->rank_bytes;
	int n = (int)c->rank_bytes;

	if (is_read(c))
		MPI_MUST(MPI_File_read_at_all(f, at, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
	else
		MPI_MUST(MPI_File_write_at_all(f, at, data, n, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* Every rank checks its own data. */
static void data_check(const struct one *c, const char *path, const char *data)
{
	char *written = malloc((size_t)file_bytes(c));
	int fd = open(path, O_RDONLY);

	MUST(written && fd >= 0 && read(fd, written, (size_t)file_bytes(c)) == file_bytes(c));
	for (long i = 0; i < c->rank_bytes; i++)
		MUST((is_read(c) ? data[i] : written[place_of(c, i)]) == byte_at(place_of(c, i)));
	/* Checks the bytes between the pieces, too. */
	if (is_strided(c) && c->block < c->stride && !is_read(c))
		MUST(written[place_of(c, 0) + c->block] == '.');
	close(fd);
	free(written);
}

static void case_run(const struct one *c, int number)
{
	char path[64], *data = calloc(1, (size_t)c->rank_bytes);
	MPI_Info info = case_hints(c);
	MPI_File f;

	MUST(data);
	for (long i = 0; i < c->rank_bytes && !is_read(c); i++)
		data[i] = byte_at(place_of(c, i));
	snprintf(path, sizeof(path), "collective.%d", number);
	if (!rank)
		file_make(c, path);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &f));
	if (is_strided(c))
		view_set(c, f);
	access_do(c, f, data);
	MPI_MUST(MPI_File_close(&f));
	MPI_Info_free(&info);
	data_check(c, path, data);
	free(data);
	file_remove(path);
}

int main(int argc, char **argv)
{
	struct one c;
	FILE *list;
	int n = 0;

	world_begin(&argc, &argv);
	list = argc == 2 ? fopen(argv[1], "r") : NULL;
	MUST(list);
	while (case_next(list, &c))
		case_run(&c, ++n);
	fclose(list);
	return MPI_Finalize();
}
