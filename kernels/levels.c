/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The four access levels of MPI-IO, as in Parabench: {independent, collective} x {contiguous,
 * noncontiguous}, each written and read back. Ranks own the blocks of one shared file round-robin
 * (or each rank owns all blocks of its own file). Contiguous levels make one call with an explicit
 * offset per block; noncontiguous levels make a single call through a view that shows only the
 * blocks of the rank. Each level opens and closes the file.
 *
 * There is one line of results per level and direction, with the time of the slowest rank from
 * before the open until after the close, and the times of open, transfer and close.
 * Papers: SIOX-60.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/kernel.h"

/* The size of --paper: 1000 MiB per rank. */
#define PAPER_BLOCKS 10240
#define PAPER_BLOCK_BYTES (100 * 1024)
#define DATA_SEED 1

struct args {
	uint64_t block_bytes, blocks;
	const char *file;
	struct option_list hints, levels;
	int direction;
	bool own_files, paper, keep, no_verify;
};

enum direction { DIRECTION_BOTH, DIRECTION_WRITE, DIRECTION_READ };

static const struct option options[] = {
	{ 'b', "block", "SIZE", "100K", "size of a block", OPTION_SIZE,
	  offsetof(struct args, block_bytes) },
	{ 'n', "count", "N", "64", "blocks per rank", OPTION_COUNT, offsetof(struct args, blocks) },
	{ 0, "paper", NULL, NULL, "use 10240 blocks of 100 KiB and ignore -b and -n", OPTION_FLAG,
	  offsetof(struct args, paper) },
	{ 'f', "file", "PATH", "levels.dat", "file to write and read", OPTION_TEXT,
	  offsetof(struct args, file) },
	{ 'F', "file-per-process", NULL, NULL,
	  "use one file PATH.RANK per rank instead of a shared file", OPTION_FLAG,
	  offsetof(struct args, own_files) },
	{ 'l', "level", "NAME", NULL,
	  "level to run: independent-contiguous, independent-noncontiguous, collective-contiguous "
	  "or collective-noncontiguous; may be repeated (default: all)",
	  OPTION_LIST, offsetof(struct args, levels) },
	{ 'd', "direction", "both|write|read", "both", "directions to run at each level",
	  OPTION_CHOICE, offsetof(struct args, direction) },
	{ 'H', "hint", "KEY=VALUE", NULL, "set an MPI-IO hint; may be repeated", OPTION_LIST,
	  offsetof(struct args, hints) },
	{ 'k', "keep", NULL, NULL, "keep the file", OPTION_FLAG, offsetof(struct args, keep) },
	{ 0, "no-verify", NULL, NULL, "do not verify the data after reading", OPTION_FLAG,
	  offsetof(struct args, no_verify) },
	{ 0 },
};

struct level {
	const char *name;
	bool collective, contiguous;
};

static const struct level all_levels[] = {
	{ "independent-contiguous", false, true },
	{ "collective-contiguous", true, true },
	{ "independent-noncontiguous", false, false },
	{ "collective-noncontiguous", true, false },
};

#define LEVELS (sizeof(all_levels) / sizeof(all_levels[0]))

enum phase { PHASE_OPEN, PHASE_TRANSFER, PHASE_CLOSE, PHASES };

/* One run. With a file per process, each rank is member 0 of 1. */
struct run {
	struct kernel *kernel;
	const struct args *args;
	bool wanted[LEVELS];
	MPI_Comm comm;
	int member, members;
	char *path;
	MPI_Info info;
	MPI_Datatype block; /* block_bytes bytes, so that counts fit into an int */
	MPI_Datatype mine;  /* the view of this rank: its block of each round */
	char *data;	    /* blocks * block_bytes */
};

static MPI_Offset block_offset(const struct run *run, int i)
{
	return ((MPI_Offset)i * run->members + run->member) * (MPI_Offset)run->args->block_bytes;
}

static char *block_data(const struct run *run, int i)
{
	return run->data + (size_t)i * run->args->block_bytes;
}

/* MPI libraries may report a truncated transfer as success. */
static int note_short(struct err *err, const MPI_Status *status, MPI_Datatype block, int wanted)
{
	int got;

	MPI_Get_count(status, block, &got);
	if (got == wanted || err->code)
		return 0;
	return err_set(err, EIO, "truncated: end of file or device full");
}

static int transfer_at(const struct run *run, const struct level *level, bool write, MPI_File f,
		       int i, MPI_Status *status)
{
	MPI_Offset at = block_offset(run, i);
	char *data = block_data(run, i);

	if (write && level->collective)
		return MPI_File_write_at_all(f, at, data, 1, run->block, status);
	if (write)
		return MPI_File_write_at(f, at, data, 1, run->block, status);
	if (level->collective)
		return MPI_File_read_at_all(f, at, data, 1, run->block, status);
	return MPI_File_read_at(f, at, data, 1, run->block, status);
}

static void transfer_blocks(const struct run *run, const struct level *level, bool write,
			    MPI_File f, struct err *err)
{
	for (int i = 0; i < (int)run->args->blocks; i++) {
		MPI_Status status;
		int code = transfer_at(run, level, write, f, i, &status);

		if (!kernel_note(err, code, "block %d", i) &&
		    note_short(err, &status, run->block, 1))
			err_prefix(err, "block %d", i);
		/* In collective calls other ranks wait for this one, so continue. */
		if (err->code && !level->collective)
			return;
	}
}

static int transfer_all(const struct run *run, const struct level *level, bool write, MPI_File f,
			MPI_Status *status)
{
	int count = (int)run->args->blocks;

	if (write && level->collective)
		return MPI_File_write_all(f, run->data, count, run->block, status);
	if (write)
		return MPI_File_write(f, run->data, count, run->block, status);
	if (level->collective)
		return MPI_File_read_all(f, run->data, count, run->block, status);
	return MPI_File_read(f, run->data, count, run->block, status);
}

static void transfer_view(const struct run *run, const struct level *level, bool write, MPI_File f,
			  struct err *err)
{
	MPI_Status status;
	int code = MPI_File_set_view(f, block_offset(run, 0), run->block, run->mine, "native",
				     run->info);

	if (kernel_note(err, code, "MPI_File_set_view"))
		return;
	code = transfer_all(run, level, write, f, &status);
	if (!kernel_note(err, code, "all blocks in one call"))
		note_short(err, &status, run->block, (int)run->args->blocks);
}

/* Opens the file, transfers and closes it, and measures each phase. */
static void access_file(const struct run *run, const struct level *level, bool write,
			double took[PHASES], struct err *err)
{
	int mode = write ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
	double begin = MPI_Wtime(), opened, moved;
	MPI_File f;

	if (kernel_note(err, MPI_File_open(run->comm, run->path, mode, run->info, &f), "open"))
		return;
	opened = MPI_Wtime();
	if (level->contiguous)
		transfer_blocks(run, level, write, f, err);
	else
		transfer_view(run, level, write, f, err);
	moved = MPI_Wtime();
	kernel_note(err, MPI_File_close(&f), "close");
	took[PHASE_OPEN] = opened - begin;
	took[PHASE_TRANSFER] = moved - opened;
	took[PHASE_CLOSE] = MPI_Wtime() - moved;
}

static void fill_data(const struct run *run)
{
	for (int i = 0; i < (int)run->args->blocks; i++)
		kernel_fill(block_data(run, i), run->args->block_bytes,
			    (uint64_t)block_offset(run, i), DATA_SEED);
}

static void verify_data(const struct run *run, struct err *err)
{
	for (int i = 0; i < (int)run->args->blocks; i++) {
		uint64_t at = (uint64_t)block_offset(run, i);
		int64_t wrong =
			kernel_verify(block_data(run, i), run->args->block_bytes, at, DATA_SEED);

		if (wrong < 0)
			continue;
		err_set(err, EIO, "byte %llu differs from what was written",
			(unsigned long long)at + (unsigned long long)wrong);
		return;
	}
}

/* Removes the file, so that no level reads data of another one. A missing file is not an error. */
static void remove_file(const struct run *run)
{
	if (!run->member)
		MPI_File_delete(run->path, MPI_INFO_NULL);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void print_result(const struct run *run, const struct level *level, bool write,
			 const double took[PHASES])
{
	double seconds =
		kernel_slowest(took[PHASE_OPEN] + took[PHASE_TRANSFER] + took[PHASE_CLOSE]);
	double open_s = kernel_slowest(took[PHASE_OPEN]),
	       transfer_s = kernel_slowest(took[PHASE_TRANSFER]),
	       close_s = kernel_slowest(took[PHASE_CLOSE]);
	double bytes =
		(double)run->args->block_bytes * (double)run->args->blocks * run->kernel->ranks;

	if (!run->kernel->rank)
		printf("levels level=%s direction=%s ranks=%d block=%llu count=%llu bytes=%.0f "
		       "open_s=%.6f transfer_s=%.6f close_s=%.6f seconds=%.6f mib_per_s=%.1f\n",
		       level->name, write ? "write" : "read", run->kernel->ranks,
		       (unsigned long long)run->args->block_bytes,
		       (unsigned long long)run->args->blocks, bytes, open_s, transfer_s, close_s,
		       seconds, bytes / 0x1p20 / seconds);
}

/* Runs one level in one direction. Returns a negative value on all ranks if any rank failed. */
static int run_level(const struct run *run, const struct level *level, bool write)
{
	struct err err = { 0 };
	double took[PHASES] = { 0 };

	if (write) {
		remove_file(run);
		fill_data(run);
	} else {
		memset(run->data, 0, run->args->blocks * run->args->block_bytes);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	access_file(run, level, write, took, &err);
	if (!err.code && !write && !run->args->no_verify)
		verify_data(run, &err);
	if (err.code)
		err_prefix(&err, "%s %s of %s", level->name, write ? "write" : "read", run->path);
	if (kernel_agree(run->kernel, &err) < 0)
		return -EIO;
	print_result(run, level, write, took);
	return 0;
}

static int run_levels(const struct run *run)
{
	int direction = run->args->direction, ret = 0;

	for (size_t i = 0; i < LEVELS && !ret; i++) {
		if (!run->wanted[i])
			continue;
		if (direction != DIRECTION_READ)
			ret = run_level(run, &all_levels[i], true);
		if (!ret && direction != DIRECTION_WRITE)
			ret = run_level(run, &all_levels[i], false);
	}
	if (!run->args->keep && direction != DIRECTION_READ)
		remove_file(run);
	return ret;
}

static int want_levels(struct run *run, struct err *err)
{
	const struct option_list *names = &run->args->levels;

	for (size_t i = 0; i < LEVELS; i++)
		run->wanted[i] = !names->count;
	for (size_t n = 0; n < names->count; n++) {
		size_t i = 0;

		while (i < LEVELS && strcmp(all_levels[i].name, names->items[n]) != 0)
			i++;
		if (i == LEVELS)
			return err_set(err, EINVAL, "--level: unknown level \"%s\"; see --help",
				       names->items[n]);
		run->wanted[i] = true;
	}
	return 0;
}

static int check_sizes(struct args *args, struct err *err)
{
	if (args->paper) {
		args->block_bytes = PAPER_BLOCK_BYTES;
		args->blocks = PAPER_BLOCKS;
	}
	if (!args->block_bytes || args->block_bytes > INT_MAX)
		return err_set(err, EINVAL, "--block must be from 1 to %d bytes", INT_MAX);
	if (!args->blocks || args->blocks > INT_MAX)
		return err_set(err, EINVAL, "--count must be from 1 to %d", INT_MAX);
	return 0;
}

static void make_types(struct run *run)
{
	MPI_Type_contiguous((int)run->args->block_bytes, MPI_BYTE, &run->block);
	MPI_Type_commit(&run->block);
	MPI_Type_vector((int)run->args->blocks, 1, run->members, run->block, &run->mine);
	MPI_Type_commit(&run->mine);
}

/* Collective; fails on all ranks if it fails on one. */
static int run_open(struct run *run)
{
	struct err err = { 0 };
	bool own = run->args->own_files;

	run->comm = own ? MPI_COMM_SELF : MPI_COMM_WORLD;
	run->member = own ? 0 : run->kernel->rank;
	run->members = own ? 1 : run->kernel->ranks;
	run->path = own ? xprintf("%s.%d", run->args->file, run->kernel->rank)
			: xstrdup(run->args->file);
	run->data = calloc(run->args->blocks, run->args->block_bytes);
	if (!run->data)
		err_set(&err, ENOMEM, "out of memory for %llu blocks of %llu bytes; lower -n or -b",
			(unsigned long long)run->args->blocks,
			(unsigned long long)run->args->block_bytes);
	make_types(run);
	return kernel_agree(run->kernel, &err);
}

static void run_close(struct run *run)
{
	MPI_Type_free(&run->block);
	MPI_Type_free(&run->mine);
	free(run->data);
	free(run->path);
}

int main(int argc, char **argv)
{
	struct kernel kernel = {
		.name = "levels",
		.about = "Write and read a file at the four access levels of MPI-IO.",
		.options = options,
	};
	struct args args;
	struct run run = { .kernel = &kernel, .args = &args };
	struct err err = { 0 };
	int code;

	if (!kernel_start(&kernel, &args, argc, argv, &code))
		return code;
	if (check_sizes(&args, &err) < 0 || want_levels(&run, &err) < 0 ||
	    kernel_hints(&args.hints, &run.info, &err) < 0)
		return kernel_misuse(&kernel, &args, &err);
	code = run_open(&run) < 0 || run_levels(&run) < 0 ? KERNEL_FAILED : KERNEL_GOOD;
	run_close(&run);
	if (run.info != MPI_INFO_NULL)
		MPI_Info_free(&run.info);
	return kernel_end(&kernel, &args, code);
}
