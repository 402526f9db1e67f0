/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes a program call the functions of MPI 4 with large counts instead of those with the same
 * name. The compiler includes it before the source of the program.
 */
#ifndef SLUICE_TESTS_LARGE_H
#define SLUICE_TESTS_LARGE_H

#include <mpi.h>

#define MPI_File_read_at MPI_File_read_at_c
#define MPI_File_read_at_all MPI_File_read_at_all_c
#define MPI_File_write_at MPI_File_write_at_c
#define MPI_File_write_at_all MPI_File_write_at_all_c
#define MPI_File_read MPI_File_read_c
#define MPI_File_read_all MPI_File_read_all_c
#define MPI_File_write MPI_File_write_c
#define MPI_File_write_all MPI_File_write_all_c
#define MPI_File_read_shared MPI_File_read_shared_c
#define MPI_File_write_shared MPI_File_write_shared_c
#define MPI_File_read_ordered MPI_File_read_ordered_c
#define MPI_File_write_ordered MPI_File_write_ordered_c
#define MPI_File_iread_at MPI_File_iread_at_c
#define MPI_File_iread_at_all MPI_File_iread_at_all_c
#define MPI_File_iwrite_at MPI_File_iwrite_at_c
#define MPI_File_iwrite_at_all MPI_File_iwrite_at_all_c
#define MPI_File_iread MPI_File_iread_c
#define MPI_File_iread_all MPI_File_iread_all_c
#define MPI_File_iwrite MPI_File_iwrite_c
#define MPI_File_iwrite_all MPI_File_iwrite_all_c
#define MPI_File_iread_shared MPI_File_iread_shared_c
#define MPI_File_iwrite_shared MPI_File_iwrite_shared_c
#define MPI_File_read_at_all_begin MPI_File_read_at_all_begin_c
#define MPI_File_write_at_all_begin MPI_File_write_at_all_begin_c
#define MPI_File_read_all_begin MPI_File_read_all_begin_c
#define MPI_File_write_all_begin MPI_File_write_all_begin_c
#define MPI_File_read_ordered_begin MPI_File_read_ordered_begin_c
#define MPI_File_write_ordered_begin MPI_File_write_ordered_begin_c

#endif
