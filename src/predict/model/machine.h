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
	uint64_t cores; /* c: ranks per node where nobody says otherwise */
	/* HYB-9, of Blue Gene: the hint counts aggregators per pset beside the bridge's own. 0:
	 * the hint is the number of aggregators. */
	uint64_t bridges, bridge_nodes; /* so many bridges for so many nodes */
	uint64_t pset_nodes;		/* compute nodes of one I/O node; 0: there are none */
	uint64_t cache_bytes;		/* of an I/O node; without such, of a node */
	uint64_t block_bytes;		/* of the file system */
	/* The site's defaults of hints. */
	uint64_t aggregators, buffer_bytes, stripes, stripe_bytes;
};

/* As platform_open(): by name or path; err names file and line. */
int machine_open(struct machine *machine, const char *name, struct err *err);
int machine_read_text(struct machine *machine, const char *name, const char *text, size_t bytes,
		      struct err *err);

/* The same as text, as machine_read_text() takes it: it travels with a fitted model. */
struct buf;
void machine_write(const struct machine *machine, struct buf *out);

#endif
