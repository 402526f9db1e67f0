/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/datasets.h"

#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "kernels/kernel.h"
#include "kernels/kinds.h"

enum phase { PHASE_OPEN, PHASE_TRANSFER, PHASE_CLOSE, PHASES };

struct run {
	struct kernel *kernel;
	const struct kind_args *args;
	struct shape shape;
	char *path; /* file of this rank; all ranks share it unless own_file */
	bool own_file;
	MPI_Info info;
	hid_t file_access, transfer, untimed_set, untimed_group;
	void *data, *expected; /* buffers for the rank's part of a dataset */
	double seconds[PHASES];
};

static herr_t keep_first(unsigned depth, const H5E_error2_t *error, void *text)
{
	if (!depth)
		snprintf(text, 256, "%s: %s", error->func_name, error->desc);
	return 0;
}

/* Sets err to the innermost message of HDF5 if the result is negative. Returns the result. */
static int64_t note_h5(struct err *err, int64_t result, const char *what)
{
	char text[256] = "HDF5 reports no reason";

	if (result >= 0 || err->code)
		return result;
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
	err_set(err, EIO, "%s: %s", what, text);
	return result;
}

static hid_t hdf5_type(enum shape_type type)
{
	return type == SHAPE_INT ? H5T_NATIVE_INT32
				 : (type == SHAPE_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE);
}

static void make_numbers(void *row, uint64_t count, enum shape_type type)
{
	for (uint64_t i = 0; i < count && type == SHAPE_FLOAT; i++) {
		uint32_t *bits = (uint32_t *)row + i;
		float value = (float)(*bits >> 8) / (float)(1u << 24);

		memcpy(bits, &value, sizeof(value));
	}
	for (uint64_t i = 0; i < count && type == SHAPE_DOUBLE; i++) {
		uint64_t *bits = (uint64_t *)row + i;
		double value = (double)(*bits >> 11) * 0x1p-53;

		memcpy(bits, &value, sizeof(value));
	}
}

/* Generates the values row by row; values of a row are contiguous in the dataset. */
static void make_values(const struct dataset *set, uint64_t seed, void *out)
{
	size_t bytes = shape_type_bytes(set->type);
	int last = set->dims - 1;
	uint64_t row = set->count[last], rows = dataset_rank_bytes(set) / bytes / row;

	for (uint64_t r = 0; r < rows; r++) {
		uint64_t at = 0, rest = r, place = 1;
		char *to = (char *)out + r * row * bytes;

		for (int d = last - 1; d >= 0; d--) {
			place *= set->size[d + 1];
			at += (set->start[d] + rest % set->count[d]) * place;
			rest /= set->count[d];
		}
		kernel_fill(to, row * bytes, (at + set->start[last]) * bytes, seed);
		make_numbers(to, row, set->type);
	}
}

/* Returns the file data space with the rank's part selected. */
static hid_t open_slab(const struct run *run, const struct dataset *set)
{
	hsize_t size[SHAPE_DIMS], start[SHAPE_DIMS], count[SHAPE_DIMS];
	hid_t slab;

	for (int i = 0; i < set->dims; i++) {
		count[i] = set->count[i];
		size[i] = run->own_file ? set->count[i] : set->size[i];
		start[i] = run->own_file ? 0 : set->start[i];
	}
	slab = H5Screate_simple(set->dims, size, NULL);
	H5Sselect_hyperslab(slab, H5S_SELECT_SET, start, NULL, count, NULL);
	return slab;
}

static hid_t open_memory(const struct dataset *set)
{
	hsize_t count = dataset_rank_bytes(set) / shape_type_bytes(set->type);

	return H5Screate_simple(1, &count, NULL);
}

/* Creates all groups of a path such as "Step#0/Block/E"; none of them exists yet. */
static hid_t make_group(const struct run *run, hid_t file, const char *path, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(path);
	char *rest = copy, *word;
	hid_t group = -1, parent = file;

	while ((word = strsep(&rest, "/"))) {
		group = H5Gcreate2(parent, word, H5P_DEFAULT, run->untimed_group, H5P_DEFAULT);
		note_h5(err, group, path);
		if (parent != file)
			H5Gclose(parent);
		if (group < 0)
			break;
		parent = group;
	}
	return group;
}

static void write_set(struct run *run, hid_t parent, const struct dataset *set, struct err *err)
{
	hid_t slab = open_slab(run, set), memory = open_memory(set), type = hdf5_type(set->type);
	hid_t id = H5Dcreate2(parent, set->name, type, slab, H5P_DEFAULT, run->untimed_set,
			      H5P_DEFAULT);

	if (note_h5(err, id, set->name) >= 0) {
		note_h5(err, H5Dwrite(id, type, memory, slab, run->transfer, run->data), set->name);
		note_h5(err, H5Dclose(id), set->name);
	}
	H5Sclose(slab);
	H5Sclose(memory);
}

/* Writes one time step: the datasets of one group. */
static void write_step(struct run *run, hid_t file, uint64_t step, struct err *err)
{
	struct dataset set;
	hid_t parent = file;

	for (uint64_t i = 0; i < run->shape.sets && parent >= 0; i++) {
		uint64_t index = step * run->shape.sets + i;
		double begin;

		shape_dataset(&run->shape, (uint64_t)run->kernel->rank, index, &set);
		make_values(&set, index, run->data);
		begin = MPI_Wtime();
		if (!i && *set.group)
			parent = make_group(run, file, set.group, err);
		if (parent >= 0)
			write_set(run, parent, &set, err);
		run->seconds[PHASE_TRANSFER] += MPI_Wtime() - begin;
	}
	if (parent != file && parent >= 0)
		note_h5(err, H5Gclose(parent), set.group);
}

static int check_values(const struct run *run, const struct dataset *set, uint64_t index,
			const char *path, struct err *err)
{
	make_values(set, index, run->expected);
	if (memcmp(run->data, run->expected, dataset_rank_bytes(set)) == 0 || err->code)
		return 0;
	return err_set(err, EIO, "%s: %s differs from what was written", run->path, path);
}

static int64_t read_set(const struct run *run, hid_t file, const struct dataset *set,
			const char *path, struct err *err)
{
	hid_t slab = open_slab(run, set), memory = open_memory(set), type = hdf5_type(set->type);
	hid_t id = H5Dopen2(file, path, H5P_DEFAULT);
	int64_t ret = note_h5(err, id, path);

	if (ret >= 0) {
		ret = note_h5(err, H5Dread(id, type, memory, slab, run->transfer, run->data), path);
		note_h5(err, H5Dclose(id), path);
	}
	H5Sclose(slab);
	H5Sclose(memory);
	return ret;
}

static void read_step(struct run *run, hid_t file, uint64_t step, struct err *err)
{
	for (uint64_t i = 0; i < run->shape.sets; i++) {
		uint64_t index = step * run->shape.sets + i;
		struct dataset set;
		AUTO_FREE char *path = NULL;
		int64_t ret;
		double begin;

		shape_dataset(&run->shape, (uint64_t)run->kernel->rank, index, &set);
		path = xprintf("%s%s%s", set.group, *set.group ? "/" : "", set.name);
		memset(run->data, 0, dataset_rank_bytes(&set));
		begin = MPI_Wtime();
		ret = read_set(run, file, &set, path, err);
		run->seconds[PHASE_TRANSFER] += MPI_Wtime() - begin;
		if (ret >= 0 && run->args->verify)
			check_values(run, &set, index, path, err);
	}
}

/* Opens the file, transfers and closes it. Returns a negative value on all ranks if any rank
 * failed. */
static int access_file(struct run *run, bool write)
{
	struct err err = { 0 };
	hid_t file;
	double begin;
	int ret;

	memset(run->seconds, 0, sizeof(run->seconds));
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	file = write ? H5Fcreate(run->path, H5F_ACC_TRUNC, H5P_DEFAULT, run->file_access)
		     : H5Fopen(run->path, H5F_ACC_RDONLY, run->file_access);
	run->seconds[PHASE_OPEN] = MPI_Wtime() - begin;
	note_h5(&err, file, run->path);
	ret = kernel_agree(run->kernel, &err);
	for (uint64_t step = 0; step < run->shape.steps && !ret; step++) {
		if (write)
			write_step(run, file, step, &err);
		else
			read_step(run, file, step, &err);
		ret = kernel_agree(run->kernel, &err);
	}
	if (file < 0)
		return ret;
	begin = MPI_Wtime();
	note_h5(&err, H5Fclose(file), run->path);
	run->seconds[PHASE_CLOSE] = MPI_Wtime() - begin;
	return ret ? ret : kernel_agree(run->kernel, &err);
}

static void print_result(const struct run *run, bool write)
{
	const double *of = run->seconds;
	double bytes = (double)shape_bytes(&run->shape), slowest[PHASES];
	double seconds = kernel_slowest(of[PHASE_OPEN] + of[PHASE_TRANSFER] + of[PHASE_CLOSE]);

	for (int i = 0; i < PHASES; i++)
		slowest[i] = kernel_slowest(of[i]);
	if (run->kernel->rank)
		return;
	printf("%s direction=%s transfer=%s ranks=%d steps=%llu datasets=%llu bytes=%.0f "
	       "open_s=%.6f transfer_s=%.6f close_s=%.6f seconds=%.6f mib_per_s=%.1f\n",
	       run->kernel->name, write ? "write" : "read",
	       run->args->transfer == KIND_COLLECTIVE ? "collective" : "independent",
	       run->kernel->ranks, (unsigned long long)run->shape.steps,
	       (unsigned long long)shape_datasets(&run->shape), bytes, slowest[PHASE_OPEN],
	       slowest[PHASE_TRANSFER], slowest[PHASE_CLOSE], seconds, bytes / 0x1p20 / seconds);
}

static void make_properties(struct run *run)
{
	bool collective = run->args->transfer == KIND_COLLECTIVE;

	run->file_access = H5Pcreate(H5P_FILE_ACCESS);
	run->transfer = H5Pcreate(H5P_DATASET_XFER);
	if (!run->own_file) {
		H5Pset_fapl_mpio(run->file_access, MPI_COMM_WORLD, run->info);
		H5Pset_dxpl_mpio(run->transfer,
				 collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
	}
	/* Store no modification times, so that files of two runs are identical. */
	run->untimed_set = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_obj_track_times(run->untimed_set, false);
	run->untimed_group = H5Pcreate(H5P_GROUP_CREATE);
	H5Pset_obj_track_times(run->untimed_group, false);
}

/* Returns the same result on all ranks, even if their files differ in size. */
static bool chunk_fits(const struct run *run, int dims, const uint64_t *extent)
{
	for (uint64_t rank = 0; rank < run->shape.ranks; rank++) {
		struct dataset set;

		shape_dataset(&run->shape, rank, 0, &set);
		for (int i = 0; i < dims; i++)
			if (extent[i] > (run->own_file ? set.count[i] : set.size[i]))
				return false;
	}
	return true;
}

static int set_chunk(struct run *run, struct err *err)
{
	struct dataset set;
	uint64_t extent[SHAPE_DIMS];
	hsize_t chunk[SHAPE_DIMS];

	if (!run->args->chunk)
		return 0;
	shape_dataset(&run->shape, 0, 0, &set);
	if (kind_extent("chunk", run->args->chunk, (size_t)set.dims, extent, err) < 0)
		return -EINVAL;
	/* HDF5 refuses chunks that are larger than a dataset of fixed size. */
	if (!chunk_fits(run, set.dims, extent))
		return err_set(err, EINVAL, "--chunk: %s is larger than a dataset",
			       run->args->chunk);
	for (int i = 0; i < set.dims; i++)
		chunk[i] = extent[i];
	if (H5Pset_chunk(run->untimed_set, set.dims, chunk) < 0)
		return err_set(err, EINVAL, "--chunk: HDF5 rejects %s", run->args->chunk);
	return 0;
}

/* Collective; fails on all ranks if it fails on one. */
static int run_open(struct run *run)
{
	struct err err = { 0 };
	struct dataset set;
	uint64_t bytes;

	/* The part of a rank has the same size in all datasets. */
	shape_dataset(&run->shape, (uint64_t)run->kernel->rank, 0, &set);
	bytes = dataset_rank_bytes(&set);
	run->data = calloc(bytes, 1);
	run->expected = calloc(bytes, 1);
	if (!run->data || !run->expected)
		err_set(&err, ENOMEM,
			"out of memory for 2 x %llu bytes; use a smaller size per rank",
			(unsigned long long)bytes);
	return kernel_agree(run->kernel, &err);
}

static void run_close(struct run *run)
{
	H5Pclose(run->file_access);
	H5Pclose(run->transfer);
	H5Pclose(run->untimed_set);
	H5Pclose(run->untimed_group);
	free(run->data);
	free(run->expected);
	free(run->path);
	if (run->info != MPI_INFO_NULL)
		MPI_Info_free(&run->info);
}

/* Writes the file unless --read is given; reads it for --read and --verify. */
static int run_files(struct run *run)
{
	int ret = 0;

	if (!run->args->read) {
		ret = access_file(run, true);
		if (!ret)
			print_result(run, true);
	}
	if (!ret && (run->args->read || run->args->verify)) {
		ret = access_file(run, false);
		if (!ret)
			print_result(run, false);
	}
	if (run->args->remove && (run->own_file || !run->kernel->rank))
		unlink(run->path);
	return ret;
}

/* Initializes the run from the options. run_close() releases it, also after a failure. */
static int run_init(struct run *run, const struct kind *kind, struct err *err)
{
	const struct kind_args *args = run->args;
	int ret;

	/* kernel_agree() reports errors once. */
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	run->own_file = args->driver == KIND_POSIX;
	run->path = run->own_file ? xprintf("%s.%d", args->file, run->kernel->rank)
				  : xstrdup(args->file);
	run->info = MPI_INFO_NULL;
	ret = kind_shape(kind, args, (uint64_t)run->kernel->ranks, &run->shape, err);
	if (!ret)
		ret = kernel_hints(&args->hints, &run->info, err);
	make_properties(run);
	return ret ? ret : set_chunk(run, err);
}

int datasets_main(const char *name, int argc, char **argv)
{
	const struct kind *kind = kind_find(name);
	struct kernel kernel = {
		.name = kind->program,
		.about = kind->about,
		.options = kind->options,
	};
	struct kind_args args = { 0 };
	struct run run = { .kernel = &kernel, .args = &args };
	struct err err = { 0 };
	int code;

	if (!kernel_start(&kernel, &args, argc, argv, &code))
		return code;
	if (run_init(&run, kind, &err) < 0) {
		run_close(&run);
		return kernel_misuse(&kernel, &args, &err);
	}
	code = run_open(&run) < 0 || run_files(&run) < 0 ? KERNEL_FAILED : KERNEL_GOOD;
	run_close(&run);
	return kernel_end(&kernel, &args, code);
}
