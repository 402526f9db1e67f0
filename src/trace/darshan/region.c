/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/darshan/region.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include <zlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/darshan/bzip2.h"

#define IN_BYTES (64u << 10)
#define OUT_BYTES (256u << 10)
/* zlib reaches a ratio of 1032; records with few nonzero counters come close to it. */
#define RATIO_MAX 2048
#define RATIO_FREE (1u << 20) /* bytes that every region may expand to */

struct region {
	int fd;
	uint64_t at, end;	  /* of the compressed bytes that were not read yet */
	uint64_t produced, limit; /* decompressed bytes */
	unsigned compression;
	const struct bzip2 *bzip2;
	z_stream zlib;
	struct bzip2_stream bz;
	bool is_open;		  /* zlib or bz must be ended */
	size_t in_used, in_len;	  /* of in */
	size_t out_used, out_len; /* of out */
	unsigned char in[IN_BYTES], out[OUT_BYTES];
};

static int fail_damaged(struct err *err, const char *what)
{
	return err_set(err, EBADMSG, "the log is damaged: %s", what);
}

static int start_stream(struct region *r, struct err *err)
{
	if (r->compression == REGION_ZLIB && inflateInit(&r->zlib) != Z_OK)
		return err_set(err, ENOMEM, "zlib does not start");
	if (r->compression == REGION_BZIP2) {
		r->bzip2 = bzip2_load(err);
		if (!r->bzip2)
			return -ENOTSUP;
		if (r->bzip2->init(&r->bz, 0, 0) != BZIP2_OK)
			return err_set(err, ENOMEM, "bzip2 does not start");
	}
	r->is_open = true;
	return 0;
}

struct region *region_open(int fd, uint64_t offset, uint64_t bytes, unsigned compression,
			   struct err *err)
{
	struct region *r = xcalloc(1, sizeof(*r));

	r->fd = fd;
	r->at = offset;
	r->end = offset + bytes;
	r->limit = bytes > UINT64_MAX / RATIO_MAX / 2 ? UINT64_MAX : bytes * RATIO_MAX + RATIO_FREE;
	r->compression = compression;
	if (start_stream(r, err) < 0) {
		region_close(r);
		return NULL;
	}
	return r;
}

static void end_stream(struct region *r)
{
	if (r->is_open && r->compression == REGION_ZLIB)
		inflateEnd(&r->zlib);
	if (r->is_open && r->compression == REGION_BZIP2)
		r->bzip2->end(&r->bz);
	r->is_open = false;
}

void region_close(struct region *region)
{
	if (!region)
		return;
	end_stream(region);
	free(region);
}

/* Reads more compressed bytes. Returns 1, 0 at the end of the region, or -errno. */
static int fill_input(struct region *r, struct err *err)
{
	size_t want = MIN(r->end - r->at, (uint64_t)IN_BYTES);
	ssize_t n;

	if (!want)
		return 0;
	n = pread(r->fd, r->in, want, (off_t)r->at);
	if (n < 0)
		return err_set(err, errno, "cannot read: %s", strerror(errno));
	if (!n)
		return fail_damaged(err, "the file is truncated");
	r->at += (uint64_t)n;
	r->in_used = 0;
	r->in_len = (size_t)n;
	return 1;
}

/* Each of these decompresses into out from in, and restarts at the end of a stream. */

static int expand_zlib(struct region *r, struct err *err)
{
	int status;

	r->zlib.next_in = r->in + r->in_used;
	r->zlib.avail_in = (uInt)(r->in_len - r->in_used);
	r->zlib.next_out = r->out;
	r->zlib.avail_out = OUT_BYTES;
	status = inflate(&r->zlib, Z_NO_FLUSH);
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
		return fail_damaged(err, "compressed data is invalid");
	if (status == Z_STREAM_END)
		inflateReset(&r->zlib);
	r->in_used = r->in_len - r->zlib.avail_in;
	r->out_len = OUT_BYTES - r->zlib.avail_out;
	return 0;
}

static int expand_bzip2(struct region *r, struct err *err)
{
	unsigned in_left, out_left;
	int status;

	r->bz.next_in = (char *)r->in + r->in_used;
	r->bz.avail_in = (unsigned)(r->in_len - r->in_used);
	r->bz.next_out = (char *)r->out;
	r->bz.avail_out = OUT_BYTES;
	status = r->bzip2->decompress(&r->bz);
	if (status != BZIP2_OK && status != BZIP2_STREAM_END)
		return fail_damaged(err, "compressed data is invalid");
	in_left = r->bz.avail_in;
	out_left = r->bz.avail_out;
	r->in_used = r->in_len - in_left;
	r->out_len = OUT_BYTES - out_left;
	if (status == BZIP2_OK)
		return 0;
	end_stream(r);
	r->bz = (struct bzip2_stream){ 0 };
	return start_stream(r, err);
}

static int expand_plain(struct region *r)
{
	r->out_len = r->in_len - r->in_used;
	memcpy(r->out, r->in + r->in_used, r->out_len);
	r->in_used = r->in_len;
	return 0;
}

/*
 * Decompresses more. Returns 1, 0 at the end of the region, or -errno. The decompressors may hold
 * output after they have taken all input, so they are asked again before more input is read.
 */
static int fill_output(struct region *r, struct err *err)
{
	for (;;) {
		size_t used = r->in_used;
		int code;

		r->out_used = r->out_len = 0;
		if (r->compression == REGION_ZLIB)
			code = expand_zlib(r, err);
		else if (r->compression == REGION_BZIP2)
			code = expand_bzip2(r, err);
		else
			code = expand_plain(r);
		if (code < 0)
			return code;
		r->produced += r->out_len;
		if (r->produced > r->limit)
			return fail_damaged(err, "it expands to more than any log");
		if (r->out_len)
			return 1;
		if (r->in_used < r->in_len && r->in_used == used)
			return fail_damaged(err, "compressed data is invalid");
		if (r->in_used < r->in_len)
			continue; /* a stream has ended; the next one follows */
		code = fill_input(r, err);
		if (code <= 0)
			return code;
	}
}

long region_read_some(struct region *region, void *bytes, size_t n, struct err *err)
{
	size_t have = region->out_len - region->out_used;

	if (!have && n) {
		int code = fill_output(region, err);

		if (code <= 0)
			return code;
		have = region->out_len;
	}
	have = MIN(have, n);
	memcpy(bytes, region->out + region->out_used, have);
	region->out_used += have;
	return (long)have;
}

int region_read(struct region *region, void *bytes, size_t n, struct err *err)
{
	char *to = bytes;
	size_t done = 0;

	while (done < n) {
		long got = region_read_some(region, to + done, n - done, err);

		if (got < 0)
			return (int)got;
		if (!got)
			return done ? fail_damaged(err, "a record is incomplete") : 0;
		done += (size_t)got;
	}
	return 1;
}

int region_skip(struct region *region, uint64_t n, struct err *err)
{
	char scratch[4096];

	while (n) {
		long got =
			region_read_some(region, scratch, MIN(n, (uint64_t)sizeof(scratch)), err);

		if (got <= 0)
			return got ? (int)got : fail_damaged(err, "a record is incomplete");
		n -= (uint64_t)got;
	}
	return 1;
}
