/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The properties of a machine that matter to a collective access: the form of ROMIO it runs, how
 * hints translate to aggregators, and the sizes of caches and blocks. A description is an INI file
 * (share/machines/NAME.ini); machine.c has one row per key.
 * Papers: HYB-3.
 */
#ifndef SLUICE_PREDICT_MODEL_MACHINE_H
#define SLUICE_PREDICT_MODEL_MACHINE_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct counts_form;
struct err;

/* The form of ROMIO whose operations are counted. */
enum romio {
	ROMIO_BLUEGENE, /* MPICH 3.1 on Blue Gene/Q; only the lab can count it */
	ROMIO_GENERIC,	/* ADIO's generic code in MPICH 4: UFS, NFS and most other file systems */
	ROMIO_LUSTRE,
	ROMIO_GPFS, /* since MPICH 3.3 */
};
#define ROMIO_WORDS "bluegene|generic|lustre|gpfs"

#define MACHINE_FORM_OPTIONS 4
#define MACHINE_FORM_OPTION_VALUES 4 /* every option is less */

struct machine {
	char name[64], title[128];
	enum romio romio;
	/* NULL: the product's form for romio. The lab sets its own form and its options here; the
	 * product's forms have no options. */
	const struct counts_form *form;
	uint32_t form_options[MACHINE_FORM_OPTIONS];
	/* Messages in which a rank sends offsets and lengths to an aggregator. 0 and 1: one; 2: as
	 * ROMIO did until MPICH 3.2 and still does in Open MPI (romio321). */
	uint64_t list_messages;
	uint64_t cores; /* ranks per node unless the user says otherwise */
	/* Blue Gene: the hint is the number of aggregators per pset in addition to the bridge node,
	 * and `bridge_nodes` compute nodes have `bridges` bridges. 0: the hint is the number of
	 * aggregators. */
	uint64_t bridges, bridge_nodes;
	uint64_t pset_nodes;  /* compute nodes per I/O node; 0: the machine has no I/O nodes */
	uint64_t cache_bytes; /* of an I/O node, or of a compute node if there are no I/O nodes */
	uint64_t block_bytes; /* of the file system */
	/* The stripes of new files on a file system whose stripes ROMIO does not know of; 0: it
	 * does not stripe files. On Lustre, ROMIO uses stripes and stripe_bytes, and aggregators
	 * write whole stripes. */
	uint64_t file_stripes, file_stripe_bytes;
	/* The site's defaults of hints; 0: not set. */
	uint64_t aggregators;	   /* 0: one per rank, as far as node_aggregators allows */
	uint64_t node_aggregators; /* K of cb_config_list=*:K; ROMIO's default is 1 */
	uint64_t buffer_bytes, stripes, stripe_bytes;
};

/*
 * Opens a description by name, or by path if the argument contains a slash or ends in ".ini". Names
 * are searched in $SLUICE_MACHINES, beside the binary (build tree), and in
 * ../share/sluice/machines (installation). Errors name file and line. Section [replica] belongs to
 * the simulator (lab/replica/replica.h) and is skipped.
 */
int machine_open(struct machine *machine, const char *name, struct err *err);
int machine_read_text(struct machine *machine, const char *name, const char *text, size_t bytes,
		      struct err *err);

/*
 * This computer, for files in the directory: one node that runs the generic code of MPICH 4. The
 * cache is the physical memory; it is 0 if the file system itself is in memory. The stripes of new
 * files are those of the directory, if they are known (striping_inherited() in params/striping.h).
 */
int machine_detect(struct machine *machine, const char *directory, struct err *err);

/* The bytes that the caches between this many nodes and the disks hold together. */
uint64_t machine_cache_bytes(const struct machine *machine, uint64_t nodes);

/* Writes the description in the format that machine_read_text() reads. A fitted model contains it.
 */
void machine_write(const struct machine *machine, struct buf *out);

#endif
