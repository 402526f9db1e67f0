/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The main program of all HDF5 kernels, which differ only in their shape: writes every dataset of
 * the shape, with one H5Dwrite per rank and dataset, and reads it back.
 *
 * Values are random but depend only on their position, and no times are stored, so two runs write
 * identical files, whatever the number of ranks, the transfer mode and the MPI library.
 * Floating-point values are in [0, 1), because NaNs would make comparisons fail.
 *
 * A line of results has open_s (H5Fcreate or H5Fopen), transfer_s (creation or opening of groups
 * and datasets, transfer, and closing) and close_s (H5Fclose), each of the slowest rank, and
 * seconds, the largest sum of the three. The times exclude generation and verification of data.
 */
#ifndef SLUICE_KERNELS_DATASETS_H
#define SLUICE_KERNELS_DATASETS_H

/* Runs the program of a kind (kernels/kinds.h). Returns the exit code for main. */
int datasets_main(const char *kind, int argc, char **argv);

#endif
