/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The import of a log into the head of a trace. A process of the head is a rank of the job; if some
 * records are of all ranks together, one more process stands for all of them
 * (process_is_group()).
 *
 * The calls of a trace of a log are named after the modules that traced them, because a log does
 * not tell which function was called.
 */
#ifndef SLUICE_TRACE_DARSHAN_IMPORT_H
#define SLUICE_TRACE_DARSHAN_IMPORT_H

#include "base/map.h"
#include "contract/group.h"
#include "trace/darshan/log.h"
#include "trace/head.h"
#include "trace/usage.h"

/* Rows of a kind of fact in memory; further rows are added to one row for all files. */
#define IMPORT_ROWS_MAX (1u << 18)
/* Jobs with more ranks have only those processes of which there are records. */
#define IMPORT_RANKS_MAX (1 << 16)

/* The calls of the trace, by number. */
enum import_call {
	IMPORT_NONE,
	IMPORT_POSIX_READ,
	IMPORT_POSIX_WRITE,
	IMPORT_MPIIO_READ,
	IMPORT_MPIIO_WRITE,
	IMPORT_CALLS
};

/* The accesses to one file that are activities of the trace, not yet subtracted from its counters.
 * Arrays of two are for reads and writes. */
struct coverage {
	int64_t calls[2], bytes[2], ns[2];
	int64_t sizes[2][USAGE_SIZES];
	bool traced[2]; /* there are such activities */
};

struct import {
	struct darshan_log log;
	struct head_builder builder;
	struct map processes;	/* 1 + index, by 1 + rank; only beyond IMPORT_RANKS_MAX */
	int64_t group;		/* index of the process that stands for all ranks; -1: none */
	struct map files;	/* file id, by record id */
	struct map coverage[2]; /* struct coverage by record id: POSIX, MPI-IO */
	struct map others;	/* struct usage by layer, for rows beyond IMPORT_ROWS_MAX */
	int64_t last_ns;	/* latest moment of any record */
	bool is_sealed;		/* the head is complete: no process or file is added */
};

void import_init(struct import *import, struct trace_head *head);
void import_release(struct import *import);

/* Fills in run, calls and processes from the job. */
int import_job(struct import *import, struct err *err);

/*
 * The process of a rank; DARSHAN_SHARED: of all ranks. Adds it if it is missing. A log that changes
 * while it is read may name a new one after import_finish(); the result is then process 0.
 */
uint32_t import_process(struct import *import, int64_t rank);

/* The file of a record id; adds it if it is missing. 0 if the log does not name it. */
file_id import_file(struct import *import, uint64_t id);
file_id import_path(struct import *import, uint64_t id, const char *path, size_t n);

/* Adds a usage. import_finish() adds the aggregates that follow from it. */
void import_usage(struct import *import, const struct usage *usage, unsigned layer);

/* Adds a note of the source "darshan" about the whole run. */
void import_note(struct import *import, const char *kind, const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Notes that the rest of a module is missing because it is damaged. */
void import_damaged(struct import *import, enum darshan_module module, const struct err *err);

/* Completes the head after the last record. */
void import_finish(struct import *import);

#endif
