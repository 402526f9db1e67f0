/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI-IO and the related functions of MPI: start and end of the process, and completion of I/O requests.
 * All of MPI 3.1, and the large counts of MPI 4. docs/reference/interfaces.md explains the marks.
 *
 * The guest is built without any MPI (capture/libraries/mpi.h defines the types); with SLUICE_CHECK the
 * compiler compares the prototypes with those of an installed one.
 * Papers: SIOX-22, SIOX-24.
 */
#ifndef SLUICE_CAPTURE_INTERFACES_MPI_H
#define SLUICE_CAPTURE_INTERFACES_MPI_H

/* The newest version whose functions are recorded; `sluice version --json` shows it. */
#define MPI_INTERFACE "4.0"

#ifdef SLUICE_CHECK
#include <mpi.h>
#else
#include "capture/libraries/info.h"
#include "capture/apply/inject.h"
#include "capture/inline/access_hints.h"
#include "capture/inline/hints.h"
#include "capture/inline/nodes.h"
#include "capture/libraries/mpi.h"
#include "capture/libraries/mpi_io.h"
#include "capture/libraries/mpi_job.h"
#endif
#include "capture/interfaces/marks.h"

LAYER(MPI)
LIBRARY(MPI)
ALSO(P)

/* Error codes differ between implementations; error classes do not. */
#define FAILING ERROR(ret != MPI_SUCCESS, mpi_error_class(called, ret))

/* All ranks that have opened the file take part, each with its n-th collective call. */
#define TOGETHER BEFORE(uint64_t together = mpi_next_collective(entry);) FIELD(COLLECTIVE, together)

/* Bytes requested, if the call has accepted the type; and bytes moved. */
#define AMOUNT FIELD(SIZE, err ? 0 : mpi_bytes(called, datatype, count))
#define MOVES \
	AMOUNT BEFORE(MPI_Status own; status = mpi_status(status, &own);) RESULT(mpi_moved(status, err))

/* The offset in bytes, whatever the view: an argument, or the rank's file pointer. */
#define AT                                                          \
	FIELD(OFFSET, mpi_offset(called, entry, fh, offset, err))   \
	FIELD(SPAN, mpi_span(called, entry, fh, offset, size, err))
#define HERE BEFORE(int64_t offset = mpi_position(called, entry, fh);) AT

#define BEGINS AFTER(mpi_request_started(&f, request, err);)
#define SPLITS AFTER(mpi_split_started(&f, fh, err);)
#define ENDS_SPLIT                                                                        \
	BEFORE(uint64_t began = mpi_split_take(fh); MPI_Status own;                       \
	       status = mpi_status(status, &own);)                                        \
	FIELD(LINK2, began) RESULT(mpi_moved(status, err))

/* The hints that were passed, and those in effect. */
#define HINTED BEFORE(struct info_text given;) FIELD(HINTS, info_read(&given, called, info, err))

/* Hints of the program that are dangerous are reported. */
#define OWN_HINTS LAST(mpi_io_check_own(called, fh, info, ret);)

/* The process. */
CALL(PROCESS) FAILING FIRST(mpi_job_join(called);) AFTER(if (!err) { mpi_store_rank(called); nodes_vote(); })
int MPI_Init(int *argc, char ***argv);
CALL(PROCESS) FAILING FIRST(mpi_job_join(called);) AFTER(if (!err) { mpi_store_rank(called); nodes_vote(); })
int MPI_Init_thread(int *argc, char ***argv, FLAGS int required, int *provided);
CALL(PROCESS) FAILING int MPI_Finalize(void);
CALL(PROCESS) LEAVES int MPI_Abort(MPI_Comm comm, FLAGS int errorcode);

/*
 * Files. The name is recorded after the call has accepted it. The hints of an opening are decided first,
 * whether it is recorded or not, because all ranks must pass the same. Parameters of the run have
 * priority over plug-ins, which only add hints that are not set.
 */
FIRST(struct inject_opening injected; struct hints_opening opening;
      info = inject_open(&injected, call_is_inner(CALL_MPI_File_open), called,
			 __builtin_extract_return_addr(__builtin_return_address(0)), comm, filename, info);
      info = hints_begin(&opening, call_is_inner(CALL_MPI_File_open), called, comm, filename, amode, info);)
PASS(filename, injected.name)
LAST(mpi_io_check_own(called, ret == MPI_SUCCESS ? *fh : 0, info, ret);
     hints_end(&opening, fh, ret); inject_opened(&injected, fh, ret);)
CALL(OPEN) FAILING MAKES(HANDLE) HINTED BEFORE(uint64_t group = 0;)
FIELD(COLLECTIVE, group = err ? 0 : mpi_group(called, comm, filename))
AFTER(if (opened) atomic_store_explicit(&opened->note, group, memory_order_relaxed);)
int MPI_File_open(MPI_Comm comm, PATH const char *filename, FLAGS int amode, MPI_Info info,
		  MADE MPI_File *fh);
FIRST(access_closed(fh); inject_close(called, fh);)
CALL(CLOSE) FAILING ENDS TOGETHER int MPI_File_close(HANDLE_AT MPI_File *fh);
CALL(META) FAILING int MPI_File_delete(PATH const char *filename, MPI_Info info);
CALL(RESIZE) FAILING TOGETHER int MPI_File_set_size(HANDLE MPI_File fh, SIZE MPI_Offset bytes);
CALL(RESIZE) FAILING TOGETHER int MPI_File_preallocate(HANDLE MPI_File fh, SIZE MPI_Offset bytes);
CALL(STAT) FAILING RESULT(err ? -1 : *bytes)
int MPI_File_get_size(HANDLE MPI_File fh, MPI_Offset *bytes);
CALL(SYNC) FAILING TOGETHER int MPI_File_sync(HANDLE MPI_File fh);
CALL(CONTROL) FAILING int MPI_File_get_group(HANDLE MPI_File fh, MPI_Group *group);
CALL(CONTROL) FAILING int MPI_File_get_amode(HANDLE MPI_File fh, int *amode);
FIRST(access_info_set(fh);)
CALL(ADVISE) FAILING TOGETHER HINTED OWN_HINTS int MPI_File_set_info(HANDLE MPI_File fh, MPI_Info info);
CALL(CONTROL) FAILING int MPI_File_get_info(HANDLE MPI_File fh, MPI_Info *info);
FIRST(access_view_begin(called, fh, info);) LAST(access_view_end(called, fh, etype, ret);)
CALL(CONTROL) FAILING TOGETHER HINTED OWN_HINTS FIELD(SIZE, err ? 0 : mpi_bytes(called, filetype, 1))
AFTER(if (!err) mpi_view_set(called, entry, etype);)
int MPI_File_set_view(HANDLE MPI_File fh, OFFSET MPI_Offset disp, MPI_Datatype etype,
		      MPI_Datatype filetype, NAME const char *datarep, MPI_Info info);
CALL(CONTROL) FAILING
int MPI_File_get_view(HANDLE MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype,
		      MPI_Datatype *filetype, char *datarep);
CALL(CONTROL) FAILING TOGETHER int MPI_File_set_atomicity(HANDLE MPI_File fh, FLAGS int flag);
CALL(CONTROL) FAILING int MPI_File_get_atomicity(HANDLE MPI_File fh, int *flag);
CALL(CONTROL) FAILING
int MPI_File_get_type_extent(HANDLE MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent);
CALL(CONTROL) FAILING
int MPI_File_create_errhandler(MPI_File_errhandler_function *function, MPI_Errhandler *handler);
CALL(CONTROL) FAILING int MPI_File_set_errhandler(HANDLE MPI_File fh, MPI_Errhandler handler);
CALL(CONTROL) FAILING int MPI_File_get_errhandler(HANDLE MPI_File fh, MPI_Errhandler *handler);
CALL(CONTROL) FAILING int MPI_File_call_errhandler(HANDLE MPI_File fh, FLAGS int errorcode);

/* File pointers. */
CALL(SEEK) FAILING
int MPI_File_seek(HANDLE MPI_File fh, OFFSET MPI_Offset offset, FLAGS int whence);
CALL(SEEK) FAILING TOGETHER
int MPI_File_seek_shared(HANDLE MPI_File fh, OFFSET MPI_Offset offset, FLAGS int whence);
CALL(CONTROL) FAILING RESULT(err ? -1 : *offset)
int MPI_File_get_position(HANDLE MPI_File fh, MPI_Offset *offset);
CALL(CONTROL) FAILING RESULT(err ? -1 : *offset)
int MPI_File_get_position_shared(HANDLE MPI_File fh, MPI_Offset *offset);
CALL(CONTROL) FAILING RESULT(err ? -1 : *byte)
int MPI_File_get_byte_offset(HANDLE MPI_File fh, OFFSET MPI_Offset offset, MPI_Offset *byte);

/* An independent transfer is made as this collective one if a parameter of the run says so. */
#define OR_COLLECTIVE(function, ...)                                           \
	FIRST(if (inject_is_collective(called, fh)) {                         \
		extern __typeof__(*called) named_##function __asm__("P" #function); \
		return named_##function(__VA_ARGS__);                               \
	})

/* The hints of the file may change before an access. */
#define ADAPTS(function, way, at)                                                                \
	FIRST(access_before(call_is_inner(CALL_##function), CALL_##function, #function, called, fh, \
			    way, at, count, datatype);)
#define ENDS_CHANGES(way) FIRST(access_started(fh, way);)

/* Data access. s is the suffix of the names, n the type of a count. */
#define DATA(s, n)                                                                                \
	OR_COLLECTIVE(MPI_File_read_at_all##s, fh, offset, buf, count, datatype, status)          \
	ADAPTS(MPI_File_read_at##s, ACCESS_ALONE, offset) \
	CALL(READ) FAILING MOVES AT                                                               \
	int MPI_File_read_at##s(HANDLE MPI_File fh, MPI_Offset offset, void *buf, n count,        \
				MPI_Datatype datatype, MPI_Status *status);                       \
	ADAPTS(MPI_File_read_at_all##s, ACCESS_TOGETHER, offset) \
	CALL(READ) FAILING TOGETHER MOVES AT                                                      \
	int MPI_File_read_at_all##s(HANDLE MPI_File fh, MPI_Offset offset, void *buf, n count,    \
				    MPI_Datatype datatype, MPI_Status *status);                   \
	OR_COLLECTIVE(MPI_File_write_at_all##s, fh, offset, buf, count, datatype, status)         \
	ADAPTS(MPI_File_write_at##s, ACCESS_ALONE, offset) \
	CALL(WRITE) FAILING MOVES AT                                                              \
	int MPI_File_write_at##s(HANDLE MPI_File fh, MPI_Offset offset, const void *buf, n count, \
				 MPI_Datatype datatype, MPI_Status *status);                      \
	ADAPTS(MPI_File_write_at_all##s, ACCESS_TOGETHER, offset) \
	CALL(WRITE) FAILING TOGETHER MOVES AT                                                     \
	int MPI_File_write_at_all##s(HANDLE MPI_File fh, MPI_Offset offset, const void *buf,      \
				     n count, MPI_Datatype datatype, MPI_Status *status);         \
	OR_COLLECTIVE(MPI_File_read_all##s, fh, buf, count, datatype, status)                     \
	ADAPTS(MPI_File_read##s, ACCESS_ALONE, ACCESS_AT_POSITION) \
	CALL(READ) FAILING MOVES HERE                                                             \
	int MPI_File_read##s(HANDLE MPI_File fh, void *buf, n count, MPI_Datatype datatype,       \
			     MPI_Status *status);                                                 \
	ADAPTS(MPI_File_read_all##s, ACCESS_TOGETHER, ACCESS_AT_POSITION) \
	CALL(READ) FAILING TOGETHER MOVES HERE                                                    \
	int MPI_File_read_all##s(HANDLE MPI_File fh, void *buf, n count, MPI_Datatype datatype,   \
				 MPI_Status *status);                                             \
	OR_COLLECTIVE(MPI_File_write_all##s, fh, buf, count, datatype, status)                    \
	ADAPTS(MPI_File_write##s, ACCESS_ALONE, ACCESS_AT_POSITION) \
	CALL(WRITE) FAILING MOVES HERE                                                            \
	int MPI_File_write##s(HANDLE MPI_File fh, const void *buf, n count,                       \
			      MPI_Datatype datatype, MPI_Status *status);                         \
	ADAPTS(MPI_File_write_all##s, ACCESS_TOGETHER, ACCESS_AT_POSITION) \
	CALL(WRITE) FAILING TOGETHER MOVES HERE                                                   \
	int MPI_File_write_all##s(HANDLE MPI_File fh, const void *buf, n count,                   \
				  MPI_Datatype datatype, MPI_Status *status);                     \
	ADAPTS(MPI_File_read_shared##s, ACCESS_ALONE, ACCESS_AT_SHARED) \
	CALL(READ) FAILING MOVES                                                                  \
	int MPI_File_read_shared##s(HANDLE MPI_File fh, void *buf, n count,                       \
				    MPI_Datatype datatype, MPI_Status *status);                   \
	ADAPTS(MPI_File_write_shared##s, ACCESS_ALONE, ACCESS_AT_SHARED) \
	CALL(WRITE) FAILING MOVES                                                                 \
	int MPI_File_write_shared##s(HANDLE MPI_File fh, const void *buf, n count,                \
				     MPI_Datatype datatype, MPI_Status *status);                  \
	ADAPTS(MPI_File_read_ordered##s, ACCESS_TOGETHER, ACCESS_AT_SHARED) \
	CALL(READ) FAILING TOGETHER MOVES                                                         \
	int MPI_File_read_ordered##s(HANDLE MPI_File fh, void *buf, n count,                      \
				     MPI_Datatype datatype, MPI_Status *status);                  \
	ADAPTS(MPI_File_write_ordered##s, ACCESS_TOGETHER, ACCESS_AT_SHARED) \
	CALL(WRITE) FAILING TOGETHER MOVES                                                        \
	int MPI_File_write_ordered##s(HANDLE MPI_File fh, const void *buf, n count,               \
				      MPI_Datatype datatype, MPI_Status *status);

/* The same, non-blocking. */
#define ASYNCHRONOUS_DATA(s, n)                                                                    \
	ENDS_CHANGES(ACCESS_ALONE) \
	CALL(START) FAILING AMOUNT AT BEGINS                                                       \
	int MPI_File_iread_at##s(HANDLE MPI_File fh, MPI_Offset offset, void *buf, n count,        \
				 MPI_Datatype datatype, MPI_Request *request);                     \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT AT BEGINS                                              \
	int MPI_File_iread_at_all##s(HANDLE MPI_File fh, MPI_Offset offset, void *buf, n count,    \
				     MPI_Datatype datatype, MPI_Request *request);                 \
	ENDS_CHANGES(ACCESS_ALONE) \
	CALL(START) FAILING AMOUNT AT BEGINS                                                       \
	int MPI_File_iwrite_at##s(HANDLE MPI_File fh, MPI_Offset offset, const void *buf, n count, \
				  MPI_Datatype datatype, MPI_Request *request);                    \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT AT BEGINS                                              \
	int MPI_File_iwrite_at_all##s(HANDLE MPI_File fh, MPI_Offset offset, const void *buf,      \
				      n count, MPI_Datatype datatype, MPI_Request *request);       \
	ENDS_CHANGES(ACCESS_ALONE) \
	CALL(START) FAILING AMOUNT HERE BEGINS                                                     \
	int MPI_File_iread##s(HANDLE MPI_File fh, void *buf, n count, MPI_Datatype datatype,       \
			      MPI_Request *request);                                               \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT HERE BEGINS                                            \
	int MPI_File_iread_all##s(HANDLE MPI_File fh, void *buf, n count, MPI_Datatype datatype,   \
				  MPI_Request *request);                                           \
	ENDS_CHANGES(ACCESS_ALONE) \
	CALL(START) FAILING AMOUNT HERE BEGINS                                                     \
	int MPI_File_iwrite##s(HANDLE MPI_File fh, const void *buf, n count,                       \
			       MPI_Datatype datatype, MPI_Request *request);                       \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT HERE BEGINS                                            \
	int MPI_File_iwrite_all##s(HANDLE MPI_File fh, const void *buf, n count,                   \
				   MPI_Datatype datatype, MPI_Request *request);                   \
	ENDS_CHANGES(ACCESS_ALONE) \
	CALL(START) FAILING AMOUNT BEGINS                                                          \
	int MPI_File_iread_shared##s(HANDLE MPI_File fh, void *buf, n count,                       \
				     MPI_Datatype datatype, MPI_Request *request);                 \
	ENDS_CHANGES(ACCESS_ALONE) \
	CALL(START) FAILING AMOUNT BEGINS                                                          \
	int MPI_File_iwrite_shared##s(HANDLE MPI_File fh, const void *buf, n count,                \
				      MPI_Datatype datatype, MPI_Request *request);                \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT AT SPLITS                                              \
	int MPI_File_read_at_all_begin##s(HANDLE MPI_File fh, MPI_Offset offset, void *buf,        \
					  n count, MPI_Datatype datatype);                         \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT AT SPLITS                                              \
	int MPI_File_write_at_all_begin##s(HANDLE MPI_File fh, MPI_Offset offset, const void *buf, \
					   n count, MPI_Datatype datatype);                        \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT HERE SPLITS                                            \
	int MPI_File_read_all_begin##s(HANDLE MPI_File fh, void *buf, n count,                     \
				       MPI_Datatype datatype);                                     \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT HERE SPLITS                                            \
	int MPI_File_write_all_begin##s(HANDLE MPI_File fh, const void *buf, n count,              \
					MPI_Datatype datatype);                                    \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT SPLITS                                                 \
	int MPI_File_read_ordered_begin##s(HANDLE MPI_File fh, void *buf, n count,                 \
					   MPI_Datatype datatype);                                 \
	ENDS_CHANGES(ACCESS_TOGETHER) \
	CALL(START) FAILING TOGETHER AMOUNT SPLITS                                                 \
	int MPI_File_write_ordered_begin##s(HANDLE MPI_File fh, const void *buf, n count,          \
					    MPI_Datatype datatype);

DATA(, int)
ASYNCHRONOUS_DATA(, int)
#if !defined(SLUICE_CHECK) || MPI_VERSION >= 4
DATA(_c, MPI_Count)
ASYNCHRONOUS_DATA(_c, MPI_Count)
CALL(CONTROL) FAILING
int MPI_File_get_type_extent_c(HANDLE MPI_File fh, MPI_Datatype datatype, MPI_Count *extent);
#endif

CALL(WAIT) FAILING ENDS_SPLIT
int MPI_File_read_at_all_end(HANDLE MPI_File fh, void *buf, MPI_Status *status);
CALL(WAIT) FAILING ENDS_SPLIT
int MPI_File_write_at_all_end(HANDLE MPI_File fh, const void *buf, MPI_Status *status);
CALL(WAIT) FAILING ENDS_SPLIT
int MPI_File_read_all_end(HANDLE MPI_File fh, void *buf, MPI_Status *status);
CALL(WAIT) FAILING ENDS_SPLIT
int MPI_File_write_all_end(HANDLE MPI_File fh, const void *buf, MPI_Status *status);
CALL(WAIT) FAILING ENDS_SPLIT
int MPI_File_read_ordered_end(HANDLE MPI_File fh, void *buf, MPI_Status *status);
CALL(WAIT) FAILING ENDS_SPLIT
int MPI_File_write_ordered_end(HANDLE MPI_File fh, const void *buf, MPI_Status *status);

/*
 * Completion. Only calls that complete an operation on a file are recorded; a test that finds nothing
 * complete is not.
 */
#define PENDING(n, requests, statuses)                                                            \
	ONLY_IF(mpi_any_is_io(requests, n))                                                             \
	BEFORE(struct mpi_pending pending; statuses = mpi_pending_take(&pending, requests, n, statuses);)
#define ONE_DONE(i)                                                              \
	FIELD(LINK, mpi_pending_done(&pending, i))                               \
	RESULT(link ? mpi_moved(status, err) : 0)                                \
	AFTER(mpi_pending_keep(&pending);)
#define SOME_DONE(indices, n)                           \
	RESULT(mpi_pending_moved(&pending, indices, n, err)) \
	AFTER(mpi_pending_close(&pending, &f, indices, n, err);)
#define IF_DONE(done) KEEP_IF(ret != MPI_SUCCESS || (done) || mpi_pending_keep(&pending))

CALL(WAIT) FAILING PENDING(1, request, status) ONE_DONE(0)
int MPI_Wait(MPI_Request *request, MPI_Status *status);
CALL(WAIT) FAILING PENDING(1, request, status) IF_DONE(*flag) ONE_DONE(0)
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
CALL(WAIT) FAILING PENDING(count, requests, status) ONE_DONE(*index)
int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status);
CALL(WAIT) FAILING PENDING(count, requests, status) IF_DONE(*flag) ONE_DONE(*index)
int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status);
CALL(WAIT) FAILING PENDING(count, requests, statuses) SOME_DONE(NULL, count)
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses);
CALL(WAIT) FAILING PENDING(count, requests, statuses) IF_DONE(*flag) SOME_DONE(NULL, count)
int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses);
CALL(WAIT) FAILING PENDING(count, requests, statuses) SOME_DONE(indices, *done)
int MPI_Waitsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses);
CALL(WAIT) FAILING PENDING(count, requests, statuses) IF_DONE(*done > 0) SOME_DONE(indices, *done)
int MPI_Testsome(int count, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses);
CALL(CONTROL) FAILING ONLY_IF(mpi_any_is_io(request, 1))
BEFORE(struct mpi_pending pending; mpi_pending_take(&pending, request, 1, NULL);)
FIELD(LINK, mpi_pending_done(&pending, 0)) int MPI_Request_free(MPI_Request *request);

#endif
