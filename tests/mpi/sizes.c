/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5: changes selections, extents and types at random, with reads and writes in between. For each
 * call it prints the bytes according to HDF5, asked for fresh copies of the objects. The sizes that
 * the guest caches between calls must be the same.
 */
#include <hdf5.h>

#include "must.h"

#define STEPS 2000
#define ROWS_MAX 24
#define COLUMNS 10
#define BUFFER (ROWS_MAX * COLUMNS * 64)

static hid_t dataset, again, space, file_space, text;
static hsize_t rows = 8;
static char buffer[BUFFER];

static unsigned random_below(unsigned n)
{
	static uint64_t state = 12345;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* Selects a block within the extent, in one of two forms. */
static void slab(hid_t s, H5S_seloper_t op)
{
	hsize_t start[2] = { random_below(4), random_below(4) }, block[2] = { 1, 2 };
	hsize_t count[2] = { 1 + random_below(3), 1 + random_below(2) }, stride[2] = { 1, 3 };
	bool blocks = random_below(2);

	MUST(H5Sselect_hyperslab(s, op, start, blocks ? stride : NULL, count,
				 blocks ? block : NULL) >= 0);
}

static void select_any(hid_t s)
{
	hsize_t points[3][2] = { { 0, 0 }, { 1, 1 }, { 2, 2 } };

	switch (random_below(6)) {
	case 0:
		MUST(H5Sselect_all(s) >= 0);
		break;
	case 1:
		MUST(H5Sselect_none(s) >= 0);
		break;
	case 2:
		MUST(H5Sselect_elements(s, H5S_SELECT_SET, 1 + random_below(3), points[0]) >= 0);
		break;
	case 3:
		slab(s, H5S_SELECT_SET);
		slab(s, H5S_SELECT_OR);
		break;
	default:
		slab(s, H5S_SELECT_SET);
	}
}

/* Replaces the dataspace by a new one with the dataset's extent, made in one of three ways. */
static void space_renew(hid_t *s)
{
	hsize_t dims[2] = { rows, COLUMNS };
	hid_t old = *s;

	switch (random_below(4)) {
	case 0:
		*s = H5Dget_space(dataset);
		break;
	case 1:
		*s = H5Screate_simple(2, dims, NULL);
		break;
	case 2:
		*s = H5Scopy(old);
		break;
	default:
		MUST(H5Sset_extent_simple(old, 2, dims, NULL) >= 0);
		return;
	}
	MUST(*s >= 0 && H5Sclose(old) >= 0);
	if (H5Sget_simple_extent_npoints(*s) != (hssize_t)(rows * COLUMNS))
		MUST(H5Sset_extent_simple(*s, 2, dims, NULL) >= 0);
}

/* Changes the extent by either of the two handles. */
static void resize(void)
{
	hsize_t dims[2] = { 8 + random_below(ROWS_MAX - 8), COLUMNS };

	rows = dims[0];
	MUST(H5Dset_extent(random_below(2) ? dataset : again, dims) >= 0);
	MUST(H5Sset_extent_simple(space, 2, dims, NULL) >= 0);
	MUST(H5Sset_extent_simple(file_space, 2, dims, NULL) >= 0);
}

static hid_t type_any(void)
{
	if (random_below(3))
		return random_below(2) ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
	if (text >= 0)
		H5Tclose(text);
	text = H5Tcopy(H5T_NATIVE_INT);
	if (random_below(2))
		MUST(H5Tset_size(text, 8) >= 0);
	return text;
}

/* Asks for copies, of which nothing can be cached. */
static unsigned long long bytes_of(hid_t type, hid_t memory, hid_t file)
{
	hid_t s = memory != H5S_ALL ? H5Scopy(memory)
		  : file != H5S_ALL ? H5Scopy(file)
				    : H5Dget_space(dataset);
	hid_t t = H5Tcopy(type);
	unsigned long long bytes =
		(unsigned long long)H5Sget_select_npoints(s) * (unsigned long long)H5Tget_size(t);

	H5Sclose(s);
	H5Tclose(t);
	return bytes;
}

static void move(void)
{
	hid_t through = random_below(2) ? dataset : again, type = type_any();
	hid_t memory = H5S_ALL, file = H5S_ALL;

	if (random_below(3)) {
		file = file_space;
		if (random_below(2)) {
			MUST(H5Sselect_copy(space, file_space) >= 0);
			memory = space;
		}
	}
	if (random_below(2)) {
		MUST(H5Dwrite(through, type, memory, file, H5P_DEFAULT, buffer) >= 0);
		printf("H5Dwrite %llu\n", bytes_of(type, memory, file));
	} else {
		MUST(H5Dread(through, type, memory, file, H5P_DEFAULT, buffer) >= 0);
		printf("H5Dread %llu\n", bytes_of(type, memory, file));
	}
	if (text >= 0 && random_below(2)) { /* the same id with another size */
		MUST(H5Tset_size(text, 4) >= 0);
		MUST(H5Dread(through, text, memory, file, H5P_DEFAULT, buffer) >= 0);
		printf("H5Dread %llu\n", bytes_of(text, memory, file));
	}
}

int main(void)
{
	hsize_t dims[2] = { 8, COLUMNS }, unlimited[2] = { H5S_UNLIMITED, COLUMNS };
	hid_t file = H5Fcreate("sizes.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t layout = H5Pcreate(H5P_DATASET_CREATE), whole = H5Screate_simple(2, dims, unlimited);

	text = -1;
	MUST(file >= 0 && H5Pset_chunk(layout, 2, (hsize_t[]){ 4, COLUMNS }) >= 0);
	dataset = H5Dcreate2(file, "data", H5T_NATIVE_INT, whole, H5P_DEFAULT, layout, H5P_DEFAULT);
	again = H5Dopen2(file, "data", H5P_DEFAULT);
	space = H5Screate_simple(2, dims, NULL);
	file_space = H5Dget_space(dataset);
	MUST(dataset >= 0 && again >= 0 && space >= 0 && file_space >= 0);
	for (int i = 0; i < STEPS; i++) {
		switch (random_below(8)) {
		case 0:
			space_renew(random_below(2) ? &space : &file_space);
			break;
		case 1:
			resize();
			break;
		case 2:
		case 3:
			select_any(random_below(2) ? space : file_space);
			break;
		default:
			move();
		}
	}
	/* Releases one of two references: the handle stays valid, and so does its link. */
	MUST(H5Iinc_ref(dataset) == 2 && H5Dclose(dataset) >= 0);
	MUST(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0);
	printf("H5Dwrite %llu\n", bytes_of(H5T_NATIVE_INT, H5S_ALL, H5S_ALL));
	MUST(H5Idec_ref(dataset) == 0 && H5Dclose(again) >= 0 && H5Fclose(file) >= 0);
	return 0;
}
