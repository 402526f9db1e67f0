/* SPDX-License-Identifier: BSD-3-Clause
 *
 * VPIC-IO, the write kernel of a plasma physics code: particles in one dimension, eight variables
 * of four bytes each, every rank a contiguous slab of every variable. A time step is a group
 * "Step#N" as H5Part names it, with one dataset per variable and one H5Dwrite per rank for it. The
 * values are random and follow from the place alone, so that two runs make identical files.
 *
 * The time is that of the slowest rank for open + write + close, without making the data.
 */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel.h"

#define PAPER_PARTICLES (8u << 20) /* of each rank: 32 MiB per variable, 256 MiB in all */
#define VALUE_BYTES 4

struct args {
	uint64_t particles, steps;
	const char *file;
	struct option_list hints;
	int transfer;
	bool paper, verify;
};

enum transfer { TRANSFER_COLLECTIVE, TRANSFER_INDEPENDENT };

static const char transfer_words[] = "collective|independent";

static const struct option options[] = {
	{ 'n', "particles", "N", "32768", "particles of each rank", OPTION_COUNT,
	  offsetof(struct args, particles) },
	{ 0, "paper", NULL, NULL, "8388608 particles, whatever -n says", OPTION_FLAG,
	  offsetof(struct args, paper) },
	{ 's', "steps", "N", "1", "time steps to write", OPTION_COUNT,
	  offsetof(struct args, steps) },
	{ 'f', "file", "PATH", "vpic.h5", "the file to write; it stays", OPTION_TEXT,
	  offsetof(struct args, file) },
	{ 't', "transfer", transfer_words, "collective", "how HDF5 hands the data to MPI-IO",
	  OPTION_CHOICE, offsetof(struct args, transfer) },
	{ 'H', "hint", "KEY=VALUE", NULL, "an MPI-IO hint; may be repeated", OPTION_LIST,
	  offsetof(struct args, hints) },
	{ 0, "verify", NULL, NULL, "read the file back and check every value", OPTION_FLAG,
	  offsetof(struct args, verify) },
	{ 0 },
};

struct variable {
	const char *name;
	bool is_integer;
};

static const struct variable variables[] = {
	{ "x", false },	 { "y", false },  { "z", false },  { "id1", true },
	{ "id2", true }, { "px", false }, { "py", false }, { "pz", false },
};

#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

struct run {
	struct kernel *kernel;
	const struct args *args;
	MPI_Info info;
	hid_t file_access, transfer, untimed_set, untimed_group;
	hid_t memory, slab; /* spaces: the rank's particles; their place in a variable */
	void *data, *expected;
	double open_s, write_s, close_s; /* of this rank */
};

static herr_t keep_first(unsigned depth, const H5E_error2_t *error, void *text)
{
	if (!depth)
		snprintf(text, 256, "%s: %s", error->func_name, error->desc);
	return 0;
}

/* Notes the innermost message of HDF5 for a negative result. Returns the result. */
static int64_t note_h5(struct err *err, int64_t result, const char *what)
{
	char text[256] = "HDF5 gives no reason";

	if (result >= 0 || err->code)
		return result;
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
	err_set(err, EIO, "%s: %s", what, text);
	return result;
}

static hid_t type_of(const struct variable *variable)
{
	return variable->is_integer ? H5T_NATIVE_INT32 : H5T_NATIVE_FLOAT;
}

/* Random integers, and random floats in [0, 1): bits that are no number would spoil any compare. */
static void make_values(const struct run *run, uint64_t step, size_t v, void *out)
{
	uint64_t n = run->args->particles;
	uint32_t *bits = out;

	kernel_fill(out, n * VALUE_BYTES, (uint64_t)run->kernel->rank * n * VALUE_BYTES,
		    step * VARIABLES + v);
	if (variables[v].is_integer)
		return;
	for (uint64_t i = 0; i < n; i++) {
		float value = (float)(bits[i] >> 8) / (float)(1u << 24);

		memcpy(&bits[i], &value, sizeof(value));
	}
}

static void write_variable(struct run *run, hid_t group, uint64_t step, size_t v, struct err *err)
{
	const struct variable *variable = &variables[v];
	hid_t set;
	double begin;

	make_values(run, step, v, run->data);
	begin = MPI_Wtime();
	set = H5Dcreate2(group, variable->name, type_of(variable), run->slab, H5P_DEFAULT,
			 run->untimed_set, H5P_DEFAULT);
	if (note_h5(err, set, variable->name) >= 0) {
		note_h5(err,
			H5Dwrite(set, type_of(variable), run->memory, run->slab, run->transfer,
				 run->data),
			variable->name);
		note_h5(err, H5Dclose(set), variable->name);
	}
	run->write_s += MPI_Wtime() - begin;
}

static void step_name(uint64_t step, char name[32])
{
	snprintf(name, 32, "Step#%llu", (unsigned long long)step);
}

static void write_step(struct run *run, hid_t file, uint64_t step, struct err *err)
{
	char name[32];
	hid_t group;
	double begin = MPI_Wtime();

	step_name(step, name);
	group = H5Gcreate2(file, name, H5P_DEFAULT, run->untimed_group, H5P_DEFAULT);
	run->write_s += MPI_Wtime() - begin;
	if (note_h5(err, group, name) < 0)
		return;
	for (size_t v = 0; v < VARIABLES; v++)
		write_variable(run, group, step, v, err);
	note_h5(err, H5Gclose(group), name);
}

/* Negative, on all ranks, where any of them failed. */
static int write_file(struct run *run)
{
	struct err err = { 0 };
	hid_t file;
	double begin;
	int ret;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	file = H5Fcreate(run->args->file, H5F_ACC_TRUNC, H5P_DEFAULT, run->file_access);
	run->open_s = MPI_Wtime() - begin;
	note_h5(&err, file, run->args->file);
	ret = kernel_agree(run->kernel, &err);
	for (uint64_t step = 0; step < run->args->steps && !ret; step++) {
		write_step(run, file, step, &err);
		ret = kernel_agree(run->kernel, &err);
	}
	if (file < 0)
		return ret;
	begin = MPI_Wtime();
	note_h5(&err, H5Fclose(file), run->args->file);
	run->close_s = MPI_Wtime() - begin;
	return ret ? ret : kernel_agree(run->kernel, &err);
}

static void verify_variable(const struct run *run, hid_t file, uint64_t step, size_t v,
			    struct err *err)
{
	char group[32];
	AUTO_FREE char *path = NULL;
	hid_t set;

	step_name(step, group);
	path = xprintf("%s/%s", group, variables[v].name);
	set = H5Dopen2(file, path, H5P_DEFAULT);
	if (note_h5(err, set, path) < 0)
		return;
	make_values(run, step, v, run->expected);
	memset(run->data, 0, run->args->particles * VALUE_BYTES);
	if (note_h5(err,
		    H5Dread(set, type_of(&variables[v]), run->memory, run->slab, run->transfer,
			    run->data),
		    path) >= 0 &&
	    memcmp(run->data, run->expected, run->args->particles * VALUE_BYTES) != 0 && !err->code)
		err_set(err, EIO, "%s: %s is not what was written", run->args->file, path);
	H5Dclose(set);
}

static int verify_file(const struct run *run)
{
	struct err err = { 0 };
	hid_t file = H5Fopen(run->args->file, H5F_ACC_RDONLY, run->file_access);

	note_h5(&err, file, run->args->file);
	if (kernel_agree(run->kernel, &err) < 0)
		return -EIO;
	for (uint64_t step = 0; step < run->args->steps; step++)
		for (size_t v = 0; v < VARIABLES; v++)
			verify_variable(run, file, step, v, &err);
	note_h5(&err, H5Fclose(file), run->args->file);
	return kernel_agree(run->kernel, &err);
}

static void print_result(const struct run *run)
{
	double bytes = (double)run->args->particles * VALUE_BYTES * VARIABLES *
		       (double)run->args->steps * run->kernel->ranks;
	double seconds = kernel_slowest(run->open_s + run->write_s + run->close_s);
	double open_s = kernel_slowest(run->open_s), write_s = kernel_slowest(run->write_s),
	       close_s = kernel_slowest(run->close_s);
	char transfer[16];

	option_choice_name(transfer_words, run->args->transfer, transfer, sizeof(transfer));
	if (!run->kernel->rank)
		printf("vpic_io transfer=%s ranks=%d particles=%llu steps=%llu bytes=%.0f "
		       "open_s=%.6f write_s=%.6f close_s=%.6f seconds=%.6f mb_per_s=%.1f\n",
		       transfer, run->kernel->ranks, (unsigned long long)run->args->particles,
		       (unsigned long long)run->args->steps, bytes, open_s, write_s, close_s,
		       seconds, bytes / 1e6 / seconds);
}

static void make_properties(struct run *run)
{
	bool collective = run->args->transfer == TRANSFER_COLLECTIVE;

	run->file_access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_fapl_mpio(run->file_access, MPI_COMM_WORLD, run->info);
	run->transfer = H5Pcreate(H5P_DATASET_XFER);
	H5Pset_dxpl_mpio(run->transfer, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
	/* Without times of change, or no two files would be identical. */
	run->untimed_set = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_obj_track_times(run->untimed_set, false);
	run->untimed_group = H5Pcreate(H5P_GROUP_CREATE);
	H5Pset_obj_track_times(run->untimed_group, false);
}

static void make_spaces(struct run *run)
{
	hsize_t mine = run->args->particles, all = mine * (hsize_t)run->kernel->ranks;
	hsize_t start = mine * (hsize_t)run->kernel->rank;

	run->memory = H5Screate_simple(1, &mine, NULL);
	run->slab = H5Screate_simple(1, &all, NULL);
	H5Sselect_hyperslab(run->slab, H5S_SELECT_SET, &start, NULL, &mine, NULL);
}

/* Collective; what fails on one rank ends all. */
static int run_open(struct run *run)
{
	struct err err = { 0 };

	/* Errors are told once, by kernel_agree(). */
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	make_properties(run);
	make_spaces(run);
	run->data = calloc(run->args->particles, VALUE_BYTES);
	run->expected = calloc(run->args->particles, VALUE_BYTES);
	if (!run->data || !run->expected)
		err_set(&err, ENOMEM, "no memory for %llu particles: lower -n",
			(unsigned long long)run->args->particles);
	return kernel_agree(run->kernel, &err);
}

static void run_close(struct run *run)
{
	H5Sclose(run->memory);
	H5Sclose(run->slab);
	H5Pclose(run->file_access);
	H5Pclose(run->transfer);
	H5Pclose(run->untimed_set);
	H5Pclose(run->untimed_group);
	free(run->data);
	free(run->expected);
	if (run->info != MPI_INFO_NULL)
		MPI_Info_free(&run->info);
}

static int check_sizes(struct args *args, struct err *err)
{
	if (args->paper)
		args->particles = PAPER_PARTICLES;
	/* MPI-IO counts the bytes of a call in an int. */
	if (!args->particles || args->particles > INT32_MAX / VALUE_BYTES)
		return err_set(err, EINVAL, "--particles must be from 1 to %d",
			       INT32_MAX / VALUE_BYTES);
	if (!args->steps)
		return err_set(err, EINVAL, "--steps must be 1 or more");
	return 0;
}

int main(int argc, char **argv)
{
	struct kernel kernel = {
		.name = "vpic_io",
		.about = "Writes particles with parallel HDF5 as the plasma code VPIC does.",
		.options = options,
	};
	struct args args;
	struct run run = { .kernel = &kernel, .args = &args };
	struct err err = { 0 };
	int code;

	if (!kernel_start(&kernel, &args, argc, argv, &code))
		return code;
	if (check_sizes(&args, &err) < 0 || kernel_hints(&args.hints, &run.info, &err) < 0)
		return kernel_misuse(&kernel, &args, &err);
	code = run_open(&run) < 0 || write_file(&run) < 0 ? KERNEL_FAILED : KERNEL_GOOD;
	if (code == KERNEL_GOOD)
		print_result(&run);
	if (code == KERNEL_GOOD && args.verify && verify_file(&run) < 0)
		code = KERNEL_FAILED;
	run_close(&run);
	return kernel_end(&kernel, &args, code);
}
