/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collective writes or reads of one shared file with MPI-IO, like IOR: every rank moves its bytes
 * by MPI_File_write_at_all, in calls of the same size. Its part of the file is contiguous, or with
 * --strided interleaved with the parts of the other ranks.
 *
 * Every write creates a new file; the times exclude removal of the old file, and generation and
 * verification of data. One run can process many cases, each with its own size and hints. Their
 * order is shuffled in each repetition, so that changes of the machine's load affect all cases
 * equally.
 * Papers: HYB-7.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "kernels/kernel.h"
#include "kernels/striping.h"

#define DATA_SEED 7

struct args {
	uint64_t size, transfer, block, repeat, seed;
	const char *file, *cases;
	struct option_list hints;
	bool read, verify, remove;
};

static const struct option options[] = {
	{ 's', "size", "SIZE", "1M", "bytes per rank", OPTION_SIZE, offsetof(struct args, size) },
	{ 't', "transfer", "SIZE", NULL, "bytes per rank and call (default: all)", OPTION_SIZE,
	  offsetof(struct args, transfer) },
	{ 0, "strided", "SIZE", NULL, "interleave ranks in pieces of this size", OPTION_SIZE,
	  offsetof(struct args, block) },
	{ 'o', "file", "PATH", "collective.dat", "file to write or read", OPTION_TEXT,
	  offsetof(struct args, file) },
	{ 'H', "hint", "KEY=VALUE", NULL, "set an MPI-IO hint; may be repeated", OPTION_LIST,
	  offsetof(struct args, hints) },
	{ 'n', "repeat", "N", "1", "repetitions, each with a new file", OPTION_COUNT,
	  offsetof(struct args, repeat) },
	{ 0, "cases", "FILE", NULL,
	  "run all cases of the file in shuffled order; each line has a SIZE, or SIZE/PIECE for "
	  "interleaved pieces, and KEY=VALUE hints in addition to those of --hint",
	  OPTION_TEXT, offsetof(struct args, cases) },
	{ 0, "seed", "N", "1", "seed of the order of cases", OPTION_COUNT,
	  offsetof(struct args, seed) },
	{ 'r', "read", NULL, NULL, "only read the file of an earlier run", OPTION_FLAG,
	  offsetof(struct args, read) },
	{ 0, "verify", NULL, NULL, "read the file back and check every byte", OPTION_FLAG,
	  offsetof(struct args, verify) },
	{ 0, "remove", NULL, NULL, "remove the file at the end", OPTION_FLAG,
	  offsetof(struct args, remove) },
	{ 0 },
};

/* One case: a size and its hints. */
struct test_case {
	uint64_t size, transfer;
	uint64_t block; /* bytes of a piece; OPTION_NONE: contiguous */
	size_t line;	/* in the file of cases; 0: not from a file */
	MPI_Info info;
};

enum phase { PHASE_OPEN, PHASE_TRANSFER, PHASE_CLOSE, PHASES };

/* Times of one rank. */
struct times {
	double took[PHASES];
	double opened, moved; /* begin and end of the transfer */
};

struct run {
	struct kernel *kernel;
	const struct args *args;
	struct test_case *cases;
	size_t count, cap;
	uint64_t largest; /* largest size of all cases */
	char *data;
	uint64_t filled, filled_block; /* size and block for which data is filled; 0: none */
};

static bool is_strided(const struct test_case *one)
{
	return one->block != OPTION_NONE;
}

static uint64_t piece_bytes(const struct test_case *one)
{
	return is_strided(one) ? one->block : one->size;
}

/* The file offset of piece i of the rank. */
static uint64_t piece_place(const struct run *run, const struct test_case *one, uint64_t i)
{
	uint64_t ranks = (uint64_t)run->kernel->ranks, rank = (uint64_t)run->kernel->rank;

	return (i * ranks + rank) * piece_bytes(one);
}

static void fill_data(struct run *run, const struct test_case *one)
{
	uint64_t piece = piece_bytes(one);

	if (run->filled == one->size && run->filled_block == one->block)
		return;
	for (uint64_t i = 0; i < one->size / piece; i++)
		kernel_fill(run->data + i * piece, piece, piece_place(run, one, i), DATA_SEED);
	run->filled = one->size;
	run->filled_block = one->block;
}

static void verify_data(const struct run *run, const struct test_case *one, struct err *err)
{
	uint64_t piece = piece_bytes(one);

	for (uint64_t i = 0; i < one->size / piece; i++) {
		uint64_t at = piece_place(run, one, i);
		int64_t wrong = kernel_verify(run->data + i * piece, piece, at, DATA_SEED);

		if (wrong < 0)
			continue;
		err_set(err, EIO, "byte %llu differs from what was written",
			(unsigned long long)at + (unsigned long long)wrong);
		return;
	}
}

/* Sets a view that shows only the pieces of the rank. */
static void set_view(const struct run *run, const struct test_case *one, MPI_File f,
		     struct err *err)
{
	uint64_t piece = piece_bytes(one);
	MPI_Datatype block, mine;
	int code;

	MPI_Type_contiguous((int)piece, MPI_BYTE, &block);
	MPI_Type_vector((int)(one->size / piece), 1, run->kernel->ranks, block, &mine);
	MPI_Type_commit(&mine);
	code = MPI_File_set_view(f, (MPI_Offset)piece_place(run, one, 0), MPI_BYTE, mine, "native",
				 one->info);
	kernel_note(err, code, "MPI_File_set_view");
	MPI_Type_free(&block);
	MPI_Type_free(&mine);
}

/* MPI libraries may report a truncated transfer as success. */
static void note_short(struct err *err, const MPI_Status *status, uint64_t at, int wanted)
{
	int got;

	MPI_Get_count(status, MPI_BYTE, &got);
	if (got != wanted && !err->code)
		err_set(err, EIO,
			"truncated after %d of %d bytes at offset %llu: end of file or "
			"device full",
			got, wanted, (unsigned long long)at);
}

/* Makes all calls even after an error, because other ranks wait in them. */
static void transfer_all(const struct run *run, const struct test_case *one, bool write, MPI_File f,
			 struct err *err)
{
	uint64_t first = is_strided(one) ? 0 : piece_place(run, one, 0);

	for (uint64_t done = 0; done < one->size; done += one->transfer) {
		uint64_t left = one->size - done;
		int n = (int)(left < one->transfer ? left : one->transfer);
		MPI_Offset at = (MPI_Offset)first + (MPI_Offset)done;
		char *data = run->data + done;
		MPI_Status status;
		int code = write ? MPI_File_write_at_all(f, at, data, n, MPI_BYTE, &status)
				 : MPI_File_read_at_all(f, at, data, n, MPI_BYTE, &status);

		if (!kernel_note(err, code, "offset %llu", (unsigned long long)at))
			note_short(err, &status, (uint64_t)at, n);
	}
}

static void access_file(const struct run *run, const struct test_case *one, bool write,
			struct times *times, struct err *err)
{
	int mode = write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
	double begin = MPI_Wtime(), opened, moved;
	MPI_File f;

	if (kernel_note(err, MPI_File_open(MPI_COMM_WORLD, run->args->file, mode, one->info, &f),
			"open"))
		return;
	if (is_strided(one))
		set_view(run, one, f, err);
	opened = MPI_Wtime();
	transfer_all(run, one, write, f, err);
	moved = MPI_Wtime();
	kernel_note(err, MPI_File_close(&f), "close");
	times->took[PHASE_OPEN] = opened - begin;
	times->took[PHASE_TRANSFER] = moved - opened;
	times->took[PHASE_CLOSE] = MPI_Wtime() - moved;
	times->opened = opened;
	times->moved = moved;
}

static uint64_t hint_number(const struct test_case *one, const char *name)
{
	char value[MPI_MAX_INFO_VAL + 1] = "";
	int found = 0;

	if (one->info != MPI_INFO_NULL)
		MPI_Info_get(one->info, name, MPI_MAX_INFO_VAL, value, &found);
	return found ? strtoull(value, NULL, 10) : 0;
}

/* Creates the file with the stripes of the hints, if it is on a file system that takes them but
 * whose stripes the MPI library does not set. */
static void create_striped(const struct run *run, const struct test_case *one, struct err *err)
{
	uint64_t stripes = hint_number(one, "striping_factor"),
		 unit = hint_number(one, "striping_unit");
	int fd;

	if (run->kernel->rank || (!stripes && !unit))
		return;
	fd = open(run->args->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		err_set(err, errno, "%s: %s", run->args->file, strerror(errno));
		return;
	}
	if (striping_is_settable(fd))
		striping_set(fd, stripes, unit, err);
	else
		unlink(run->args->file);
	close(fd);
}

static void remove_file(const struct run *run)
{
	if (!run->kernel->rank)
		MPI_File_delete(run->args->file, MPI_INFO_NULL);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void print_result(const struct run *run, const struct test_case *one, bool write,
			 uint64_t repetition, const struct times *times)
{
	const double *took = times->took;
	double seconds =
		kernel_slowest(took[PHASE_OPEN] + took[PHASE_TRANSFER] + took[PHASE_CLOSE]);
	double open_s = kernel_slowest(took[PHASE_OPEN]),
	       transfer_s = kernel_slowest(took[PHASE_TRANSFER]),
	       close_s = kernel_slowest(took[PHASE_CLOSE]),
	       elapsed_s = kernel_elapsed(times->opened, times->moved);
	double bytes = (double)one->size * run->kernel->ranks;

	if (run->kernel->rank)
		return;
	printf("collective_io direction=%s ranks=%d size=%llu transfer=%llu",
	       write ? "write" : "read", run->kernel->ranks, (unsigned long long)one->size,
	       (unsigned long long)one->transfer);
	if (is_strided(one))
		printf(" block=%llu", (unsigned long long)one->block);
	if (one->line)
		printf(" case=%zu", one->line);
	printf(" repetition=%llu bytes=%.0f open_s=%.6f transfer_s=%.6f elapsed_s=%.6f "
	       "close_s=%.6f seconds=%.6f mib_per_s=%.1f\n",
	       (unsigned long long)repetition, bytes, open_s, transfer_s, elapsed_s, close_s,
	       seconds, bytes / 0x1p20 / seconds);
	fflush(stdout);
}

/* Runs one case in one direction. Returns a negative value on all ranks if any rank failed. */
static int run_case(struct run *run, const struct test_case *one, bool write, uint64_t repetition)
{
	struct err err = { 0 };
	struct times times = { 0 };

	if (write) {
		remove_file(run);
		create_striped(run, one, &err);
		fill_data(run, one);
	} else {
		memset(run->data, 0, one->size);
		run->filled = 0;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	access_file(run, one, write, &times, &err);
	if (!err.code && !write && run->args->verify)
		verify_data(run, one, &err);
	if (err.code)
		err_prefix(&err, "%s of %s", write ? "write" : "read", run->args->file);
	if (kernel_agree(run->kernel, &err) < 0)
		return -EIO;
	print_result(run, one, write, repetition, &times);
	return 0;
}

/* Shuffles in the same order on all ranks. */
static void shuffle(size_t *order, size_t count, uint64_t seed)
{
	for (size_t i = count; i > 1; i--) {
		uint64_t drawn;
		size_t other;

		kernel_fill(&drawn, sizeof(drawn), i * sizeof(drawn), seed);
		other = (size_t)(drawn % i);
		if (other != i - 1) {
			size_t kept = order[i - 1];

			order[i - 1] = order[other];
			order[other] = kept;
		}
	}
}

static int run_cases(struct run *run)
{
	const struct args *args = run->args;
	AUTO_FREE size_t *order = xcalloc(run->count, sizeof(*order));
	int ret = 0;

	for (uint64_t repetition = 0; repetition < args->repeat && !ret; repetition++) {
		for (size_t i = 0; i < run->count; i++)
			order[i] = i;
		shuffle(order, run->count, args->seed + repetition);
		for (size_t i = 0; i < run->count && !ret; i++) {
			const struct test_case *one = &run->cases[order[i]];

			if (!args->read)
				ret = run_case(run, one, true, repetition);
			if (!ret && (args->read || args->verify))
				ret = run_case(run, one, false, repetition);
		}
	}
	if (args->remove)
		remove_file(run);
	return ret;
}

static int check_size(const struct test_case *one, struct err *err)
{
	uint64_t piece = piece_bytes(one);

	if (!one->size || one->size >= UINT64_C(1) << 40)
		return err_set(err, EINVAL,
			       "the size per rank must be at least 1 byte and less than 1 TiB");
	if (!one->transfer || one->transfer > INT_MAX)
		return err_set(err, EINVAL,
			       "a call must move from 1 to %d bytes per rank; use --transfer",
			       INT_MAX);
	if (!piece || one->size % piece || (is_strided(one) && piece > INT_MAX) ||
	    one->size / piece > INT_MAX)
		return err_set(err, EINVAL, "the pieces must divide the size per rank, %llu bytes",
			       (unsigned long long)one->size);
	return 0;
}

static int add_case(struct run *run, struct test_case one, const struct option_list *hints,
		    struct err *err)
{
	int ret;

	one.transfer = run->args->transfer;
	if (one.transfer == OPTION_NONE)
		one.transfer = one.size;
	ret = check_size(&one, err);
	if (!ret)
		ret = kernel_hints(hints, &one.info, err);
	if (ret)
		return ret;
	if (run->count == run->cap) {
		run->cap = run->cap ? 2 * run->cap : 16;
		run->cases = xrealloc(run->cases, run->cap, sizeof(*run->cases));
	}
	run->cases[run->count++] = one;
	if (one.size > run->largest)
		run->largest = one.size;
	return 0;
}

/* Reads "SIZE" or "SIZE/PIECE". */
static int read_sizes(struct test_case *one, char *word, struct err *err)
{
	char *size = strsep(&word, "/");
	int ret = option_value(OPTION_SIZE, NULL, "size", size, &one->size, err);

	if (!ret && word)
		ret = option_value(OPTION_SIZE, NULL, "piece", word, &one->block, err);
	return ret;
}

/* Reads "SIZE KEY=VALUE KEY=VALUE"; hints of the line follow those of the command line. */
static int read_case(struct run *run, char *text, size_t line, struct err *err)
{
	const struct option_list *all = &run->args->hints;
	struct option_list hints = { .count = all->count };
	AUTO_FREE const char **items = xcalloc(all->count + strlen(text) + 1, sizeof(*items));
	char *rest, *word = strtok_r(text, " \t\r\n", &rest);
	struct test_case one = { .block = run->args->block, .line = line };
	int ret;

	if (!word || *word == '#')
		return 0;
	ret = read_sizes(&one, word, err);
	if (ret)
		return ret;
	hints.items = items;
	for (size_t i = 0; i < all->count; i++)
		items[i] = all->items[i];
	while ((word = strtok_r(NULL, " \t\r\n", &rest)))
		items[hints.count++] = word;
	return add_case(run, one, &hints, err);
}

static int read_cases(struct run *run, struct err *err)
{
	AUTO_FCLOSE FILE *f = fopen(run->args->cases, "re");
	AUTO_FREE char *text = NULL;
	size_t cap = 0, line = 0;
	int ret = 0;

	if (!f)
		return err_set(err, errno, "--cases: %s: %s", run->args->cases, strerror(errno));
	while (!ret && getline(&text, &cap, f) >= 0) {
		ret = read_case(run, text, ++line, err);
		if (ret)
			err_prefix(err, "%s:%zu", run->args->cases, line);
	}
	if (!ret && !run->count)
		ret = err_set(err, EINVAL, "--cases: %s contains no cases", run->args->cases);
	return ret;
}

/* Collective; fails on all ranks if it fails on one. */
static int run_open(struct run *run)
{
	struct err err = { 0 };

	run->data = malloc(run->largest);
	if (!run->data)
		err_set(&err, ENOMEM, "out of memory for %llu bytes; lower --size",
			(unsigned long long)run->largest);
	return kernel_agree(run->kernel, &err);
}

static void run_close(struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->cases[i].info != MPI_INFO_NULL)
			MPI_Info_free(&run->cases[i].info);
	free(run->cases);
	free(run->data);
}

int main(int argc, char **argv)
{
	struct kernel kernel = {
		.name = "collective_io",
		.about = "Write or read a shared file by collective calls of MPI-IO, like IOR.",
		.options = options,
	};
	struct args args;
	struct run run = { .kernel = &kernel, .args = &args };
	struct err err = { 0 };
	int code, ret;

	if (!kernel_start(&kernel, &args, argc, argv, &code))
		return code;
	ret = args.cases
		      ? read_cases(&run, &err)
		      : add_case(&run, (struct test_case){ .size = args.size, .block = args.block },
				 &args.hints, &err);
	if (ret) {
		run_close(&run);
		return kernel_misuse(&kernel, &args, &err);
	}
	if (args.cases)
		kernel_print_library(&kernel);
	code = run_open(&run) < 0 || run_cases(&run) < 0 ? KERNEL_FAILED : KERNEL_GOOD;
	run_close(&run);
	return kernel_end(&kernel, &args, code);
}
