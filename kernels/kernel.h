/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the kernels: start and options, verifiable data, hints, and collective error handling.
 *
 * A kernel never hangs because one rank failed. Each rank keeps its first error in a struct err and
 * continues with the collective calls; kernel_agree() then informs all ranks, and all of them end.
 * Only rank 0 prints results, to standard output.
 */
#ifndef SLUICE_KERNEL_H
#define SLUICE_KERNEL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"

enum { KERNEL_GOOD, KERNEL_FAILED, KERNEL_MISUSE }; /* exit codes */

struct kernel {
	const char *name;
	const char *about; /* one sentence for --help */
	const struct option *options;
	int rank, ranks;
};

/*
 * Calls MPI_Init and parses options. Returns true to continue. Otherwise MPI is finalized, an error
 * or the help text was printed, and *code is the exit code for main.
 */
bool kernel_start(struct kernel *k, void *args, int argc, char **argv, int *code);

/* Releases args and calls MPI_Finalize. Returns code, for main. */
int kernel_end(struct kernel *k, void *args, int code);

/* Prints a usage error on rank 0 and ends, for errors that option_parse() cannot detect. */
int kernel_misuse(struct kernel *k, void *args, const struct err *err);

/* Sets err to "what: text of the MPI error" unless it has an error already. Returns 0 if code is
 * MPI_SUCCESS, else a negative value. */
int kernel_note(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Collective. Returns 0 if no rank has an error. Otherwise the first failed rank prints its error
 * to standard error, and all ranks get a negative value.
 */
int kernel_agree(const struct kernel *k, const struct err *err);

/* Collective. Prints "NAME nodes=N library=PATH version=TEXT" on rank 0: the number of nodes (0 if
 * they have different numbers of ranks), and the MPI library that is in use. */
void kernel_print_library(const struct kernel *k);

/*
 * Collective. Returns the time from the first rank that begins to the last rank that ends, on rank
 * 0. The clocks of several nodes differ, so the longest time of one rank is returned there.
 */
double kernel_elapsed(double begin, double end);

/* Collective. Returns the maximum over all ranks on rank 0. */
double kernel_slowest(double seconds);

/* Converts "key=value" items to an MPI_Info, which the caller frees; MPI_INFO_NULL if there are
 * none. */
int kernel_hints(const struct option_list *hints, MPI_Info *info, struct err *err);

/*
 * Fills data with bytes that depend only on their position: byte number `at` of the sequence of the
 * seed. kernel_verify() detects missing, duplicated, moved and foreign blocks.
 */
void kernel_fill(void *data, size_t bytes, uint64_t at, uint64_t seed);

/* Returns the index of the first byte that differs from kernel_fill(), or -1. */
int64_t kernel_verify(const void *data, size_t bytes, uint64_t at, uint64_t seed);

#endif
