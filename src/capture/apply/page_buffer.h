/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For which files HDF5 accepts a page buffer. It fails to open all others with one: files that were
 * not created with the paged strategy, files with larger pages, and files shared by ranks. Guest.
 */
#ifndef SLUICE_CAPTURE_APPLY_PAGE_BUFFER_H
#define SLUICE_CAPTURE_APPLY_PAGE_BUFFER_H

#include "capture/apply/inject_hdf5.h"

#pragma GCC visibility push(hidden)

/*
 * Why the file cannot have a page buffer of this size; NULL: it can. A new file is judged by its
 * creation list. To learn the strategy of an existing file, it is opened for reading and closed.
 */
const char *page_buffer_refusal(const struct inject_file *file, const char *value);

#pragma GCC visibility pop

#endif
