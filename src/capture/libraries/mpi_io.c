/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/libraries/mpi_io.h"

#include <errno.h>
#include <string.h>

#include "capture/libraries/hints_file.h"
#include "capture/record/capture.h"
#include "contract/hints.h"
#include "contract/outcomes.h"

/* The functions of the library that are called: name, symbol if linked, type. */
#define USES(X)                                                                  \
	X(PMPI_File_open, __real_PMPI_File_open,                                 \
	  int (*)(MPI_Comm, const char *, int, MPI_Info, MPI_File *))            \
	X(PMPI_File_close, __real_PMPI_File_close, int (*)(MPI_File *))          \
	X(PMPI_File_get_errhandler, __real_PMPI_File_get_errhandler,             \
	  int (*)(MPI_File, MPI_Errhandler *))                                   \
	X(PMPI_Errhandler_free, PMPI_Errhandler_free, int (*)(MPI_Errhandler *)) \
	X(ompi_mpi_comm_self, ompi_mpi_comm_self, void *)                        \
	X(ompi_mpi_info_null, ompi_mpi_info_null, void *)                        \
	X(ompi_mpi_file_null, ompi_mpi_file_null, void *)                        \
	X(ompi_mpi_errors_return, ompi_mpi_errors_return, void *)

LIBRARY_TYPED(USES)

/* Part of mca_base_component_t, which Open MPI has not changed since 1.7. */
struct component {
	char project[16];
	int32_t project_version[3];
	char type[32];
	int32_t type_version[3];
	char name[64];
};

/* A handle is longer than this, and the component is in its first quarter. */
#define COMPONENT_OFFSET_MAX 512

static bool field_is(const char *field, size_t bytes, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < bytes; i++)
		if (field[i] != (i < n ? text[i] : 0))
			return false;
	return true;
}

static bool is_component(const struct component *c)
{
	return field_is(c->project, sizeof(c->project), "ompi") &&
	       field_is(c->type, sizeof(c->type), "io");
}

enum mpi_io mpi_io_of(MPI_File file)
{
	if (!mpi_kind.is_open)
		return MPI_IO_MPICH;
	for (size_t at = 0; at <= COMPONENT_OFFSET_MAX; at += sizeof(int32_t)) {
		const struct component *c = (const struct component *)(file + (intptr_t)at);

		if (is_component(c))
			return strncmp(c->name, "romio", 5) ? MPI_IO_OMPIO : MPI_IO_OPENMPI_ROMIO;
	}
	return MPI_IO_OMPIO;
}

/* Do failed openings return an error code? The program may have made them end it. */
static bool errors_return(void *const *functions)
{
	intptr_t none = (intptr_t)functions[USE_ompi_mpi_file_null];
	MPI_Errhandler handler = 0;
	bool returns;

	if (OF(functions, PMPI_File_get_errhandler)(none, &handler) != MPI_SUCCESS)
		return false;
	returns = handler == (intptr_t)functions[USE_ompi_mpi_errors_return];
	OF(functions, PMPI_Errhandler_free)(&handler);
	return returns;
}

/* Opens a file that no one else uses, in order to look at its handle. */
static enum mpi_io probe(const void *near)
{
	void *const *functions = library_use(&uses, near);
	uint32_t aside = capture_self.vforked;
	enum mpi_io found = MPI_IO_OMPIO;
	MPI_File file = 0;

	for (unsigned i = 0; i < USE_COUNT; i++)
		if (!functions || !functions[i])
			return found;
	/* These calls are not the program's: they are not recorded while vforked is set. */
	capture_self.vforked = 1;
	if (errors_return(functions) &&
	    OF(functions, PMPI_File_open)((intptr_t)functions[USE_ompi_mpi_comm_self], "/dev/null",
					  HINTS_RDONLY, (intptr_t)functions[USE_ompi_mpi_info_null],
					  &file) == MPI_SUCCESS) {
		found = mpi_io_of(file);
		OF(functions, PMPI_File_close)(&file);
	}
	capture_self.vforked = aside;
	return found;
}

bool mpi_io_is_ompio(const void *near)
{
	static _Atomic int known; /* 1 + enum mpi_io */
	int saved = errno, answer;

	mpi_bind(near);
	if (!mpi_kind.is_open)
		return false;
	answer = atomic_load_explicit(&known, memory_order_relaxed);
	if (!answer) {
		answer = 1 + (int)probe(near);
		atomic_store_explicit(&known, answer, memory_order_relaxed);
		errno = saved;
	}
	return answer - 1 == MPI_IO_OMPIO;
}

bool mpi_io_hint_is_safe(const void *near, const char *key, const char *value)
{
	return hints_is_safe(key, value, false) &&
	       (hints_is_safe(key, value, true) || !mpi_io_is_ompio(near));
}

bool mpi_io_hints_file_sets(const void *near, const char *key)
{
	bool is_shared = mpi_job_shares_hints_file();

	if (is_shared && !hints_file_has(key))
		return false;
	return !mpi_io_is_ompio(near);
}

void mpi_io_check_own_slow(const void *near, MPI_File file, MPI_Info info)
{
	struct control *control = capture_membership.control;
	bool is_ompio = mpi_io_of(file) == MPI_IO_OMPIO;
	int saved = errno;

	/* One aggregator does no harm. */
	if (is_ompio && info_has(near, info, "cb_nodes") && !info_is(near, info, "cb_nodes", "1"))
		outcomes_set(&control->outcomes.own, OUTCOME_OWN_AGGREGATORS);
	if (!is_ompio && info_is(near, info, "romio_cb_pfr", "enable"))
		outcomes_set(&control->outcomes.own, OUTCOME_OWN_PFR);
	errno = saved;
}
