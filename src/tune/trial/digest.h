/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A checksum of what a run wrote, so that two runs can be told to have written the same data
 * however it was laid out.
 *
 * Of an HDF5 file (NetCDF-4 is one) every dataset and attribute counts by name, class and size of
 * its type, extents and values, read in the machine's own type: chunks, alignment, byte order and
 * the age of the format do not matter. Values of variable length other than texts, and references,
 * are not looked at, and counted. Of all other files every byte counts.
 *
 * Files are known by their names relative to the directory; their order does not matter. Memory is
 * bounded (DIGEST_PIECE_BYTES, and HDF5's cache of chunks), files may be of any size. The work is
 * done by a process of its own, into which HDF5 is loaded: a broken file may crash it or keep it
 * busy, and that is an error here, no more.
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
	const char *directory;		   /* NULL: names are taken as they are */
	double limit_s;			   /* for all files; INFINITY: none */
	const volatile sig_atomic_t *stop; /* not 0: give up; may be NULL */
};

struct digest {
	char text[DIGEST_TEXT]; /* "": there are HDF5 files and no HDF5 to read them with */
	uint64_t skipped;	/* values and attributes that were not looked at */
	char *note;		/* what was not looked at, in a sentence; NULL: nothing */
};

/*
 * Files that are not there are left out. -EBADMSG: a file is broken, err says which; -ETIME: the
 * limit; -EINTR: *stop.
 */
int digest_files(struct digest *digest, const struct digest_options *options, struct err *err);
void digest_release(struct digest *digest);

#endif
