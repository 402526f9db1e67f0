/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads what a run wrote and makes its manifest. Two runs that wrote the same data have the same
 * manifest, whatever the layout of their files.
 *
 * For an HDF5 file (NetCDF-4 is one) the items are its datasets and attributes, with type class and
 * size, extents and values, read in the machine's native type, and the links of its groups.
 * Chunking, alignment, byte order, format version and the times that HDF5 keeps for objects do not
 * matter. Values of variable length other than strings, and references, are not read. For a NetCDF
 * file in a classic format the items are its variables, with their attributes; offsets, padding and
 * the space that was reserved for the header do not matter. Dates that a program writes itself, for
 * example as an attribute, are data. Small texts are read by line, all other files by block.
 *
 * Memory is bounded (DIGEST_PIECE_BYTES, the chunk cache of HDF5, and the bounds of manifest.h),
 * the size of files is not. A child process does the work and loads HDF5. If a broken file crashes
 * the library, the file is an item that could not be read.
 */
#ifndef SLUICE_TUNE_CONTENT_DIGEST_H
#define SLUICE_TUNE_CONTENT_DIGEST_H

#include <signal.h>

#include "tune/content/manifest.h"

struct err;

#define DIGEST_PIECE_BYTES (16u << 20)

struct digest_source {
	char *path; /* where the content is; NULL: it is lost */
	char *name; /* in the manifest */
	enum manifest_origin origin;
};

struct digest_options {
	const struct digest_source *sources;
	size_t count;
	double limit_s;			   /* for all files; INFINITY: no limit */
	const volatile sig_atomic_t *stop; /* not 0: stop, -EINTR; may be NULL */
};

/*
 * Adds the items of all sources to the manifest. Content that cannot be read, or not within the
 * limit, is an item without content. Fails if *stop was set (-EINTR) or no process can be started.
 */
int digest_files(struct manifest *manifest, const struct digest_options *options, struct err *err);

#endif
