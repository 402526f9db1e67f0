/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chronicles as text, in the blocks of the paper (WAN-10; docs/chronicle.md): one block per time,
 *
 *	Timestamp: 1520708288
 *	All running jobs:
 *	Job Id: 3901500
 *	    Job_Name = run
 *	    ...
 *	Performance:
 *	OSS id 1MB 64MB 256MB 1GB
 *	atlas1-0 0.00851s 0.11085s 0.5206s 1.83079s
 *
 * The listing is that of qstat -f; a block without one has no snapshot. A cell is "-" where nothing
 * was written, ">30s" where it was given up after that time, "full" or "failed". Lines of our own
 * come before the listing: "System:", "Method:" and "Node:". A probe's spool is such a file.
 * Reading streams: a file may be larger than memory if its chronicle is not. gzip is known by its
 * bytes. What is written reads back as the same numbers.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"

struct buf;
struct err;

/* What a file held. */
struct blocks_facts {
	size_t blocks, samples, snapshots;
	/*
	 * How often a killed writer has left a block incomplete, and the line where that shows
	 * first. A row or a listing that is not complete is not kept.
	 */
	size_t torn, torn_line;
};

/*
 * Adds the file ("-": standard input) to a chronicle. System is taken from the file if the
 * chronicle has no name; other sizes are added to its own. Owners in listings are hidden by the
 * key. facts may be NULL. On failure the chronicle holds the blocks before that which is wrong;
 * err tells file, line and what to mend.
 */
int blocks_read(struct chronicle *chronicle, const char *path, const uint8_t key[OWNER_KEY_BYTES],
		struct blocks_facts *facts, struct err *err);
/* The same from memory; any bytes. */
int blocks_parse(struct chronicle *chronicle, const char *name, const char *text, size_t bytes,
		 const uint8_t key[OWNER_KEY_BYTES], struct blocks_facts *facts, struct err *err);

/* ---- writing: from_s <= time < to_s ---- */

/* Block by block, in the order of time. The chronicle must not change meanwhile. */
struct blocks_writer {
	const struct chronicle *chronicle;
	double to_s;
	size_t *next; /* per series */
	size_t snapshot, node;
};
void blocks_writer_init(struct blocks_writer *writer, const struct chronicle *chronicle,
			double from_s, double to_s);
/* Adds the next block to out; false: there is none. */
bool blocks_writer_next(struct blocks_writer *writer, struct buf *out);
void blocks_writer_release(struct blocks_writer *writer);

/* "System: NAME": the first line of a file. */
void blocks_begin(struct buf *out, const struct chronicle *chronicle);
/* All blocks of a time: for a probe that adds its rounds to a file. */
void blocks_add(struct buf *out, const struct chronicle *chronicle, double from_s, double to_s);

/*
 * A whole file, complete or not there; "-" is standard output, and a name that ends in ".gz" is
 * compressed.
 */
int blocks_write(const struct chronicle *chronicle, const char *path, double from_s, double to_s,
		 struct err *err);

#endif
