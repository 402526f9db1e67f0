/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One collective access of all ranks to one file, and the hints it is done under. Offsets are in
 * the file; every rank moves the same number of bytes.
 */
#ifndef SLUICE_PREDICT_MODEL_ACCESS_H
#define SLUICE_PREDICT_MODEL_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct machine;
struct param_set;

enum access_pattern {
	ACCESS_CONTIGUOUS, /* rank r has rank_bytes at r * rank_bytes: IOR's default */
	ACCESS_STRIDED,	   /* rank r has pieces of block_bytes at (k * ranks + r) * stride */
};
#define ACCESS_WORDS "contiguous|strided"

struct access {
	bool is_read;
	enum access_pattern pattern;
	uint64_t nodes, ranks;
	uint64_t rank_bytes;   /* s_p */
	uint64_t block_bytes;  /* STRIDED: of a piece; divides rank_bytes */
	uint64_t stride_bytes; /* STRIDED: >= block_bytes; more leaves holes between all pieces */
	uint64_t offset;       /* of the first byte */
};

enum buffering { BUFFERING_AUTOMATIC, BUFFERING_ENABLED, BUFFERING_DISABLED };
#define BUFFERING_WORDS "automatic|enable|disable"

/* Hints, as numbers. 0: the machine's default. */
struct settings {
	uint64_t aggregators; /* per pset on Blue Gene, else cb_nodes */
	/* cb_config_list *:K. 0: with aggregators, as few as hold them; else the default. */
	uint64_t node_aggregators;
	uint64_t buffer_bytes;
	uint64_t stripes, stripe_bytes;
	enum buffering buffering; /* romio_cb_write or romio_cb_read */
};

bool settings_are_same(const struct settings *a, const struct settings *b);

/*
 * What to mend is in err: no ranks, ranks that do not fill nodes, a block that divides nothing,
 * more bytes than a file can have. All that count rely on it having been asked.
 */
int access_check(const struct access *access, struct err *err);

/* From the first byte to behind the last one that is accessed. */
uint64_t access_extent(const struct access *access);

/* Does ROMIO see the accesses of ranks interleave? Where not, `automatic` does without buffering.
 */
bool access_interleaves(const struct access *access);

/* The settings that a set of parameters means there; what it does not name is the default. */
int settings_of(struct settings *settings, const struct machine *machine,
		const struct access *access, const struct param_set *set, struct err *err);
/* And back; adds to the set. Defaults (0) are left out. */
int settings_params(const struct settings *settings, const struct machine *machine,
		    const struct access *access, struct param_set *set, struct err *err);

#endif
