/* SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5: moves data between types with different fields. For each call it prints the bytes of the
 * fields that both types have; only these are converted and moved.
 */
#include <hdf5.h>
#include <stddef.h>

#include "must.h"

#define POINTS 1000

struct particle {
	double x, y, z, px, py, pz;
	int id;
	float q[3];
};

struct pair {
	char tag; /* followed by a gap */
	double value;
};

static struct particle particles[POINTS];
static hid_t file, space;

static hid_t type_new(size_t bytes)
{
	hid_t type = H5Tcreate(H5T_COMPOUND, bytes);

	MUST(type >= 0);
	return type;
}

static void field_add(hid_t type, const char *name, size_t offset, hid_t field)
{
	MUST(H5Tinsert(type, name, offset, field) >= 0);
}

static hid_t particle_type(void)
{
	hid_t type = type_new(sizeof(struct particle));
	hid_t three = H5Tarray_create2(H5T_NATIVE_FLOAT, 1, (hsize_t[]){ 3 });

	field_add(type, "x", offsetof(struct particle, x), H5T_NATIVE_DOUBLE);
	field_add(type, "y", offsetof(struct particle, y), H5T_NATIVE_DOUBLE);
	field_add(type, "z", offsetof(struct particle, z), H5T_NATIVE_DOUBLE);
	field_add(type, "px", offsetof(struct particle, px), H5T_NATIVE_DOUBLE);
	field_add(type, "py", offsetof(struct particle, py), H5T_NATIVE_DOUBLE);
	field_add(type, "pz", offsetof(struct particle, pz), H5T_NATIVE_DOUBLE);
	field_add(type, "id", offsetof(struct particle, id), H5T_NATIVE_INT);
	field_add(type, "q", offsetof(struct particle, q), three);
	MUST(H5Tclose(three) >= 0);
	return type;
}

/* A type with the field x alone, in `bytes` bytes. */
static hid_t x_type(size_t bytes)
{
	hid_t type = type_new(bytes);

	field_add(type, "x", 0, H5T_NATIVE_DOUBLE);
	return type;
}

static hid_t dataset_new(const char *name, hid_t type)
{
	hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

	MUST(dataset >= 0);
	return dataset;
}

/* Writes and reads by the memory type; `each` is the expected number of bytes per point. */
static void move(hid_t dataset, hid_t memory, size_t each)
{
	for (int i = 0; i < 2; i++) { /* the second time, the answer is cached */
		MUST(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, particles) >= 0);
		printf("H5Dwrite %zu\n", each * POINTS);
		MUST(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, particles) >= 0);
		printf("H5Dread %zu\n", each * POINTS);
	}
}

static void move_nested(hid_t whole, hid_t x)
{
	hid_t outer = type_new(3 * sizeof(struct particle) + 8);
	hid_t inner = type_new(3 * 8);
	hid_t wholes = H5Tarray_create2(whole, 1, (hsize_t[]){ 3 });
	hid_t xs = H5Tarray_create2(x, 1, (hsize_t[]){ 3 });
	hid_t dataset;

	field_add(outer, "n", 0, H5T_NATIVE_LLONG);
	field_add(outer, "list", 8, wholes);
	field_add(inner, "list", 0, xs);
	dataset = dataset_new("nested", outer);
	move(dataset, inner, 3 * 8);
	MUST(H5Dclose(dataset) >= 0 && H5Tclose(outer) >= 0 && H5Tclose(inner) >= 0);
	MUST(H5Tclose(wholes) >= 0 && H5Tclose(xs) >= 0);
}

int main(void)
{
	hid_t whole, x, sparse, both, wide, narrow, padded, packed, pair;

	file = H5Fcreate("fields.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	space = H5Screate_simple(1, (hsize_t[]){ POINTS }, NULL);
	MUST(file >= 0 && space >= 0);
	whole = particle_type();
	x = x_type(8);
	sparse = x_type(sizeof(struct particle));
	wide = dataset_new("wide", whole);
	narrow = dataset_new("narrow", x);
	move(narrow, whole, 8);
	move(wide, x, 8);
	move(wide, sparse, 8);
	move(narrow, sparse, 8);
	move(wide, whole, sizeof(struct particle));

	/* The same id gets a second field between two calls. */
	both = x_type(16);
	move(wide, both, 8);
	field_add(both, "id", 8, H5T_NATIVE_INT);
	move(wide, both, 12);
	move(narrow, both, 8);
	move_nested(whole, x);

	/* Equal types are moved with their gaps, others without. */
	padded = type_new(sizeof(struct pair));
	field_add(padded, "tag", 0, H5T_NATIVE_CHAR);
	field_add(padded, "value", offsetof(struct pair, value), H5T_NATIVE_DOUBLE);
	packed = H5Tcopy(padded);
	MUST(H5Tpack(packed) >= 0);
	pair = dataset_new("pair", padded);
	move(pair, padded, sizeof(struct pair));
	move(pair, packed, 9);
	MUST(H5Dclose(pair) >= 0 && H5Dclose(wide) >= 0 && H5Dclose(narrow) >= 0);
	MUST(H5Tclose(padded) >= 0 && H5Tclose(packed) >= 0 && H5Tclose(both) >= 0);
	MUST(H5Tclose(whole) >= 0 && H5Tclose(x) >= 0 && H5Tclose(sparse) >= 0);
	MUST(H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
	return 0;
}
