/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measures elemental operations: reads cells from standard input, one per line, and prints one line
 * per row and one at the end of each cell. `sluice model measure` chooses the cells.
 */
#include "kernels/elemental.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/unit.h"

struct args {
	const char *file, *cells;
	int64_t limit_ns;
};

static const struct option options[] = {
	{ 'f', "file", "PATH", NULL, "file for storage benchmarks; it is removed", OPTION_TEXT,
	  offsetof(struct args, file) },
	{ 'c', "cells", "FILE", "-",
	  "cells to measure, one per line; - is standard input of rank 0", OPTION_TEXT,
	  offsetof(struct args, cells) },
	{ 'l', "limit", "TIME", "1s", "time limit for the repetitions of a communication cell",
	  OPTION_TIME, offsetof(struct args, limit_ns) },
	{ 0 },
};

void elemental_row(const struct elemental *e, const struct elemental_cell *cell,
		   const char *operation, uint64_t writers, uint64_t round, uint64_t repetition,
		   double seconds)
{
	if (e->kernel->rank == 0)
		printf("@row %lu %s %llu %llu %llu %.9g\n", cell->id, operation,
		       (unsigned long long)writers, (unsigned long long)round,
		       (unsigned long long)repetition, seconds);
}

#define APART_BATCHES 21
#define APART_TIMES 10

void elemental_apart(const struct elemental *e)
{
	MPI_Alltoall(e->sizes, 1, MPI_INT, e->sizes + e->kernel->ranks, 1, MPI_INT, MPI_COMM_WORLD);
}

static int compare_seconds(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the median over batches, because an outlier would be subtracted from all operations. */
double elemental_apart_seconds(const struct elemental *e)
{
	double batches[APART_BATCHES];

	elemental_apart(e);
	for (int i = 0; i < APART_BATCHES; i++) {
		double begin = MPI_Wtime();

		for (int k = 0; k < APART_TIMES; k++)
			elemental_apart(e);
		batches[i] = (MPI_Wtime() - begin) / APART_TIMES;
	}
	qsort(batches, APART_BATCHES, sizeof(batches[0]), compare_seconds);
	return batches[APART_BATCHES / 2];
}

double elemental_net_seconds(double passed, double apart_s)
{
	double left = passed - apart_s;

	return left > passed / 10 ? left : passed / 10;
}

#define WORDS_MAX 16

static int read_number(const char *word, uint64_t *number, struct err *err)
{
	if (!word || unit_parse_count(word, number) < 0)
		return err_set(err, EINVAL, "\"%s\" is not a number", word ? word : "");
	return 0;
}

static int read_numbers(char **words, uint64_t **to, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		int r = read_number(words[i], to[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Reads "1,2,4", or "-" for none. */
static int read_parts(char *word, struct elemental_cell *cell, struct err *err)
{
	char *rest = word, *item;

	if (!word || strcmp(word, "-") == 0)
		return word ? 0 : err_set(err, EINVAL, "missing field");
	while ((item = strsep(&rest, ","))) {
		int r;

		if (cell->part_count == ELEMENTAL_PARTS)
			return err_set(err, E2BIG, "more than %d parts", ELEMENTAL_PARTS);
		r = read_number(item, &cell->parts[cell->part_count], err);
		if (r < 0)
			return r;
		if (!cell->parts[cell->part_count] || cell->parts[cell->part_count] > cell->writers)
			return err_set(err, EINVAL, "%s must be from 1 to the number of writers",
				       item);
		cell->part_count++;
	}
	return 0;
}

static int read_operation(const char *word, struct elemental_cell *cell, struct err *err)
{
	if (!word || strlen(word) >= sizeof(cell->operation))
		return err_set(err, EINVAL, "missing operation");
	strcpy(cell->operation, word);
	return 0;
}

static int read_comm(char **words, struct elemental_cell *cell, struct err *err)
{
	uint64_t *numbers[] = { &cell->senders, &cell->receivers, &cell->bytes,
				&cell->repetitions };

	int r = read_operation(words[0], cell, err);

	cell->kind = ELEMENTAL_COMM;
	return r < 0 ? r : read_numbers(words + 1, numbers, 4, err);
}

/* Reads the fields that storage and pieces have in common. */
static int read_writers(char **words, struct elemental_cell *cell, struct err *err)
{
	uint64_t reads = 0;
	uint64_t *numbers[] = { &cell->writers, &cell->bytes, &cell->rounds, &cell->repetitions,
				&reads };
	int cache, r;

	if (!words[0] || !words[1])
		return err_set(err, EINVAL, "missing field");
	cell->is_uniform = strcmp(words[0], "uniform") == 0;
	if (!cell->is_uniform && strcmp(words[0], "topology") != 0)
		return err_set(err, EINVAL, "unknown placement \"%s\"", words[0]);
	cache = option_choice(ELEMENTAL_CACHE_WORDS, words[1], strlen(words[1]));
	if (cache < 0)
		return err_set(err, EINVAL, "\"%s\" is not one of " ELEMENTAL_CACHE_WORDS,
			       words[1]);
	cell->cache = (enum elemental_cache)cache;
	r = read_numbers(words + 2, numbers, 5, err);
	if (r < 0)
		return r;
	cell->reads = reads;
	if (!cell->bytes || !cell->rounds)
		return err_set(err, EINVAL, "bytes and rounds must be at least 1");
	return 0;
}

static int read_storage(char **words, struct elemental_cell *cell, struct err *err)
{
	uint64_t *stripes[] = { &cell->stripes, &cell->stripe };
	int r;

	cell->kind = ELEMENTAL_STORAGE;
	r = read_writers(words, cell, err);
	if (r >= 0)
		r = read_parts(words[7], cell, err);
	return r < 0 || !words[8] ? r : read_numbers(words + 8, stripes, 2, err);
}

static int read_pieces(char **words, struct elemental_cell *cell, struct err *err)
{
	int r = read_operation(words[0], cell, err);

	cell->kind = ELEMENTAL_PIECES;
	return r < 0 ? r : read_writers(words + 1, cell, err);
}

static int read_cell(char *line, struct elemental_cell *cell, struct err *err)
{
	char *words[WORDS_MAX + 1] = { 0 }, *rest = line, *word;
	uint64_t id;
	size_t n = 0;
	int r;

	while (n < WORDS_MAX && (word = strsep(&rest, " \t")))
		if (*word)
			words[n++] = word;
	*cell = (struct elemental_cell){ 0 };
	r = read_number(words[0], &id, err);
	if (r < 0)
		return r;
	cell->id = (unsigned long)id;
	if (words[1] && strcmp(words[1], "comm") == 0)
		return read_comm(words + 2, cell, err);
	if (words[1] && strcmp(words[1], "storage") == 0)
		return read_storage(words + 2, cell, err);
	if (words[1] && strcmp(words[1], "pieces") == 0)
		return read_pieces(words + 2, cell, err);
	return err_set(err, EINVAL, "expected comm, storage or pieces");
}

static int run_cell(const struct elemental *e, const struct elemental_cell *cell)
{
	static int (*const kinds[])(const struct elemental *, const struct elemental_cell *) = {
		[ELEMENTAL_COMM] = elemental_comm,
		[ELEMENTAL_STORAGE] = elemental_storage,
		[ELEMENTAL_PIECES] = elemental_pieces,
	};
	int r = kinds[cell->kind](e, cell);

	if (r >= 0 && e->kernel->rank == 0) {
		printf("@done %lu\n", cell->id);
		fflush(stdout);
	}
	return r;
}

/* All ranks parse the same text, so they fail in the same way. */
static int run_cells(const struct elemental *e, char *text)
{
	char *rest = text, *line;
	size_t number = 0;
	int r = 0;

	while (r >= 0 && (line = strsep(&rest, "\n"))) {
		struct elemental_cell cell;
		struct err err = { 0 };

		number++;
		if (!*line || *line == '#')
			continue;
		if (read_cell(line, &cell, &err) < 0)
			err_prefix(&err, "line %zu", number);
		r = kernel_agree(e->kernel, &err);
		if (r >= 0)
			r = run_cell(e, &cell);
	}
	return r;
}

static void read_file(const char *path, struct buf *text, struct err *err)
{
	AUTO_FCLOSE FILE *file = strcmp(path, "-") == 0 ? fdopen(0, "r") : fopen(path, "re");
	size_t n;

	if (!file) {
		err_set(err, errno, "%s: %s", path, strerror(errno));
		return;
	}
	do {
		buf_reserve(text, 4096);
		n = fread(text->data + text->len, 1, 4096, file);
		text->len += n;
		text->data[text->len] = 0;
	} while (n);
}

/* Rank 0 reads the cells and broadcasts them. Returns NULL on all ranks if reading fails. */
static char *get_cells(const struct kernel *kernel, const char *path)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	uint64_t bytes;

	if (kernel->rank == 0)
		read_file(path, &text, &err);
	if (kernel_agree(kernel, &err) < 0) {
		buf_release(&text);
		return NULL;
	}
	bytes = text.len;
	MPI_Bcast(&bytes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	buf_reserve(&text, bytes + 1);
	MPI_Bcast(text.data, (int)bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
	text.data[bytes] = 0;
	text.len = bytes;
	return buf_take(&text);
}

/* An elemental operation has one number of ranks per node. */
static int check_place(const struct elemental *e)
{
	uint64_t each = (uint64_t)e->kernel->ranks / e->place.node_count;
	struct err err = { 0 };

	for (uint64_t node = 0; node < e->place.node_count; node++) {
		uint64_t ranks = 0;

		for (int r = 0; r < e->kernel->ranks; r++)
			ranks += e->place.nodes[r] == node;
		if (ranks != each)
			err_set(&err, EINVAL,
				"the launcher started %llu ranks on one node and %llu on average; "
				"place the same number on each node (Slurm: --ntasks-per-node)",
				(unsigned long long)ranks, (unsigned long long)each);
	}
	return kernel_agree(e->kernel, &err);
}

int main(int argc, char **argv)
{
	struct kernel kernel = {
		.name = "elemental",
		.about = "Measure elemental operations of communication and storage.",
		.options = options,
	};
	struct elemental e = { .kernel = &kernel };
	AUTO_FREE char *text = NULL;
	struct args args;
	int code;

	if (!kernel_start(&kernel, &args, argc, argv, &code))
		return code;
	e.file = args.file;
	e.limit_s = (double)args.limit_ns / 1e9;
	e.sizes = xcalloc(2 * (size_t)kernel.ranks, sizeof(*e.sizes));
	elemental_place_find(&e.place, kernel.rank, kernel.ranks);
	if (kernel.rank == 0) {
		printf("@nodes %llu %d\n", (unsigned long long)e.place.node_count, kernel.ranks);
		fflush(stdout);
	}
	text = check_place(&e) >= 0 ? get_cells(&kernel, args.cells) : NULL;
	code = text && run_cells(&e, text) >= 0 ? KERNEL_GOOD : KERNEL_FAILED;
	elemental_place_release(&e.place);
	free(e.sizes);
	return kernel_end(&kernel, &args, code);
}
