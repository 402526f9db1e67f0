/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A checksum of the data that a run wrote. Two runs that wrote the same data have the same
 * checksum, whatever the layout of their files.
 *
 * For an HDF5 file (NetCDF-4 is one) the checksum covers each dataset and attribute: name, type
 * class and size, extents and values, read in the machine's native type. Chunking, alignment, byte
 * order and format version do not change it. Values of variable length other than strings, and
 * references, are skipped and counted. For all other files it covers each byte.
 *
 * Files are identified by their names relative to the directory; their order does not matter.
 * Memory is bounded (DIGEST_PIECE_BYTES, and the chunk cache of HDF5), the size of files is not. A
 * child process does the work and loads HDF5: a broken file that crashes or hangs the library is
 * only an error of digest_files().
 */
#ifndef SLUICE_TUNE_TRIAL_DIGEST_H
#define SLUICE_TUNE_TRIAL_DIGEST_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define DIGEST_TEXT 33
#define DIGEST_PIECE_BYTES (16u << 20)

struct digest_options {
	char *const *paths;
	size_t count;
	const char *directory;		   /* NULL: paths are the names */
	double limit_s;			   /* for all files; INFINITY: no limit */
	const volatile sig_atomic_t *stop; /* not 0: stop, -EINTR; may be NULL */
};

struct digest {
	char text[DIGEST_TEXT]; /* "": some files are HDF5, and the library cannot be loaded */
	uint64_t skipped;	/* values and attributes that are not covered */
	char *note;		/* says what is not covered; NULL: everything is */
};

/*
 * Files that do not exist are left out. -EBADMSG: a file is broken, err says which; -ETIME: the
 * limit is over; -EINTR: *stop was set.
 */
int digest_files(struct digest *digest, const struct digest_options *options, struct err *err);
void digest_release(struct digest *digest);

#endif
