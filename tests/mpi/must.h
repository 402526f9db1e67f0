/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the parallel programs: checks that end the program with a message, and distinguishable
 * numbers. A program that uses MPI must include mpi.h first; then a failing rank aborts the job
 * instead of leaving the other ranks in a collective call.
 */
#ifndef SLUICE_TESTS_MUST_H
#define SLUICE_TESTS_MUST_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUST_FAILED 99 /* exit code if a result is wrong */

static inline __attribute__((noreturn)) void must_fail(const char *file, int line, const char *what,
						       const char *why)
{
	fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, why);
#ifdef MPI_VERSION
	MPI_Abort(MPI_COMM_WORLD, MUST_FAILED);
#endif
	_exit(MUST_FAILED);
}

#define MUST(condition)                                                             \
	do {                                                                        \
		if (!(condition))                                                   \
			must_fail(__FILE__, __LINE__, #condition, strerror(errno)); \
	} while (0)

/* Numbers that depend on `seed` and index, so that data of another rank, call or index is detected.
 */
static inline int number_at(int seed, int i)
{
	return seed * 100003 + i * 7 + 1;
}

static inline void numbers_make(int *numbers, int n, int seed)
{
	for (int i = 0; i < n; i++)
		numbers[i] = number_at(seed, i);
}

static inline bool numbers_are(const int *numbers, int n, int seed)
{
	for (int i = 0; i < n; i++)
		if (numbers[i] != number_at(seed, i))
			return false;
	return true;
}

#ifdef MPI_VERSION

/* For calls that return an MPI error code. */
#define MPI_MUST(call)                                                  \
	do {                                                            \
		int must_code = (call);                                 \
		char must_why[MPI_MAX_ERROR_STRING];                    \
		int must_n;                                             \
                                                                        \
		if (must_code != MPI_SUCCESS) {                         \
			MPI_Error_string(must_code, must_why, &must_n); \
			must_fail(__FILE__, __LINE__, #call, must_why); \
		}                                                       \
	} while (0)

/* Checks that the call with this status has moved exactly n numbers. */
static inline bool moved(const MPI_Status *status, int n)
{
	int count;

	MPI_Get_count(status, MPI_INT, &count);
	return count == n;
}

static int rank, ranks;

static inline void world_begin(int *argc, char ***argv)
{
	MPI_MUST(MPI_Init(argc, argv));
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* Removes the files of the program at its end. */
static inline void file_remove(const char *path)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		MPI_MUST(MPI_File_delete(path, MPI_INFO_NULL));
	MPI_Barrier(MPI_COMM_WORLD);
}

#endif
#endif
