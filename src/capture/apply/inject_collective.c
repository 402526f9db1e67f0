/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files of MPI-IO whose independent transfers become collective, by their handles. The table
 * forgets nothing that is open: a rank that forgets a file would not take part in a transfer for
 * which the others wait.
 */
#include "capture/apply/inject.h"

#include "capture/libraries/library.h"

#define FILES_MAX 4096u /* open at the same time */

enum { ENTRY_FREE, ENTRY_REMOVED };
static _Atomic uint64_t files[FILES_MAX];

static _Atomic uint64_t *entry_at(uint64_t handle, unsigned i)
{
	return &files[(unsigned)((handle * UINT64_C(0x9e3779b97f4a7c15) >> 48) + i) % FILES_MAX];
}

static _Atomic uint64_t *find_entry(uint64_t handle)
{
	for (unsigned i = 0; i < FILES_MAX; i++) {
		_Atomic uint64_t *entry = entry_at(handle, i);
		uint64_t found = atomic_load_explicit(entry, memory_order_relaxed);

		if (found == handle)
			return entry;
		if (found == ENTRY_FREE)
			return NULL;
	}
	return NULL;
}

bool inject_collective_has(uint64_t handle)
{
	return find_entry(handle);
}

bool inject_collective_add(uint64_t handle)
{
	for (unsigned i = 0; i < FILES_MAX; i++) {
		_Atomic uint64_t *entry = entry_at(handle, i);
		uint64_t found = atomic_load_explicit(entry, memory_order_relaxed);

		if (found <= ENTRY_REMOVED &&
		    atomic_compare_exchange_strong_explicit(
			    entry, &found, handle, memory_order_relaxed, memory_order_relaxed))
			return true;
	}
	return false;
}

void inject_collective_remove(uint64_t handle)
{
	_Atomic uint64_t *entry = find_entry(handle);

	if (entry)
		atomic_store_explicit(entry, ENTRY_REMOVED, memory_order_relaxed);
}

#ifdef SLUICE_LINKED

/* Libraries may be linked into the program, and cannot be told from it. */
bool inject_is_program(const void *caller)
{
	(void)caller;
	return false;
}

#else

/*
 * A library that uses MPI-IO decides for itself, so its files are left alone. A tool that defines
 * MPI_File_open itself may stand between such a library and MPI.
 */
bool inject_is_program(const void *caller)
{
	static const char *const names[] = { "H5Fopen", "ncmpi_open", "MPI_File_open" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (library_defines(caller, names[i]))
			return false;
	return true;
}

#endif
