/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a description says: for the files of this folder only. Rates are bytes/s, sizes bytes, times
 * seconds; all numbers are doubles because all the model does is to multiply and divide them.
 */
#ifndef SLUICE_PREDICT_SIMULATE_DESCRIPTION_H
#define SLUICE_PREDICT_SIMULATE_DESCRIPTION_H

#include "predict/simulate/platform.h"

/* Values of one tunable that a search may try, or words. */
struct platform_list {
	char *name;
	char **values; /* ends with NULL */
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
	double memory;	    /* of a node */
	double copy_rate;   /* at which one process takes in and sorts what others send */
	double piece_s;	    /* more for each piece of an access that is not in one piece */
	double link_rate;   /* of a node's network, both ways */
	double sync_rank_s; /* of a round of collective I/O, per rank that takes part */
	double sync_step_s; /* the same, per doubling of the ranks */

	/* [client] */
	double stream_rate; /* one process writing to one place */
	double node_rate;   /* all processes of a node */
	double dirty;	    /* written behind the caller's back, per target */

	/* [servers] */
	double peak, share;	       /* of all; the part that one job gets of it */
	double servers;		       /* object or file servers */
	double targets, target_rate;   /* Lustre: OSTs */
	double block;		       /* GPFS: what is locked and written as a whole */
	double io_nodes, io_nodes_min; /* GPFS on Blue Gene: in all; least that a job gets */
	double io_node_nodes;	       /* compute nodes that one serves */
	double io_node_rate;
	double io_node_streams; /* that it serves without loss */
	double jitter;		/* deviation over mean of the time of a write of 1 MiB */

	/* [locks] */
	double lock_s;	 /* for an extent of an object that others write, too; GPFS: a token */
	double revoke_s; /* taking back a lock from one who is writing in the same stripe or block
			  */
	double range_s;	 /* GPFS: a lock of the whole range by ROMIO, without bglockless */

	/* [metadata] */
	double open_rank_s;   /* open and close, per rank */
	double open_target_s; /* per stripe */
	double object_s;      /* a small object of the format, written for itself */
	double chunk_s;	      /* index of one chunk */

	/* [defaults] of the site; aggregators 0: one per stripe */
	double stripes, unit, aggregators, io_node_aggregators, buffer;
	double threshold, boundary;

	/* [values]: per tunable what may be tried; [search]: which of them for which kind of
	 * program; [ties]: tunables that follow another, whose name is the only value. */
	struct platform_lists values, search, ties;
};

/* NULL: there is none of that name. */
const struct platform_list *platform_list(const struct platform_lists *lists, const char *name);

#endif
