/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hints of open MPI files that plug-ins change before an access: history, if other hints were
 * better for such accesses in earlier runs, and model_hints, if the watcher suggests hints for them
 * (suggested.h). Guest.
 *
 * Only hints change that ROMIO heeds while a file is open (contract/hints.h) and that neither the
 * program nor the parameters of the run set. Files of several ranks change before collective
 * accesses, where all ranks agree (access_agree.h), files of a single rank before any access. A
 * file is left alone from then on if the program sets its hints (MPI_File_set_info), or starts a
 * non-blocking or split collective operation, as ROMIO looks at the hints again while such an
 * operation is under way.
 *
 * Files of Open MPI are never changed: its MPI_File_set_info does not reach ROMIO.
 */
#ifndef SLUICE_CAPTURE_INLINE_ACCESS_HINTS_H
#define SLUICE_CAPTURE_INLINE_ACCESS_HINTS_H

#include "capture/inline/history.h"
#include "capture/libraries/mpi.h"

/* An opening of a file whose hints may change. */
struct access_opening {
	struct history_plan plan; /* plan.first is NULL: there is none */
	uint64_t suggested;	  /* suggestion_hash() of its hints; 0: none are suggested for it */
	uint32_t ranks;
	uint64_t number; /* of the opening, the same on all ranks */
	uint32_t own;	 /* hints that must not change, a bit per index in hints_changeable[] */
};

enum access_way { ACCESS_ALONE, ACCESS_TOGETHER };

/* Offsets of accesses without one. */
#define ACCESS_AT_POSITION (-1) /* of the rank's file pointer */
#define ACCESS_AT_SHARED (-2)	/* of the shared file pointer, which is not known */

#pragma GCC visibility push(hidden)

/* The number of files whose hints may change. */
extern _Atomic uint32_t access_files;

/* After the file was opened. */
void access_opened(const void *near, MPI_File file, const struct access_opening *opening);

void access_before_slow(unsigned call, const char *name, const void *near, MPI_File file,
			enum access_way way, int64_t offset, int64_t count, MPI_Datatype datatype);
void access_started_slow(MPI_File file, enum access_way way);
void access_info_set_slow(MPI_File file);
void access_view_begin_slow(const void *near, MPI_File file, MPI_Info info);
void access_view_end_slow(const void *near, MPI_File file, MPI_Datatype etype);
void access_closed_slow(MPI_File file);

#pragma GCC visibility pop

static inline bool access_is_used(void)
{
	return unlikely(atomic_load_explicit(&access_files, memory_order_relaxed));
}

/* Before a blocking access. inner: it is nested in one that was handled already. Keeps errno, like
 * the following ones. */
static inline void access_before(bool inner, unsigned call, const char *name, const void *near,
				 MPI_File file, enum access_way way, int64_t offset, int64_t count,
				 MPI_Datatype datatype)
{
	if (access_is_used() && !inner)
		access_before_slow(call, name, near, file, way, offset, count, datatype);
}

/* Before an access that continues after the call. */
static inline void access_started(MPI_File file, enum access_way way)
{
	if (access_is_used())
		access_started_slow(file, way);
}

/* Before the program sets the hints of a file. */
static inline void access_info_set(MPI_File file)
{
	if (access_is_used())
		access_info_set_slow(file);
}

/* Before the view of a file is set, which may set hints, and afterwards. */
static inline void access_view_begin(const void *near, MPI_File file, MPI_Info info)
{
	if (access_is_used())
		access_view_begin_slow(near, file, info);
}

static inline void access_view_end(const void *near, MPI_File file, MPI_Datatype etype, int ret)
{
	if (access_is_used() && ret == MPI_SUCCESS)
		access_view_end_slow(near, file, etype);
}

static inline void access_closed(const MPI_File *file)
{
	if (access_is_used())
		access_closed_slow(*file);
}

#endif
