/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be tuned: one row per parameter. Reading, checking, printing, searching and injecting a
 * parameter all go by its row; to add one, add a row here and, where the guest has to do more than
 * to pass a hint on, its setter in capture/.
 */
#ifndef SLUICE_PARAMS_TUNABLE_H
#define SLUICE_PARAMS_TUNABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/parameters.h"

struct err;

enum tunable_layer {
	TUNABLE_HDF5,	 /* High_Level_IO_Library in H5Tuner's words */
	TUNABLE_MPI,	 /* Middleware_Layer */
	TUNABLE_STORAGE, /* Parallel_File_System */
	TUNABLE_LAYERS,
};

enum tunable_kind {
	TUNABLE_COUNT,	/* whole number */
	TUNABLE_BYTES,	/* whole number; "16M" is understood where people write it */
	TUNABLE_PAIR,	/* two of them: "threshold, boundary" */
	TUNABLE_CHOICE, /* one of words */
	TUNABLE_SHAPE,	/* extents of a chunk, "1,26,327680"; or a size in bytes to derive them */
	TUNABLE_TEXT,	/* anything that a hint can hold */
	TUNABLE_SPREAD, /* destinations with weights, "NAME*WEIGHT,...": params/spread.h */
};

enum tunable_safety {
	TUNABLE_SAFE,	   /* only time changes */
	TUNABLE_LAYOUT,	   /* the file is laid out otherwise; its contents are the same */
	TUNABLE_SEMANTICS, /* readers may see a difference: asked for by name only */
	TUNABLE_DANGEROUS, /* known to lose data or to abort: refused, with the reason */
};

/* Who does something about it: bits. */
enum tunable_honour {
	EFFECT_HDF5 = 1 << 0,
	EFFECT_ROMIO = 1 << 1, /* its generic code: every driver */
	EFFECT_ROMIO_UFS = 1 << 2,
	EFFECT_ROMIO_NFS = 1 << 3,
	EFFECT_ROMIO_LUSTRE = 1 << 4,
	EFFECT_ROMIO_GPFS = 1 << 5,
	EFFECT_OMPIO = 1 << 6,
	EFFECT_LUSTRE = 1 << 7, /* the file system itself, without MPI */
	EFFECT_CEPH = 1 << 8,
	EFFECT_FILES = 1 << 9, /* we ourselves, on any file system */
	EFFECT_LAST = EFFECT_FILES,
};

struct tunable {
	const char *name; /* as in H5Tuner, or the key of the hint */
	enum tunable_layer layer;
	enum tunable_kind kind;
	const char *unit; /* "bytes", "stripes", "" */
	const char
		*words; /* of CHOICE: "enable|disable|automatic"; of TEXT and SPREAD: its looks */
	uint64_t min, max; /* of COUNT and BYTES, and of both of PAIR */
	enum tunable_safety safety;
	unsigned honoured; /* enum tunable_honour bits */
	enum parameters_place place;
	const char *key;     /* what the guest calls it; NULL: its name */
	const char *initial; /* what counts if nobody sets it; NULL: depends on the site */
	const char *help;    /* one clause */
	const char *warning; /* why it is not safe; NULL for SAFE */
	const char *aliases; /* other names, "strp_fac|stripe_count"; NULL: none */
	const char *layout;  /* a line of PLACE_LAYOUT with this key as well, for files that are
			      * made without MPI; NULL: no */
	bool (*fits)(const char *value); /* of TEXT, where not all texts are legal; NULL: they are.
					  * Of SPREAD: the name of one destination */
};

/* What has to be known about the place where parameters are to be applied. Zero: unknown. */
enum middleware { MIDDLEWARE_ANY, MIDDLEWARE_MPICH, MIDDLEWARE_OPENMPI_ROMIO, MIDDLEWARE_OMPIO };
enum filesystem {
	FILESYSTEM_ANY,
	FILESYSTEM_LOCAL,
	FILESYSTEM_NFS,
	FILESYSTEM_LUSTRE,
	FILESYSTEM_GPFS,
	FILESYSTEM_CEPH
};

struct tunable_context {
	enum middleware middleware;
	enum filesystem filesystem;
	enum tunable_safety allowed; /* the most that may be applied without being named */
	uint32_t ranks, nodes;	     /* 0: unknown */
};

extern const struct tunable tunables[]; /* ends with a row without name */

/* By its name or an alias, in any case of letters; NULL where unknown. */
const struct tunable *tunable_by_name(const char *name);
const char *tunable_layer_name(enum tunable_layer layer); /* "hdf5", "mpi", "storage" */
const char *tunable_section(enum tunable_layer layer);	  /* H5Tuner's name of it */
const char *tunable_safety_name(enum tunable_safety safety);
const char *middleware_name(enum middleware middleware);
const char *filesystem_name(enum filesystem filesystem);
const char *tunable_honour_name(enum tunable_honour bit); /* "ROMIO", "OMPIO", ... */
/* Back from the words; -1 where it is none of them. */
int middleware_by_name(const char *name);
int filesystem_by_name(const char *name);
/* By statfs() of the path or the nearest parent that is there. */
enum filesystem filesystem_of(const char *path);

/*
 * A shape is extents with commas between, and with one behind it if it is a single extent: "4096,".
 * A lone number is a size in bytes that the shape is made from.
 *
 * The value as it is handed on: numbers in plain digits, blanks gone. NULL with a sentence in err
 * that names the parameter, what is wrong and what is legal. The caller frees it.
 */
char *tunable_parse(const struct tunable *tunable, const char *text, struct err *err);

/* Does anybody listen to it there? EFFECT_ bits of those who do; 0: nobody. */
unsigned tunable_listeners(const struct tunable *tunable, const struct tunable_context *context);

/* May it be applied there? 0, or -EPERM with the reason. */
int tunable_allow(const struct tunable *tunable, const char *value,
		  const struct tunable_context *context, struct err *err);

#endif
