/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Probe data as text, in the block format of the paper (WAN-10; docs/reference/probe-data.md), with
 *one block per time:
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
 * The list of jobs has the format of qstat -f; a block without a list has no snapshot. A cell is a
 * duration, "-" if nothing was written, ">30s" if the write timed out, "full" or "failed". The
 *lines "System:", "Method:" and "Node:", which the paper does not have, come before the list. Spool
 *files of probes have this format. Files are read as a stream, so a file may be larger than memory.
 * gzip-compressed files are recognized. Written numbers are read back exactly.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"

struct buf;
struct err;

/* Statistics of a file. */
struct blocks_facts {
	size_t blocks, samples, snapshots;
	/*
	 * Number of blocks that a killed writer left incomplete, and the line of the first one.
	 * Incomplete rows and job lists are discarded.
	 */
	size_t torn, torn_line;
};

/*
 * Adds a file ("-": standard input) to a chronicle. The chronicle gets the system of the file if it
 * has none, and the sizes of the file in addition to its own. The key hides the owners of jobs.
 * facts may be NULL. On failure, the chronicle has the blocks before the error, and err gives the
 * file, the line and what is wrong.
 */
int blocks_read(struct chronicle *chronicle, const char *path, const uint8_t key[OWNER_KEY_BYTES],
		struct blocks_facts *facts, struct err *err);
/* The same from memory; any bytes. */
int blocks_parse(struct chronicle *chronicle, const char *name, const char *text, size_t bytes,
		 const uint8_t key[OWNER_KEY_BYTES], struct blocks_facts *facts, struct err *err);

/* Does the text begin with one of the words that start a section, such as "Method:"? */
bool blocks_is_section(const char *text);

/* Appends the first line of a file, "System: NAME". */
void blocks_begin(struct buf *out, const struct chronicle *chronicle);
/* Appends the blocks with from_s <= time < to_s, for a prober that extends its spool file. */
void blocks_add(struct buf *out, const struct chronicle *chronicle, double from_s, double to_s);

/*
 * Writes a file, which appears only when it is complete. "-" is standard output; a name that ends
 * in
 * ".gz" is compressed.
 */
int blocks_write(const struct chronicle *chronicle, const char *path, double from_s, double to_s,
		 struct err *err);

#endif
