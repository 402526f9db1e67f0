/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rank transfers which part of a table, and when: whether the transfers could be collective
 * depends on the mode.
 *
 *   even    all ranks make the same transfers
 *   some    only ranks with an even number write
 *   uneven  the last rank makes one transfer less; the others write its part
 *   turns   a rank begins when the rank before it has finished: it waits for a message
 *   order   ranks write two tables in a different order
 *   later   like even if the file "phase" in the working directory has one line, else like uneven
 *
 * The contents of the table do not depend on the mode.
 */
#ifndef SLUICE_TESTS_LOCKSTEP_H
#define SLUICE_TESTS_LOCKSTEP_H

#include "must.h"

#define ROUNDS 24
#define COLUMNS 16 /* per rank */
#define PAUSE_US 2000

static inline bool is_mode(const char *mode, const char *name)
{
	return strcmp(mode, name) == 0;
}

static inline int count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	int lines = 0;

	MUST(f);
	for (int c; (c = getc(f)) != EOF;)
		lines += c == '\n';
	fclose(f);
	return lines;
}

static inline const char *current_mode(const char *mode)
{
	if (!is_mode(mode, "later"))
		return mode;
	return count_lines("phase") == 1 ? "even" : "uneven";
}

static inline void take_turn(bool begins)
{
	int word = 0;

	if (begins && rank > 0)
		MPI_MUST(MPI_Recv(&word, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD,
				  MPI_STATUS_IGNORE));
	if (!begins && rank < ranks - 1)
		MPI_MUST(MPI_Send(&word, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD));
}

/* A different rank is late in each row, so that no rank always comes after another. */
static inline void begin_row(int row)
{
	MPI_MUST(MPI_Barrier(MPI_COMM_WORLD));
	if (row % ranks == rank)
		usleep(PAUSE_US);
}

/* Writes the part of a rank in a row. */
typedef void write_part_fn(const void *table, int row, int of);

/* The part of the last rank, which skips the last row, is written by rank 0 in `uneven`. */
static inline void write_row(const char *mode, write_part_fn *write_part, const void *table,
			     int row)
{
	bool is_some = is_mode(mode, "some");
	bool is_uneven = is_mode(mode, "uneven") && row == ROUNDS - 1;

	if (is_mode(mode, "turns"))
		take_turn(true);
	if (is_some ? rank % 2 == 0 : !is_uneven || rank < ranks - 1)
		write_part(table, row, rank);
	if (is_some && rank % 2 == 0 && rank < ranks - 1)
		write_part(table, row, rank + 1);
	if (is_uneven && rank == 0)
		write_part(table, row, ranks - 1);
	if (is_mode(mode, "turns"))
		take_turn(false);
}

/* Writes the first table, or in `order` both. */
static inline void write_rows(const char *mode, write_part_fn *write_part,
			      const void *const tables[2])
{
	for (int row = 0; row < ROUNDS; row++) {
		begin_row(row);
		if (!is_mode(mode, "order")) {
			write_row(mode, write_part, tables[0], row);
			continue;
		}
		write_part(tables[rank % 2], row, rank);
		write_part(tables[1 - rank % 2], row, rank);
	}
}

#endif
