/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What MPI-IO sends: the messages and collective calls that a library makes inside a call on a
 * file. They are recorded on request (capture.messages) and then only while such a call is open in
 * the thread. What a program sends by itself is none of ours: most of it has no wrapper
 * (interfaces/messages.h), the rest costs one test of a word. Guest.
 *
 * Arguments are looked at after the call, and only those that counted: a type that the library has
 * not proved would end the program.
 */
#ifndef SLUICE_CAPTURE_LIBRARIES_MESSAGES_H
#define SLUICE_CAPTURE_LIBRARIES_MESSAGES_H

#include "capture/libraries/mpi.h"

typedef intptr_t MPI_Op, MPI_Win;

#pragma GCC visibility push(hidden)

/* Out of line: is a call on a file open in this thread? */
__attribute__((cold, noinline)) bool message_is_inside(void);

/* Bytes of so many items from a buffer; 0 where the buffer is MPI_IN_PLACE. */
uint64_t message_bytes(const void *near, const void *buf, MPI_Datatype datatype, int64_t count);

/* The same of one count for each rank of comm, `bytes` each. */
uint64_t message_sum(const void *near, const void *buf, const void *counts, size_t bytes,
		     MPI_Datatype datatype, MPI_Comm comm);

/* And of one type each. */
uint64_t message_types(const void *near, const void *buf, const void *counts, size_t bytes,
		       const MPI_Datatype *types, MPI_Comm comm);

#pragma GCC visibility pop

INLINE bool message_is_wanted(void)
{
	return unlikely(capture_gate->messages) && message_is_inside();
}

#endif
