/* SPDX-License-Identifier: BSD-3-Clause
 *
 * must.h for programs that use HDF5, with MPI or without.
 */
#ifndef SLUICE_TESTS_MUST_H5_H
#define SLUICE_TESTS_MUST_H5_H

#include <hdf5.h>

#include "must.h"

/* For calls that return a negative number on failure. HDF5 prints the reason itself. */
#define H5_MUST(call) must_h5((call), __FILE__, __LINE__, #call)

static hid_t must_h5(hid_t result, const char *file, int line, const char *what)
{
	if (result < 0)
		must_fail(file, line, what, "failed");
	return result;
}

#ifndef H5_HAVE_PARALLEL
static const int rank = 0, ranks = 1;
#endif

#endif
