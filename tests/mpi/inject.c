/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creates HDF5 files, and with MPI plain files, and prints their effective hints and properties:
 * `inject [own] FILE...`. With "own" it sets hints and properties itself. A FILE named "paged..."
 * uses paged allocation, for which HDF5 ignores the alignment. The program checks that its own
 * lists and info are unchanged, and that the data is correct. One source for serial and parallel
 * HDF5.
 */
#include <hdf5.h>

#include "must.h"

#define N 1024

#define H5_MUST(call) must_h5((call), __LINE__, #call)

static hid_t must_h5(hid_t result, int line, const char *what)
{
	if (result < 0)
		must_fail(__FILE__, line, what, "failed");
	return result;
}

static hid_t file_access = H5P_DEFAULT, creation = H5P_DEFAULT, collective = H5P_DEFAULT;
static bool sets_own;
static int numbers[N];

#ifdef H5_HAVE_PARALLEL
static MPI_Info info = MPI_INFO_NULL;
#else
static const int rank = 0, ranks = 1;
#endif

#ifdef H5_HAVE_PARALLEL

/* Prints all hints of an open file. */
static void hints_print(const char *path, MPI_File file)
{
	char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
	int n = 0, found;
	MPI_Info used;

	MPI_MUST(MPI_File_get_info(file, &used));
	if (used == MPI_INFO_NULL)
		return;
	MPI_MUST(MPI_Info_get_nkeys(used, &n));
	for (int i = 0; i < n; i++) {
		MPI_MUST(MPI_Info_get_nthkey(used, i, key));
		MPI_MUST(MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &found));
		printf("%s hint %s=%s\n", path, key, value);
	}
	MPI_Info_free(&used);
}

static void info_make(void)
{
	MPI_MUST(MPI_Info_create(&info));
	MPI_MUST(MPI_Info_set(info, "cb_buffer_size", "4194304"));
}

static void info_check(void)
{
	char value[64];
	int n = 0, found = 0;

	if (info == MPI_INFO_NULL)
		return;
	MPI_MUST(MPI_Info_get_nkeys(info, &n));
	MPI_MUST(MPI_Info_get(info, "cb_buffer_size", 63, value, &found));
	MUST(n == 1 && found && !strcmp(value, "4194304"));
}

/* A file without HDF5: each rank writes its numbers. */
static void plain_file(const char *path)
{
	char name[256];
	MPI_File file;

	snprintf(name, sizeof(name), "%s.plain", path);
	MPI_MUST(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
	info_check();
	hints_print(name, file);
	numbers_make(numbers, N, rank);
	MPI_MUST(MPI_File_write_at_all(file, (MPI_Offset)rank * (MPI_Offset)sizeof(numbers),
				       numbers, N, MPI_INT, MPI_STATUS_IGNORE));
	MPI_MUST(MPI_File_close(&file));
}

static void shared_hints_print(const char *path, hid_t file)
{
	MPI_File *handle;

	H5_MUST(H5Fget_vfd_handle(file, H5P_DEFAULT, (void **)&handle));
	hints_print(path, *handle);
}

/* The transfer list holds the mode of the last transfer. */
static void transfer_print(const char *path, const char *name, hid_t list)
{
	H5D_mpio_actual_io_mode_t mode;
	H5FD_mpio_xfer_t wanted;

	H5_MUST(H5Pget_mpio_actual_io_mode(list, &mode));
	H5_MUST(H5Pget_dxpl_mpio(list, &wanted));
	MUST(wanted == H5FD_MPIO_COLLECTIVE);
	printf("%s %s %s\n", path, name, mode ? "collective" : "independent");
}

#else

static void plain_file(const char *path)
{
	(void)path;
}

static void shared_hints_print(const char *path, hid_t file)
{
	(void)path, (void)file;
}

static void transfer_print(const char *path, const char *name, hid_t list)
{
	(void)path, (void)name, (void)list;
}

#endif

static void begin(int *argc, char ***argv)
{
#ifdef H5_HAVE_PARALLEL
	world_begin(argc, argv);
	sets_own = *argc > 1 && !strcmp((*argv)[1], "own");
	if (sets_own)
		info_make();
	file_access = H5_MUST(H5Pcreate(H5P_FILE_ACCESS));
	H5_MUST(H5Pset_fapl_mpio(file_access, MPI_COMM_WORLD, info));
	collective = H5_MUST(H5Pcreate(H5P_DATASET_XFER));
	H5_MUST(H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE));
#else
	sets_own = *argc > 1 && !strcmp((*argv)[1], "own");
	if (sets_own)
		file_access = H5_MUST(H5Pcreate(H5P_FILE_ACCESS));
	(void)argv;
#endif
	if (!sets_own)
		return;
	H5_MUST(H5Pset_alignment(file_access, 512, 4096));
	creation = H5_MUST(H5Pcreate(H5P_DATASET_CREATE));
	H5_MUST(H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC));
}

/* The program's own lists are unchanged. */
static void own_check(void)
{
	hsize_t threshold, boundary;
	H5D_fill_time_t fill;

	if (file_access != H5P_DEFAULT) {
		H5_MUST(H5Pget_alignment(file_access, &threshold, &boundary));
		MUST(sets_own ? threshold == 512 && boundary == 4096
			      : threshold == 1 && boundary == 1);
	}
	if (creation != H5P_DEFAULT) {
		H5_MUST(H5Pget_fill_time(creation, &fill));
		MUST(fill == H5D_FILL_TIME_ALLOC);
		MUST(H5Pget_layout(creation) == H5D_CONTIGUOUS);
	}
#ifdef H5_HAVE_PARALLEL
	info_check();
#endif
}

static void access_print(const char *path, hid_t file)
{
	hid_t list = H5_MUST(H5Fget_access_plist(file));
	hsize_t threshold, boundary, meta, small;
	H5AC_cache_config_t cache = { .version = H5AC__CURR_CACHE_CONFIG_VERSION };
	H5F_libver_t low, high;
	size_t sieve;

	H5_MUST(H5Pget_alignment(list, &threshold, &boundary));
	H5_MUST(H5Pget_sieve_buf_size(list, &sieve));
	H5_MUST(H5Pget_meta_block_size(list, &meta));
	H5_MUST(H5Pget_small_data_block_size(list, &small));
	H5_MUST(H5Pget_libver_bounds(list, &low, &high));
	H5_MUST(H5Pget_mdc_config(list, &cache));
	printf("%s access alignment=%llu,%llu sieve=%zu meta=%llu small=%llu cache=%zu libver=%d\n",
	       path, (unsigned long long)threshold, (unsigned long long)boundary, sieve,
	       (unsigned long long)meta, (unsigned long long)small, cache.initial_size, (int)low);
	H5_MUST(H5Pclose(list));
}

static void layout_print(const char *path, const char *name, hid_t set)
{
	hid_t list = H5_MUST(H5Dget_create_plist(set));
	hsize_t chunk[2] = { 0, 0 };
	H5D_fill_time_t fill;

	H5_MUST(H5Pget_fill_time(list, &fill));
	if (H5Pget_layout(list) == H5D_CHUNKED)
		H5_MUST(H5Pget_chunk(list, 2, chunk));
	printf("%s %s chunk=%llu,%llu fill=%d\n", path, name, (unsigned long long)chunk[0],
	       (unsigned long long)chunk[1], (int)fill);
	H5_MUST(H5Pclose(list));
}

/* The offset of the data, if it is allocated; with MPI it is allocated early. */
static void place_print(const char *path, const char *name, hid_t set)
{
	haddr_t offset = H5Dget_offset(set);

	if (offset != HADDR_UNDEF)
		printf("%s %s offset=%llu\n", path, name, (unsigned long long)offset);
}

/* Every rank writes one row. */
static void row_move(const char *path, const char *name, hid_t set, bool is_read)
{
	hsize_t start[] = { (hsize_t)rank, 0 }, row[] = { 1, N };
	hid_t space = H5_MUST(H5Dget_space(set)), memory = H5_MUST(H5Screate_simple(2, row, NULL));
	hid_t list = collective == H5P_DEFAULT ? H5P_DEFAULT : H5_MUST(H5Pcopy(collective));

	H5_MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, row, NULL));
	numbers_make(numbers, N, rank);
	if (is_read) {
		memset(numbers, 0, sizeof(numbers));
		H5_MUST(H5Dread(set, H5T_NATIVE_INT, memory, space, list, numbers));
		MUST(numbers_are(numbers, N, rank));
	} else {
		H5_MUST(H5Dwrite(set, H5T_NATIVE_INT, memory, space, list, numbers));
		transfer_print(path, name, list);
	}
	H5_MUST(H5Sclose(space));
	H5_MUST(H5Sclose(memory));
	if (list != H5P_DEFAULT)
		H5_MUST(H5Pclose(list));
}

/* filtered: with its own chunks, compressed. */
static void set_write(const char *path, hid_t file, const char *name, bool is_filtered, bool is_old)
{
	hsize_t dims[] = { (hsize_t)ranks, N }, chunk[] = { 1, N };
	hid_t space = H5_MUST(H5Screate_simple(2, dims, NULL)), list = creation, set;

	if (is_filtered) {
		list = H5_MUST(H5Pcreate(H5P_DATASET_CREATE));
		H5_MUST(H5Pset_chunk(list, 2, chunk));
		H5_MUST(H5Pset_deflate(list, 1));
	}
	if (is_old)
		set = H5_MUST(H5Dcreate1(file, name, H5T_NATIVE_INT, space, list));
	else
		set = H5_MUST(H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, list,
					 H5P_DEFAULT));
	layout_print(path, name, set);
	place_print(path, name, set);
	row_move(path, name, set, false);
	H5_MUST(H5Dclose(set));
	H5_MUST(H5Sclose(space));
	if (is_filtered)
		H5_MUST(H5Pclose(list));
}

static hid_t file_make(const char *path)
{
	hid_t list, file;

	if (strncmp(path, "paged", 5) != 0)
		return H5_MUST(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, file_access));
	list = H5_MUST(H5Pcreate(H5P_FILE_CREATE));
	H5_MUST(H5Pset_file_space_strategy(list, H5F_FSPACE_STRATEGY_PAGE, false, 1));
	file = H5_MUST(H5Fcreate(path, H5F_ACC_TRUNC, list, file_access));
	H5_MUST(H5Pclose(list));
	return file;
}

static void file_write(const char *path)
{
	hid_t file = file_make(path);

	own_check();
	access_print(path, file);
	shared_hints_print(path, file);
	set_write(path, file, "grid", false, false);
	set_write(path, file, "old", false, true);
	set_write(path, file, "packed", true, false);
	own_check();
	H5_MUST(H5Fclose(file));
}

static void file_read(const char *path)
{
	hid_t file = H5_MUST(H5Fopen(path, H5F_ACC_RDONLY, file_access)), set;
	static const char *const names[] = { "grid", "old", "packed" };

	own_check();
	for (int i = 0; i < 3; i++) {
		set = H5_MUST(H5Dopen2(file, names[i], H5P_DEFAULT));
		row_move(path, names[i], set, true);
		H5_MUST(H5Dclose(set));
	}
	H5_MUST(H5Fclose(file));
}

/* Calls that fail do so with the same error as without injection. */
static void fail(void)
{
	hid_t file;

	H5E_BEGIN_TRY
	{
		file = H5Fopen("/no/such/file.h5", H5F_ACC_RDONLY, file_access);
	}
	H5E_END_TRY
	MUST(file < 0 && H5Eget_num(H5E_DEFAULT) > 0);
}

static void end(void)
{
	if (file_access != H5P_DEFAULT)
		H5_MUST(H5Pclose(file_access));
	if (creation != H5P_DEFAULT)
		H5_MUST(H5Pclose(creation));
#ifdef H5_HAVE_PARALLEL
	H5_MUST(H5Pclose(collective));
	if (info != MPI_INFO_NULL)
		MPI_Info_free(&info);
	MPI_Finalize();
#endif
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	for (int i = 1 + sets_own; i < argc; i++) {
		file_write(argv[i]);
		file_read(argv[i]);
		plain_file(argv[i]);
	}
	fail();
	end();
	return 0;
}
