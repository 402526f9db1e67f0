/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What rules look at: the profile, arranged by file. Only files of the user are included.
 *
 * The requesting layer of a file is the highest layer that transferred its data: what happens in
 * the layers below is a consequence. Rules about access patterns look at the requesting layer,
 * rules about libraries compare it with the storage calls inside (`inner`).
 */
#ifndef SLUICE_OBSERVE_DIAGNOSE_CASE_H
#define SLUICE_OBSERVE_DIAGNOSE_CASE_H

#include "base/config.h"
#include "observe/diagnose/injected.h"
#include "observe/diagnose/rule.h"
#include "observe/profile/profile.h"
#include "observe/tally/traffic.h"

/* Storage calls inside calls of a library. Arrays of two are indexed by READING and WRITING. */
struct case_inner {
	uint64_t calls[2], bytes[2];
	int64_t time_ns[2];
};

/* What the calls of a library do: READING, WRITING, or open, close, flush and the like. */
enum { CASE_OTHER = 2, CASE_WAYS };

struct case_file {
	file_id file;
	const struct file_total *layers[LAYER_COUNT]; /* NULL: the layer did not access the file */
	const struct file_total *top;	/* of the requesting layer; NULL: no data was transferred */
	const struct file_facts *facts; /* never NULL */
	struct case_inner inner[CASE_WAYS]; /* by what the outermost call of a library does */
	struct case_inner mpi[CASE_WAYS];   /* the same by what the nearest call of MPI does */
	/* Of `inner`, bytes inside calls that create, open or define: they hold no requested data.
	 */
	uint64_t unrequested[2];
	int64_t library_ns[CASE_WAYS]; /* time of these outermost calls */
	int64_t own_ns[CASE_WAYS];     /* of it, in the library, not in any call that it made */
	uint64_t hidden;	       /* bit per rule: explained by another finding */
};

struct diagnosis {
	const struct profile *profile;
	const struct diagnose_options *options;
	struct file_total *totals;
	size_t total_count;
	struct case_file *files;
	size_t count;
	size_t members; /* ranks, or processes of a serial run */
	struct costs *costs;
	struct injected injected;
};

void diagnosis_init(struct diagnosis *d, const struct profile *profile,
		    const struct diagnose_options *options);
void diagnosis_release(struct diagnosis *d);

/* A threshold, by the name of its setting without SETTING_FINDINGS_. */
#define LIMIT(d, name) config_number((d)->options->config, SETTING_FINDINGS_##name)

/* Share of the run time of a time that is summed over threads and ranks; NAN: unknown. */
double case_share(const struct diagnosis *d, double time_ns);

/* The time, summed over threads and ranks, that has the share of this part of the run time. */
double case_summed(const struct diagnosis *d, double time_ns);

/* NULL: no file of the user. */
const struct case_file *case_find(const struct diagnosis *d, file_id file);

/* Is `part` at least findings.share_percent of `whole`? */
bool case_is_most(const struct diagnosis *d, uint64_t part, uint64_t whole);

/*
 * Calls of a class on the file in POSIX and STDIO, where an open or a status call concerns the file
 * and not an object inside it. Adds their time.
 */
uint64_t case_calls(const struct case_file *file, enum call_class class, int64_t *time_ns);

/*
 * Calls that force data of the file to storage, in the highest layer that makes them. fflush() is
 * none of them: it passes the buffer of a stream to the kernel.
 */
uint64_t case_syncs(const struct case_file *file, int64_t *time_ns);

/* Bytes that members accessed more than once, at least. */
uint64_t case_repeated(const struct file_total *total, int way);

/* Transfers of less than findings.small_bytes. */
uint64_t case_small(const struct diagnosis *d, const struct file_total *total, int way);

/* The size of the transfers of a bin: a frequent one, or the geometric middle of the bin. */
double case_bin_size(const struct cell *cell, int way, unsigned bin);

/* Their bytes, estimated by the sizes above. */
uint64_t case_small_bytes(const struct diagnosis *d, const struct file_total *total, int way);

/* Their time; `otherwise` if the times by size are not known. */
double case_small_time(const struct diagnosis *d, const struct file_total *total, int way,
		       double otherwise);

/* Accesses with a known position. */
uint64_t case_placed(const struct file_total *total, int way);

/* The match concerns all transfers in this direction. */
void case_set_transfers(struct match *m, const struct file_total *total, int way);

/* Average size of a transfer; 0 if there is none. */
double case_average(const struct file_total *total, int way);

/* Do most of the accesses take part in collective calls? */
bool case_is_collective(const struct file_total *total, int way);

/* Bytes that the storage calls inside the library read and wrote. */
uint64_t case_stored(const struct case_file *file, int way);

/*
 * A library may convert data between types of different size, as from float to double, and the
 * trace does not show it. Could it have made `stored` bytes out of `requested` ones, or the
 * reverse, in this way? `exactly`: the ratio is that of two common types.
 */
bool case_may_convert(const struct case_file *file, uint64_t requested, uint64_t stored,
		      bool *exactly);

/* The match has no more evidence than the ratio: there is nothing to predict. */
void case_set_unproven(struct match *m);

/* Appends to the evidence that all files are unproven, if they are. */
void case_describe_unproven(struct buf *out, const struct match *m);

/* Are about all bytes that storage calls write, written once? */
bool case_is_written_once(const struct case_file *file);

/* The requesting layer or, if no data was transferred, the highest one with calls; -1: none. */
int case_requesting(const struct case_file *file);

/* Does a library of this layer access the data of the file? */
bool case_uses(const struct case_file *file, unsigned layer);

#endif
