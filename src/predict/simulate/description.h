/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The contents of a platform description, for the files of this folder only. Rates are in bytes per
 * second, sizes in bytes, times in seconds. All numbers are doubles because the model only
 * multiplies and divides them.
 */
#ifndef SLUICE_PREDICT_SIMULATE_DESCRIPTION_H
#define SLUICE_PREDICT_SIMULATE_DESCRIPTION_H

#include "predict/simulate/platform.h"

/* Values of one tunable that a search may try, or a list of words. */
struct platform_list {
	char *name;
	char **values; /* NULL-terminated */
	size_t count, cap;
};

struct platform_lists {
	struct platform_list *lists;
	size_t count, cap;
};

struct platform {
	char *name, *title;
	enum filesystem filesystem; /* LUSTRE or GPFS */

	/* [nodes] */
	double cores;	    /* ranks per node */
	double memory;	    /* per node */
	double copy_rate;   /* at which one process receives and sorts data of other ranks */
	double piece_s;	    /* additional time per piece of a noncontiguous access */
	double link_rate;   /* network bandwidth of a node, in each direction */
	double sync_rank_s; /* synchronization per round of collective I/O and per rank */
	double sync_step_s; /* the same, per doubling of the number of ranks */

	/* [client] */
	double stream_rate; /* one process that writes to one target */
	double node_rate;   /* all processes of a node */
	double dirty;	    /* write-behind cache per target */

	/* [servers] */
	double peak, share;	       /* of all servers; the fraction that one job gets */
	double servers;		       /* object or file servers */
	double targets, target_rate;   /* Lustre: OSTs */
	double block;		       /* GPFS: unit of locking and writing */
	double io_nodes, io_nodes_min; /* GPFS on Blue Gene: total, and minimum per job */
	double io_node_nodes;	       /* compute nodes per I/O node */
	double io_node_rate;
	double io_node_streams; /* concurrent streams without loss of bandwidth */
	double jitter;		/* relative standard deviation of the time of a 1 MiB write */

	/* [locks] */
	double lock_s;	 /* Lustre: lock of an extent in a shared object; GPFS: token of a block */
	double revoke_s; /* revocation of a lock from another writer of the same stripe or block */
	double range_s;	 /* GPFS: ROMIO's lock of the whole range, without bglockless */

	/* [metadata] */
	double open_rank_s;   /* open and close, per rank */
	double open_target_s; /* per stripe */
	double object_s;      /* a small object of the file format that is written alone */
	double chunk_s;	      /* index entry of one chunk */

	/* [defaults] of the site; aggregators == 0: one per stripe */
	double stripes, unit, aggregators, io_node_aggregators, buffer;
	double threshold, boundary;

	/* [values]: the values to try per tunable. [search]: the tunables per kind of program.
	 * [ties]: tunables that take the value of another one, whose name is the only entry. */
	struct platform_lists values, search, ties;
};

/* Returns the list of that name, or NULL. */
const struct platform_list *platform_list(const struct platform_lists *lists, const char *name);

#endif
