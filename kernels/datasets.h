/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part that all HDF5 kernels have in common, which is all but their shape: write every dataset
 * of the shape, each rank its part by one H5Dwrite, and read it back.
 *
 * Values are random and follow from their place alone, and no times are stored, so that two runs
 * make identical files, whatever the number of ranks, the transfer and the MPI. Floating-point
 * values are in [0, 1): bits that are no number would spoil any comparison.
 *
 * A line of results has open_s (H5Fcreate or H5Fopen), transfer_s (groups, creation or opening of
 * datasets, transfer, their closing) and close_s (H5Fclose), each of the rank that took longest,
 * and seconds, the longest sum of the three. Making and checking data is not in it.
 */
#ifndef SLUICE_KERNELS_DATASETS_H
#define SLUICE_KERNELS_DATASETS_H

/* The whole program: kind is a name of kernels/kinds.h. Returns main's exit code. */
int datasets_main(const char *kind, int argc, char **argv);

#endif
