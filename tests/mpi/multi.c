/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5 1.14: datasets that are transferred together, and the functions with _async. One source for
 * serial HDF5 and for parallel HDF5, where all ranks share the file and each has one row of every
 * dataset. For each transfer it prints the rank, the function and the number of bytes.
 */
#include "must_h5.h"

#define N 256
#define SETS 3
#define PATH "multi.h5"

static hid_t file_access, transfer = H5P_DEFAULT, events, memory, row;

/* The datasets have elements of 4, 8 and 1 bytes. The second one is chunked. */
static int whole[N], whole_in[N];
static double real[N], real_in[N];
static signed char tiny[N], tiny_in[N];
static const void *out[SETS] = { whole, real, tiny };
static void *in[SETS] = { whole_in, real_in, tiny_in };
static hid_t types[SETS], sets[SETS], memories[SETS], rows[SETS];
static const char *const names[SETS] = { "whole", "real", "tiny" };
#define ALL_BYTES (sizeof(whole) + sizeof(real) + sizeof(tiny))

static void announce(const char *function, size_t bytes)
{
	printf("%d %s %zu\n", rank, function, bytes);
}

static void begin(int *argc, char ***argv)
{
	hsize_t n = N, first[2], size[2] = { 1, N }, extent[2];

	file_access = H5_MUST(H5Pcreate(H5P_FILE_ACCESS));
#ifdef H5_HAVE_PARALLEL
	world_begin(argc, argv);
	H5_MUST(H5Pset_fapl_mpio(file_access, MPI_COMM_WORLD, MPI_INFO_NULL));
	transfer = H5_MUST(H5Pcreate(H5P_DATASET_XFER));
	H5_MUST(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
#else
	(void)argc, (void)argv;
#endif
	events = H5_MUST(H5EScreate());
	memory = H5_MUST(H5Screate_simple(1, &n, NULL));
	first[0] = (hsize_t)rank;
	first[1] = 0;
	extent[0] = (hsize_t)ranks;
	extent[1] = N;
	row = H5_MUST(H5Screate_simple(2, extent, NULL));
	H5_MUST(H5Sselect_hyperslab(row, H5S_SELECT_SET, first, NULL, size, NULL));
	types[0] = H5T_NATIVE_INT;
	types[1] = H5T_NATIVE_DOUBLE;
	types[2] = H5T_NATIVE_SCHAR;
	for (int i = 0; i < SETS; i++) {
		memories[i] = memory;
		rows[i] = row;
	}
}

static void end(void)
{
	H5_MUST(H5ESclose(events));
	H5_MUST(H5Sclose(memory));
	H5_MUST(H5Sclose(row));
	H5_MUST(H5Pclose(file_access));
#ifdef H5_HAVE_PARALLEL
	H5_MUST(H5Pclose(transfer));
	MPI_Barrier(MPI_COMM_WORLD);
	MUST(rank || !unlink(PATH));
	MPI_Finalize();
#else
	MUST(!unlink(PATH));
#endif
}

/* Waits for the operations that were started. */
static void settle(void)
{
	size_t pending;
	hbool_t has_failed;

	H5_MUST(H5ESwait(events, H5ES_WAIT_FOREVER, &pending, &has_failed));
	MUST(!pending && !has_failed);
}

static void data_make(int seed)
{
	numbers_make(whole, N, seed);
	for (int i = 0; i < N; i++) {
		real[i] = number_at(seed, i) / 2.0;
		tiny[i] = (signed char)(seed + i);
	}
}

static void data_expect(int seed)
{
	data_make(seed);
	MUST(!memcmp(whole, whole_in, sizeof(whole)) && !memcmp(real, real_in, sizeof(real)) &&
	     !memcmp(tiny, tiny_in, sizeof(tiny)));
	memset(whole_in, 0, sizeof(whole_in));
	memset(real_in, 0, sizeof(real_in));
	memset(tiny_in, 0, sizeof(tiny_in));
}

/* Reads each dataset by the function that all versions have. */
static void file_expect(int seed)
{
	static const size_t bytes[SETS] = { sizeof(whole), sizeof(real), sizeof(tiny) };

	for (int i = 0; i < SETS; i++) {
		H5_MUST(H5Dread(sets[i], types[i], memory, row, transfer, in[i]));
		announce("H5Dread", bytes[i]);
	}
	data_expect(seed);
}

static void create_sets(hid_t file, hid_t group)
{
	hsize_t extent[2] = { (hsize_t)ranks, N }, chunk[2] = { 1, N / 4 },
		most[2] = { H5S_UNLIMITED, N };
	hid_t space = H5_MUST(H5Screate_simple(2, extent, most));
	hid_t layout = H5_MUST(H5Pcreate(H5P_DATASET_CREATE));

	H5_MUST(H5Pset_chunk(layout, 2, chunk));
	for (int i = 0; i < SETS; i++)
		sets[i] =
			i == 1 ? H5_MUST(H5Dcreate_async(group, names[i], types[i], space,
							 H5P_DEFAULT, layout, H5P_DEFAULT, events))
			       : H5_MUST(H5Dcreate2(file, names[i], types[i], row, H5P_DEFAULT,
						    H5P_DEFAULT, H5P_DEFAULT));
	settle();
	H5_MUST(H5Pclose(layout));
	H5_MUST(H5Sclose(space));
}

static void transfer_together(void)
{
	data_make(rank);
	H5_MUST(H5Dwrite_multi(SETS, sets, types, memories, rows, transfer, out));
	announce("H5Dwrite_multi", ALL_BYTES);
	file_expect(rank);
	H5_MUST(H5Dread_multi(SETS, sets, types, memories, rows, transfer, in));
	announce("H5Dread_multi", ALL_BYTES);
	data_expect(rank);

	data_make(ranks + rank);
	H5_MUST(H5Dwrite_multi_async(SETS, sets, types, memories, rows, transfer, out, events));
	announce("H5Dwrite_multi_async", ALL_BYTES);
	settle();
	H5_MUST(H5Dread_multi_async(SETS, sets, types, memories, rows, transfer, in, events));
	announce("H5Dread_multi_async", ALL_BYTES);
	settle();
	data_expect(ranks + rank);

	/* A part of the datasets. */
	data_make(2 * ranks + rank);
	H5_MUST(H5Dwrite_multi(1, sets + 2, types + 2, memories, rows, transfer, out + 2));
	announce("H5Dwrite_multi", sizeof(tiny));
	H5_MUST(H5Dwrite_multi(2, sets, types, memories, rows, transfer, out));
	announce("H5Dwrite_multi", sizeof(whole) + sizeof(real));
	file_expect(2 * ranks + rank);
}

static void transfer_later(void)
{
	hsize_t more[2] = { (hsize_t)ranks + 1, N };

	numbers_make(whole, N, 3 * ranks + rank);
	H5_MUST(H5Dwrite_async(sets[0], H5T_NATIVE_INT, memory, row, transfer, whole, events));
	announce("H5Dwrite_async", sizeof(whole));
	settle();
	H5_MUST(H5Dread_async(sets[0], H5T_NATIVE_INT, memory, row, transfer, whole_in, events));
	announce("H5Dread_async", sizeof(whole));
	settle();
	MUST(numbers_are(whole_in, N, 3 * ranks + rank));
	H5_MUST(H5Dset_extent_async(sets[1], more, events));
	settle();
}

static void attributes(hid_t file)
{
	hsize_t n = 4;
	hid_t space = H5_MUST(H5Screate_simple(1, &n, NULL));
	hid_t own = H5_MUST(H5Acreate_async(file, "own", H5T_NATIVE_INT, space, H5P_DEFAULT,
					    H5P_DEFAULT, events));
	hid_t other =
		H5_MUST(H5Acreate_by_name_async(file, names[0], "other", H5T_NATIVE_INT, space,
						H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, events));
	hbool_t exists = false;

	numbers_make(whole, 4, 7);
	H5_MUST(H5Awrite_async(own, H5T_NATIVE_INT, whole, events));
	announce("H5Awrite_async", 4 * sizeof(int));
	H5_MUST(H5Awrite_async(other, H5T_NATIVE_INT, whole, events));
	announce("H5Awrite_async", 4 * sizeof(int));
	settle();
	H5_MUST(H5Aclose_async(own, events));
	H5_MUST(H5Aclose_async(other, events));
	H5_MUST(H5Arename_async(file, "own", "renamed", events));
	H5_MUST(H5Arename_by_name_async(file, names[0], "other", "moved", H5P_DEFAULT, events));
	H5_MUST(H5Aexists_async(file, "renamed", &exists, events));
	settle();
	MUST(exists);
	exists = false;
	H5_MUST(H5Aexists_by_name_async(file, names[0], "moved", &exists, H5P_DEFAULT, events));
	settle();
	MUST(exists);

	own = H5_MUST(H5Aopen_async(file, "renamed", H5P_DEFAULT, events));
	H5_MUST(H5Aread_async(own, H5T_NATIVE_INT, whole_in, events));
	announce("H5Aread_async", 4 * sizeof(int));
	settle();
	MUST(numbers_are(whole_in, 4, 7));
	H5_MUST(H5Aclose_async(own, events));
	own = H5_MUST(
		H5Aopen_by_name_async(file, names[0], "moved", H5P_DEFAULT, H5P_DEFAULT, events));
	H5_MUST(H5Aclose_async(own, events));
	own = H5_MUST(H5Aopen_by_idx_async(file, names[0], H5_INDEX_NAME, H5_ITER_INC, 0,
					   H5P_DEFAULT, H5P_DEFAULT, events));
	H5_MUST(H5Aclose_async(own, events));
	settle();
	H5_MUST(H5Sclose(space));
}

static herr_t count_link(hid_t group, const char *name, const H5L_info2_t *info, void *count)
{
	(void)group, (void)name, (void)info;
	++*(int *)count;
	return 0;
}

static void links(hid_t file)
{
	hbool_t exists = false;
	int count = 0;
	hsize_t at = 0;

	H5_MUST(H5Lcreate_hard_async(file, names[0], file, "hard", H5P_DEFAULT, H5P_DEFAULT,
				     events));
	H5_MUST(H5Lcreate_soft_async("/hard", file, "soft", H5P_DEFAULT, H5P_DEFAULT, events));
	H5_MUST(H5Lexists_async(file, "soft", &exists, H5P_DEFAULT, events));
	settle();
	MUST(exists);
	H5_MUST(H5Ldelete_async(file, "soft", H5P_DEFAULT, events));
	H5_MUST(H5Ldelete_by_idx_async(file, "/", H5_INDEX_NAME, H5_ITER_INC, 1, H5P_DEFAULT,
				       events)); /* group, hard, tiny, whole */
	H5_MUST(H5Literate_async(file, H5_INDEX_NAME, H5_ITER_INC, &at, count_link, &count,
				 events));
	settle();
	MUST(count == 3);
}

static void infos(hid_t file)
{
	H5G_info_t info = { 0 };
	H5O_info2_t object;

	H5_MUST(H5Gget_info_async(file, &info, events));
	settle();
	MUST(info.nlinks == 3);
	H5_MUST(H5Gget_info_by_name_async(file, "group", &info, H5P_DEFAULT, events));
	settle();
	MUST(info.nlinks == 1);
	info.nlinks = 0;
	H5_MUST(H5Gget_info_by_idx_async(file, "/", H5_INDEX_NAME, H5_ITER_INC, 0, &info,
					 H5P_DEFAULT, events));
	H5_MUST(H5Oget_info_by_name_async(file, names[2], &object, H5O_INFO_BASIC, H5P_DEFAULT,
					  events));
	settle();
	MUST(info.nlinks == 1 && object.type == H5O_TYPE_DATASET);
}

static void references(hid_t file)
{
	H5R_ref_t whole_set, part, attribute;
	H5O_type_t type;
	hid_t opened;

	H5_MUST(H5Rcreate_object(file, names[0], H5P_DEFAULT, &whole_set));
	H5_MUST(H5Rcreate_region(file, names[0], row, H5P_DEFAULT, &part));
	H5_MUST(H5Rcreate_attr(file, names[0], "moved", H5P_DEFAULT, &attribute));
	H5_MUST(H5Rget_obj_type3(&whole_set, H5P_DEFAULT, &type));
	MUST(type == H5O_TYPE_DATASET);
	opened = H5_MUST(H5Ropen_object_async(&whole_set, H5P_DEFAULT, H5P_DEFAULT, events));
	settle();
	H5_MUST(H5Dread(opened, H5T_NATIVE_INT, memory, row, transfer, whole_in));
	announce("H5Dread", sizeof(whole));
	MUST(numbers_are(whole_in, N, 3 * ranks + rank));
	H5_MUST(H5Dclose(opened));
	opened = H5_MUST(H5Ropen_region_async(&part, H5P_DEFAULT, H5P_DEFAULT, events));
	settle();
	MUST(H5Sget_select_npoints(opened) == N);
	H5_MUST(H5Sclose(opened));
	opened = H5_MUST(H5Ropen_attr_async(&attribute, H5P_DEFAULT, H5P_DEFAULT, events));
	settle();
	H5_MUST(H5Aclose(opened));
	H5_MUST(H5Rdestroy(&whole_set));
	H5_MUST(H5Rdestroy(&part));
	H5_MUST(H5Rdestroy(&attribute));
}

static void objects(hid_t file)
{
	hid_t object = H5_MUST(H5Oopen_async(file, names[0], H5P_DEFAULT, events));

#ifndef H5_HAVE_PARALLEL /* HDF5 refuses them for files that ranks share */
	H5_MUST(H5Oflush_async(object, events));
	H5_MUST(H5Orefresh_async(object, events));
	settle();
#endif
	H5_MUST(H5Oclose_async(object, events));
	object = H5_MUST(H5Oopen_by_idx_async(file, "/", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT,
					      events));
	H5_MUST(H5Oclose_async(object, events));
	H5_MUST(H5Ocopy_async(file, names[0], file, "copy", H5P_DEFAULT, H5P_DEFAULT, events));
	settle();
}

static void named_types(hid_t file)
{
	hid_t type = H5_MUST(H5Tcopy(H5T_NATIVE_INT));

	H5_MUST(H5Tcommit_async(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, events));
	settle();
	H5_MUST(H5Tclose_async(type, events));
	type = H5_MUST(H5Topen_async(file, "type", H5P_DEFAULT, events));
	H5_MUST(H5Tclose_async(type, events));
	settle();
}

static void open_again(void)
{
	hid_t file = H5_MUST(H5Fopen_async(PATH, H5F_ACC_RDWR, file_access, events)), second;
	hid_t group, space;

	settle();
	second = H5_MUST(H5Freopen_async(file, events));
	group = H5_MUST(H5Gopen_async(file, "group", H5P_DEFAULT, events));
	sets[0] = H5_MUST(H5Dopen_async(file, names[0], H5P_DEFAULT, events));
	space = H5_MUST(H5Dget_space_async(sets[0], events));
	settle();
	H5_MUST(H5Dread(sets[0], H5T_NATIVE_INT, memory, row, transfer, whole_in));
	announce("H5Dread", sizeof(whole));
	MUST(numbers_are(whole_in, N, 3 * ranks + rank));
	H5_MUST(H5Sclose(space));
	H5_MUST(H5Dclose_async(sets[0], events));
	H5_MUST(H5Gclose_async(group, events));
	H5_MUST(H5Fclose_async(second, events));
	H5_MUST(H5Fclose_async(file, events));
	settle();
}

int main(int argc, char **argv)
{
	hid_t file, group;

	begin(&argc, &argv);
	file = H5_MUST(H5Fcreate_async(PATH, H5F_ACC_TRUNC, H5P_DEFAULT, file_access, events));
	group = H5_MUST(
		H5Gcreate_async(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT, events));
	settle();
	create_sets(file, group);
	transfer_together();
	transfer_later();
	attributes(file);
	links(file);
	infos(file);
	references(file);
	objects(file);
	named_types(file);
	H5_MUST(H5Fflush_async(file, H5F_SCOPE_GLOBAL, events));
	for (int i = 0; i < SETS; i++)
		H5_MUST(H5Dclose_async(sets[i], events));
	H5_MUST(H5Gclose_async(group, events));
	H5_MUST(H5Fclose_async(file, events));
	settle();
	open_again();
	end();
	return 0;
}
