/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The messages of MPI-IO: point-to-point and collective calls that a library makes inside a call on
 * a file. They are recorded on request (capture.messages), and only while such a call is under way
 * in the thread. Messages of the program itself are not recorded: most of these functions have no
 * wrapper (interfaces/messages.h), the others cost one test of a word. Guest.
 *
 * Arguments are read after the call, and only those that the call has used: asking for the size of
 * an invalid type would abort the program.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_MESSAGES_H
#define SLUICE_CAPTURE_LIBRARIES_MESSAGES_H

#include "capture/libraries/mpi.h"

typedef intptr_t MPI_Op, MPI_Win;

#pragma GCC visibility push(hidden)

/* Is a call on a file under way in this thread? */
__attribute__((cold, noinline)) bool message_is_inside(void);

/* Bytes of `count` items in a buffer; 0 if the buffer is MPI_IN_PLACE. */
uint64_t message_bytes(const void *near, const void *buf, MPI_Datatype datatype, int64_t count);

/* The same with one count for each rank of comm; a count has `bytes` bytes. */
uint64_t message_sum(const void *near, const void *buf, const void *counts, size_t bytes,
		     MPI_Datatype datatype, MPI_Comm comm);

/* The same with one count and one type for each rank. */
uint64_t message_types(const void *near, const void *buf, const void *counts, size_t bytes,
		       const MPI_Datatype *types, MPI_Comm comm);

#pragma GCC visibility pop

INLINE bool message_is_wanted(void)
{
	return unlikely(capture_gate->messages) && message_is_inside();
}

#endif
