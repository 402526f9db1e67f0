/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One collective access of all ranks to one file, and the hints that apply to it. Every rank moves
 * the same number of bytes.
 * Papers: HYB-3.
 */
#ifndef SLUICE_PREDICT_MODEL_ACCESS_H
#define SLUICE_PREDICT_MODEL_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct machine;
struct param_set;

enum access_pattern {
	ACCESS_CONTIGUOUS, /* rank r accesses rank_bytes at r * rank_bytes, as IOR does by default
			    */
	ACCESS_STRIDED,	   /* rank r accesses block_bytes at (k * ranks + r) * stride_bytes */
};
#define ACCESS_WORDS "contiguous|strided"

struct access {
	bool is_read;
	enum access_pattern pattern;
	uint64_t nodes, ranks;
	uint64_t rank_bytes;   /* bytes per rank */
	uint64_t block_bytes;  /* STRIDED: bytes of a piece; divides rank_bytes */
	uint64_t stride_bytes; /* STRIDED: >= block_bytes; if larger, there are holes between pieces
				*/
	uint64_t offset;       /* of the first byte in the file */
};

enum buffering { BUFFERING_AUTOMATIC, BUFFERING_ENABLED, BUFFERING_DISABLED };
#define BUFFERING_WORDS "automatic|enable|disable"

/* Hints as numbers. 0: the machine's default. */
struct settings {
	uint64_t aggregators; /* cb_nodes; on Blue Gene bg_nodes_pset */
	/* K of cb_config_list=*:K. 0: as few as `aggregators` needs if that is set, else the
	 * default. */
	uint64_t node_aggregators;
	uint64_t buffer_bytes;
	uint64_t stripes, stripe_bytes;
	enum buffering buffering; /* romio_cb_write or romio_cb_read */
	/* romio_ds_write or romio_ds_read. Automatic sieves; disabled: a call per piece. */
	enum buffering sieving;
	uint64_t sieve_bytes; /* ind_wr_buffer_size or ind_rd_buffer_size */
};

/* True if all settings are equal. */
bool settings_equal(const struct settings *a, const struct settings *b);

/*
 * Fails if there are no ranks, ranks do not fill the nodes, the block does not divide rank_bytes,
 * or the file would be too large. Functions that count require an accepted access.
 */
int access_check(const struct access *access, struct err *err);

/* Bytes from the first to the last byte that is accessed. */
uint64_t access_extent(const struct access *access);

/* True if the bytes of a rank are not contiguous in the file. */
bool access_has_pieces(const struct access *access);

/* True if ROMIO finds that the accesses of ranks interleave. If not, `automatic` disables
 * collective buffering. */
bool access_interleaves(const struct access *access);

/* True if settings_from_params() reads the parameter for accesses of this direction. */
bool settings_know(const char *name, const struct machine *machine, const struct access *access);

/* Converts parameters to settings; parameters that are not in the set have the default. */
int settings_from_params(struct settings *settings, const struct machine *machine,
			 const struct access *access, const struct param_set *set, struct err *err);
/* Adds the settings to the set; defaults (0) are omitted. */
int settings_to_params(const struct settings *settings, const struct machine *machine,
		       const struct access *access, struct param_set *set, struct err *err);

#endif
