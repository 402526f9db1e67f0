/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/messages.h"

#include "contract/calls.h"

/*
 * Classes of calls that are not I/O. Messages inside them are not recorded: those of the start and
 * the end of a job, and those that a collective call consists of.
 */
#define NOT_INSIDE (1u << CLASS_PROCESS | 1u << CLASS_MESSAGE)

bool message_is_inside(void)
{
	const struct calling *c = &capture_self.calling;

	/* A frame below this one was abandoned by longjmp; without a call under way, `at` is NULL.
	 * Only traces have messages, because counters are kept per file. */
	return frame_mode() == CAPTURE_TRACE &&
	       (uintptr_t)c->at > (uintptr_t)__builtin_frame_address(0) &&
	       !(NOT_INSIDE >> call_table[c->call].class & 1);
}

/* MPI_IN_PLACE is -1 in MPICH and 1 in Open MPI. */
static bool is_in_place(const void *buf)
{
	return (intptr_t)buf == (mpi_kind.is_open ? 1 : -1);
}

uint64_t message_bytes(const void *near, const void *buf, MPI_Datatype datatype, int64_t count)
{
	return is_in_place(buf) ? 0 : mpi_bytes(near, datatype, count);
}

/* Counts are int, or MPI_Count in functions for large counts. */
static int64_t count_at(const void *counts, size_t bytes, int i)
{
	return bytes == sizeof(int) ? ((const int *)counts)[i] : ((const MPI_Count *)counts)[i];
}

uint64_t message_sum(const void *near, const void *buf, const void *counts, size_t bytes,
		     MPI_Datatype datatype, MPI_Comm comm)
{
	int size = is_in_place(buf) ? 0 : mpi_size(near, comm);
	int64_t sum = 0;

	for (int i = 0; i < size; i++)
		sum += count_at(counts, bytes, i);
	return sum ? mpi_bytes(near, datatype, sum) : 0;
}

uint64_t message_types(const void *near, const void *buf, const void *counts, size_t bytes,
		       const MPI_Datatype *types, MPI_Comm comm)
{
	int size = is_in_place(buf) ? 0 : mpi_size(near, comm);
	uint64_t sum = 0;

	for (int i = 0; i < size; i++) {
		int64_t count = count_at(counts, bytes, i);

		if (count)
			sum += mpi_bytes(near, mpi_datatype_at(types, i), count);
	}
	return sum;
}
