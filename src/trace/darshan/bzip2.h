/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libbz2, loaded when a log needs it. Darshan itself compresses with zlib; only logs that
 * darshan-convert has rewritten use bzip2, so Sluice does not link the library.
 */
#ifndef SLUICE_TRACE_DARSHAN_BZIP2_H
#define SLUICE_TRACE_DARSHAN_BZIP2_H

struct err;

/* The state of a stream as version 1.0 of the library defines it (ABI). */
struct bzip2_stream {
	char *next_in;
	unsigned avail_in, total_in_low, total_in_high;
	char *next_out;
	unsigned avail_out, total_out_low, total_out_high;
	void *state;
	void *(*allocate)(void *, int, int);
	void (*free)(void *, void *);
	void *opaque;
};

#define BZIP2_OK 0
#define BZIP2_STREAM_END 4

struct bzip2 {
	int (*init)(struct bzip2_stream *stream, int verbosity, int small);
	int (*decompress)(struct bzip2_stream *stream);
	int (*end)(struct bzip2_stream *stream);
};

/* Returns NULL and sets err to the package to install if the library is missing. Thread-safe. */
const struct bzip2 *bzip2_load(struct err *err);

#endif
