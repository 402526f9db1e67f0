/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A machine as far as a collective access cares: which form of ROMIO it runs, how hints become
 * aggregators, how large caches and blocks are (HYB-10). A description is an INI file
 * (share/machines/NAME.ini); the keys are the rows of machine.c.
 */
#ifndef SLUICE_PREDICT_MODEL_MACHINE_H
#define SLUICE_PREDICT_MODEL_MACHINE_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Whose calls are counted. */
enum romio {
	ROMIO_BLUEGENE, /* of the paper: MPICH 3.1 on Blue Gene/Q */
	ROMIO_GENERIC,	/* ADIO's generic code, MPICH 4: UFS, NFS, most others */
	ROMIO_LUSTRE,
	ROMIO_GPFS, /* since MPICH 3.3 */
};
#define ROMIO_WORDS "bluegene|generic|lustre|gpfs"

struct machine {
	char name[64], title[128];
	enum romio romio;
	/* In how many messages a rank tells an aggregator offsets and lengths: 0 and 1 in one, 2 as
	 * ROMIO did up to MPICH 3.2 and does in Open MPI (romio321). */
	uint64_t list_messages;
	uint64_t cores; /* c: ranks per node where nobody says otherwise */
	/* HYB-9, of Blue Gene: the hint counts aggregators per pset beside the bridge's own. 0:
	 * the hint is the number of aggregators. */
	uint64_t bridges, bridge_nodes; /* so many bridges for so many nodes */
	uint64_t pset_nodes;		/* compute nodes of one I/O node; 0: there are none */
	uint64_t cache_bytes;		/* of an I/O node; without such, of a node */
	uint64_t block_bytes;		/* of the file system */
	/* The site's defaults of hints; 0: nobody sets it. */
	uint64_t aggregators;	   /* as many ranks as there are, else */
	uint64_t node_aggregators; /* cb_config_list *:K: at most so many on a node; ROMIO: 1 */
	uint64_t buffer_bytes, stripes, stripe_bytes;
};

/*
 * By name, or by the path of a description (it has a slash or ends in ".ini"). A name is looked for
 * in $SLUICE_MACHINES, beside the binary (build tree), and in ../share/sluice/machines (installed).
 * err names file and line. Section [replica] is the simulator's (lab/replica/replica.h); with
 * machine_text() it gets the same file.
 */
int machine_open(struct machine *machine, const char *name, struct err *err);
int machine_read_text(struct machine *machine, const char *name, const char *text, size_t bytes,
		      struct err *err);

/* path, for messages, and text are the caller's to free and to release. */
struct buf;
int machine_text(const char *name, char **path, struct buf *text, struct err *err);

/*
 * This computer, for accesses to files in the directory: one node, the generic code of MPICH 4,
 * which knows UFS, NFS and no others here. Memory is the cache, but of a file system that is memory
 * itself there is none.
 */
int machine_here(struct machine *machine, const char *directory, struct err *err);

/* What caches between so many nodes and the disks can hold (HYB-34). */
uint64_t machine_cache_bytes(const struct machine *machine, uint64_t nodes);

/* The same as text, as machine_read_text() takes it: it travels with a fitted model. */
void machine_write(const struct machine *machine, struct buf *out);

#endif
