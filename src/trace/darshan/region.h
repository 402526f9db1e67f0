/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads one region of a Darshan log: the job, the names, or the records of a module. A region is a
 * sequence of compressed streams, one per process that wrote it, and is read as one sequence of
 * bytes. Memory is constant. A region that expands more than any real log is refused, so a small
 * file cannot keep the reader busy for hours.
 */
#ifndef SLUICE_TRACE_DARSHAN_REGION_H
#define SLUICE_TRACE_DARSHAN_REGION_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct region;

/* As the header of a log numbers them. */
enum region_compression { REGION_ZLIB, REGION_BZIP2, REGION_PLAIN, REGION_COMPRESSIONS };

/* Returns NULL with err set on failure. Close with region_close(). The descriptor stays open. */
struct region *region_open(int fd, uint64_t offset, uint64_t bytes, unsigned compression,
			   struct err *err);

/*
 * Reads exactly n bytes. Returns 1; 0 if the region has ended before the first of them; -EBADMSG if
 * it ends within them or is damaged. The message does not name the file.
 */
int region_read(struct region *region, void *bytes, size_t n, struct err *err);

/* Reads up to n bytes. Returns their number, 0 at the end, or -errno. */
long region_read_some(struct region *region, void *bytes, size_t n, struct err *err);

/* Reads and discards n bytes. Returns 1, or -errno. */
int region_skip(struct region *region, uint64_t n, struct err *err);

void region_close(struct region *region);

#endif
