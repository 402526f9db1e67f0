/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages and collective calls that implementations of MPI-IO use: all that any driver of ROMIO calls,
 * and similar ones. They are recorded on request, and only inside calls on files
 * (capture/libraries/messages.h), so the enclosing call is always the one on the file. FLAGS is the rank
 * at the other end, or the root; SIZE is the bytes that this rank sends or can receive.
 *
 * ROMIO calls the PMPI names and programs call the MPI names, so messages of programs do not reach these
 * wrappers at all. Functions that some ROMIO calls by the MPI name have wrappers for both.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_MESSAGES_H
#define SLUICE_CAPTURE_INTERFACES_MESSAGES_H

#ifdef SLUICE_CHECK
#include <mpi.h>
#else
#include "capture/libraries/messages.h"
#endif
#include "capture/interfaces/marks.h"

LAYER(MPI)
LIBRARY(MPI)

#define MESSAGE                                        \
	ONLY_IF(message_is_wanted())                   \
	ERROR(ret != MPI_SUCCESS, mpi_error_class(called, ret)) \
	CALL(MESSAGE)

#define BYTES(datatype, count) FIELD(SIZE, err ? 0 : mpi_bytes(called, datatype, count))
/* The buffer may be MPI_IN_PLACE. */
#define BYTES_OF(buf, datatype, count) \
	FIELD(SIZE, err ? 0 : message_bytes(called, buf, datatype, count))
#define BYTES_EACH                                                                        \
	FIELD(SIZE, err ? 0 : message_sum(called, sendbuf, sendcounts, sizeof(*sendcounts), \
					  sendtype, comm))
#define BYTES_TYPES                                                                         \
	FIELD(SIZE, err ? 0 : message_types(called, sendbuf, sendcounts, sizeof(*sendcounts), \
					    sendtypes, comm))

/* Point to point. s is the suffix of the names, n the type of a count. */
#define SINGLE(s, n)                                                                              \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Send##s(const void *buf, n count, MPI_Datatype datatype, FLAGS int dest, int tag, \
			MPI_Comm comm);                                                           \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Ssend##s(const void *buf, n count, MPI_Datatype datatype, FLAGS int dest,         \
			 int tag, MPI_Comm comm);                                                 \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Rsend##s(const void *buf, n count, MPI_Datatype datatype, FLAGS int dest,         \
			 int tag, MPI_Comm comm);                                                 \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Bsend##s(const void *buf, n count, MPI_Datatype datatype, FLAGS int dest,         \
			 int tag, MPI_Comm comm);                                                 \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Recv##s(void *buf, n count, MPI_Datatype datatype, FLAGS int source, int tag,     \
			MPI_Comm comm, MPI_Status *status);                                       \
	MESSAGE BYTES(sendtype, sendcount)                                                        \
	int MPI_Sendrecv##s(const void *sendbuf, n sendcount, MPI_Datatype sendtype,              \
			    FLAGS int dest, int sendtag, void *recvbuf, n recvcount,              \
			    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,        \
			    MPI_Status *status);                                                  \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Isend##s(const void *buf, n count, MPI_Datatype datatype, FLAGS int dest,         \
			 int tag, MPI_Comm comm, MPI_Request *request);                           \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Issend##s(const void *buf, n count, MPI_Datatype datatype, FLAGS int dest,        \
			  int tag, MPI_Comm comm, MPI_Request *request);                          \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Irsend##s(const void *buf, n count, MPI_Datatype datatype, FLAGS int dest,        \
			  int tag, MPI_Comm comm, MPI_Request *request);                          \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Ibsend##s(const void *buf, n count, MPI_Datatype datatype, FLAGS int dest,        \
			  int tag, MPI_Comm comm, MPI_Request *request);                          \
	MESSAGE BYTES(datatype, count)                                                            \
	int MPI_Irecv##s(void *buf, n count, MPI_Datatype datatype, FLAGS int source, int tag,    \
			 MPI_Comm comm, MPI_Request *request);

/*
 * Collective. s is the suffix of the names, n the type of a count, d that of a displacement; then come
 * the additional arguments of the non-blocking variant.
 */
#define BCAST(name, s, n, d, ...)                                                             \
	MESSAGE BYTES(datatype, count)                                                        \
	int MPI_##name##s(void *buffer, n count, MPI_Datatype datatype, FLAGS int root,       \
			  MPI_Comm comm __VA_ARGS__);
#define REDUCE(name, s, n, d, ...)                                                            \
	MESSAGE BYTES(datatype, count)                                                        \
	int MPI_##name##s(const void *sendbuf, void *recvbuf, n count, MPI_Datatype datatype, \
			  MPI_Op op, FLAGS int root, MPI_Comm comm __VA_ARGS__);
#define ALLREDUCE(name, s, n, d, ...)                                                         \
	MESSAGE BYTES(datatype, count)                                                        \
	int MPI_##name##s(const void *sendbuf, void *recvbuf, n count, MPI_Datatype datatype, \
			  MPI_Op op, MPI_Comm comm __VA_ARGS__);
#define GATHER(name, s, n, d, ...)                                                            \
	MESSAGE BYTES_OF(sendbuf, sendtype, sendcount)                                        \
	int MPI_##name##s(const void *sendbuf, n sendcount, MPI_Datatype sendtype,            \
			  void *recvbuf, n recvcount, MPI_Datatype recvtype, FLAGS int root,  \
			  MPI_Comm comm __VA_ARGS__);
#define GATHERV(name, s, n, d, ...)                                                           \
	MESSAGE BYTES_OF(sendbuf, sendtype, sendcount)                                        \
	int MPI_##name##s(const void *sendbuf, n sendcount, MPI_Datatype sendtype,            \
			  void *recvbuf, const n *recvcounts, const d *displs,                \
			  MPI_Datatype recvtype, FLAGS int root, MPI_Comm comm __VA_ARGS__);
/* The send arguments are valid at the root only, the receive arguments on all ranks. */
#define SCATTER(name, s, n, d, ...)                                                           \
	MESSAGE BYTES_OF(recvbuf, recvtype, recvcount)                                        \
	int MPI_##name##s(const void *sendbuf, n sendcount, MPI_Datatype sendtype,            \
			  void *recvbuf, n recvcount, MPI_Datatype recvtype, FLAGS int root,  \
			  MPI_Comm comm __VA_ARGS__);
#define SCATTERV(name, s, n, d, ...)                                                          \
	MESSAGE BYTES_OF(recvbuf, recvtype, recvcount)                                        \
	int MPI_##name##s(const void *sendbuf, const n *sendcounts, const d *displs,          \
			  MPI_Datatype sendtype, void *recvbuf, n recvcount,                  \
			  MPI_Datatype recvtype, FLAGS int root, MPI_Comm comm __VA_ARGS__);
#define ALLGATHER(name, s, n, d, ...)                                                         \
	MESSAGE BYTES_OF(sendbuf, sendtype, sendcount)                                        \
	int MPI_##name##s(const void *sendbuf, n sendcount, MPI_Datatype sendtype,            \
			  void *recvbuf, n recvcount, MPI_Datatype recvtype,                  \
			  MPI_Comm comm __VA_ARGS__);
#define ALLGATHERV(name, s, n, d, ...)                                                        \
	MESSAGE BYTES_OF(sendbuf, sendtype, sendcount)                                        \
	int MPI_##name##s(const void *sendbuf, n sendcount, MPI_Datatype sendtype,            \
			  void *recvbuf, const n *recvcounts, const d *displs,                \
			  MPI_Datatype recvtype, MPI_Comm comm __VA_ARGS__);
/* With a count for each rank. */
#define ALLTOALL(name, s, n, d, ...)                                                          \
	MESSAGE BYTES_OF(sendbuf, sendtype, sendcount)                                        \
	int MPI_##name##s(const void *sendbuf, n sendcount, MPI_Datatype sendtype,            \
			  void *recvbuf, n recvcount, MPI_Datatype recvtype,                  \
			  MPI_Comm comm __VA_ARGS__);
#define ALLTOALLV(name, s, n, d, ...)                                                         \
	MESSAGE BYTES_EACH                                                                    \
	int MPI_##name##s(const void *sendbuf, const n *sendcounts, const d *sdispls,         \
			  MPI_Datatype sendtype, void *recvbuf, const n *recvcounts,          \
			  const d *rdispls, MPI_Datatype recvtype,                            \
			  MPI_Comm comm __VA_ARGS__);
#define ALLTOALLW(name, s, n, d, ...)                                                         \
	MESSAGE BYTES_TYPES                                                                   \
	int MPI_##name##s(const void *sendbuf, const n *sendcounts, const d *sdispls,         \
			  const MPI_Datatype *sendtypes, void *recvbuf, const n *recvcounts,  \
			  const d *rdispls, const MPI_Datatype *recvtypes,                    \
			  MPI_Comm comm __VA_ARGS__);

/* The blocking and the non-blocking variant of each. */
#define BOTH(shape, name, starting, s, n, d) \
	shape(name, s, n, d) shape(starting, s, n, d, , MPI_Request *request)
#define COLLECTIVE(s, n, d)                                    \
	BOTH(BCAST, Bcast, Ibcast, s, n, d)                    \
	BOTH(REDUCE, Reduce, Ireduce, s, n, d)                 \
	BOTH(ALLREDUCE, Allreduce, Iallreduce, s, n, d)        \
	BOTH(ALLREDUCE, Scan, Iscan, s, n, d)                  \
	BOTH(ALLREDUCE, Exscan, Iexscan, s, n, d)              \
	BOTH(ALLREDUCE, Reduce_scatter_block, Ireduce_scatter_block, s, n, d) \
	BOTH(GATHER, Gather, Igather, s, n, d)                 \
	BOTH(GATHERV, Gatherv, Igatherv, s, n, d)              \
	BOTH(SCATTER, Scatter, Iscatter, s, n, d)              \
	BOTH(SCATTERV, Scatterv, Iscatterv, s, n, d)           \
	BOTH(ALLGATHER, Allgather, Iallgather, s, n, d)        \
	BOTH(ALLGATHERV, Allgatherv, Iallgatherv, s, n, d)     \
	ALLTOALL(Alltoall, s, n, d)                            \
	BOTH(ALLTOALLV, Alltoallv, Ialltoallv, s, n, d)        \
	BOTH(ALLTOALLW, Alltoallw, Ialltoallw, s, n, d)

/* One-sided communication. */
#define ONE_SIDED(s, n)                                                                          \
	MESSAGE BYTES(origin_datatype, origin_count)                                             \
	int MPI_Put##s(const void *origin, n origin_count, MPI_Datatype origin_datatype,         \
		       FLAGS int target, MPI_Aint displacement, n target_count,                  \
		       MPI_Datatype target_datatype, MPI_Win win);                               \
	MESSAGE BYTES(origin_datatype, origin_count)                                             \
	int MPI_Get##s(void *origin, n origin_count, MPI_Datatype origin_datatype,               \
		       FLAGS int target, MPI_Aint displacement, n target_count,                  \
		       MPI_Datatype target_datatype, MPI_Win win);                               \
	MESSAGE BYTES(origin_datatype, origin_count)                                             \
	int MPI_Accumulate##s(const void *origin, n origin_count, MPI_Datatype origin_datatype,  \
			      FLAGS int target, MPI_Aint displacement, n target_count,           \
			      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);

ONLY(P)
SINGLE(, int)
COLLECTIVE(, int, int)
#if !defined(SLUICE_CHECK) || MPI_VERSION >= 4
SINGLE(_c, MPI_Count)
COLLECTIVE(_c, MPI_Count, MPI_Aint)
ALLTOALL(Ialltoall, _c, MPI_Count, MPI_Aint, , MPI_Request *request)
ONE_SIDED(_c, MPI_Count)
#endif
MESSAGE int MPI_Barrier(MPI_Comm comm);
MESSAGE int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request);
MESSAGE int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made_comm);
MESSAGE int MPI_Comm_split(MPI_Comm comm, int color, int key_of, MPI_Comm *made_comm);
MESSAGE int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key_of, MPI_Info info,
				MPI_Comm *made_comm);
MESSAGE int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made_comm);
MESSAGE int MPI_Comm_free(MPI_Comm *comm);
MESSAGE int MPI_Win_fence(int assertion, MPI_Win win);

/* The ROMIO of Open MPI 4.1 calls these by their MPI names. */
ALSO(P)
ALLTOALL(Ialltoall, , int, int, , MPI_Request *request)
ONE_SIDED(, int)
MESSAGE int MPI_Win_create(void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm,
			   MPI_Win *win);
MESSAGE int MPI_Win_free(MPI_Win *win);
MESSAGE int MPI_Win_lock(int lock_type, FLAGS int target, int assertion, MPI_Win win);
MESSAGE int MPI_Win_unlock(FLAGS int target, MPI_Win win);

#endif
