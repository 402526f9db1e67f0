/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the kernels share: start with options, data that can be checked, hints, and failing
 * together.
 *
 * A kernel never hangs because one rank failed. Each rank notes its first error in a struct err and
 * goes on with the calls that others wait for; kernel_agree() then lets all of them know, and all
 * leave the same way. Only rank 0 prints results, on standard output.
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
 * MPI_Init and options. Returns true to go on; else MPI is finalized, the user has been told why
 * (or has got the help text), and *code is what main returns.
 */
bool kernel_start(struct kernel *k, void *args, int argc, char **argv, int *code);

/* Releases args, MPI_Finalize. Returns its exit code for main. */
int kernel_end(struct kernel *k, void *args, int code);

/* Complains as misuse and ends: rank 0 prints. For what the options alone cannot check. */
int kernel_misuse(struct kernel *k, void *args, const struct err *err);

/* Notes "what: text of the MPI error" in err unless it holds an earlier one. Returns 0 if code is
 * MPI_SUCCESS, else negative. */
int kernel_note(struct err *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Collective over all ranks: 0 if none has an error. Else negative on all, after the first rank
 * that failed has said on standard error what happened.
 */
int kernel_agree(const struct kernel *k, const struct err *err);

/* Collective: the largest of the ranks' values; only rank 0 gets it. */
double kernel_slowest(double seconds);

/* "key=value" items as an MPI_Info, to be freed by the caller; MPI_INFO_NULL for none. */
int kernel_hints(const struct option_list *hints, MPI_Info *info, struct err *err);

/*
 * Data whose every byte follows from its place: byte number `at` of a sequence chosen by seed. A
 * block that is missing, doubled, moved or of another sequence is found by kernel_verify().
 */
void kernel_fill(void *data, size_t bytes, uint64_t at, uint64_t seed);

/* Index of the first byte that is not what kernel_fill() would write, or -1. */
int64_t kernel_verify(const void *data, size_t bytes, uint64_t at, uint64_t seed);

#endif
