/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters that Sluice can tune: one row each. Reading, checking, printing, searching and
 * injecting a parameter all use its row. To add a parameter, add a row to catalog.c, and a setter
 * to capture/ if the guest has to do more than to pass on a hint.
 */
#ifndef SLUICE_PARAMS_TUNABLE_H
#define SLUICE_PARAMS_TUNABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/parameters.h"

struct err;

enum tunable_layer {
	TUNABLE_HDF5,	     /* H5Tuner calls it High_Level_IO_Library */
	TUNABLE_MPI,	     /* H5Tuner: Middleware_Layer */
	TUNABLE_STORAGE,     /* H5Tuner: Parallel_File_System */
	TUNABLE_STDIO,	     /* streams of the C library */
	TUNABLE_ENVIRONMENT, /* environment variables: params/open_tunable.h */
	TUNABLE_COMMAND,     /* arguments of the command: likewise */
	TUNABLE_LAYERS,
};

enum tunable_kind {
	TUNABLE_COUNT,	/* whole number */
	TUNABLE_BYTES,	/* whole number; people may write "16M" */
	TUNABLE_RATIO,	/* number from 0 to 1, with up to 6 decimals */
	TUNABLE_PAIR,	/* two sizes in bytes: "threshold, boundary" */
	TUNABLE_CHOICE, /* one of words */
	TUNABLE_SHAPE,	/* extents of a chunk, "1,26,327680", or a size in bytes to derive them from
			 */
	TUNABLE_TEXT,	/* anything that a hint can hold */
	TUNABLE_WORDS,	/* any printable ASCII text, unchanged */
	TUNABLE_SPREAD, /* destinations with weights, "NAME*WEIGHT,...": params/spread.h */
};

enum tunable_safety {
	TUNABLE_SAFE,	   /* changes nothing but time */
	TUNABLE_LAYOUT,	   /* changes the layout of the file but not its contents */
	TUNABLE_SEMANTICS, /* readers may see a difference; applied only if the user allows it */
	TUNABLE_DANGEROUS, /* known to lose data or to abort the program; always refused */
};

/* The software that acts on a parameter, as bits. */
enum tunable_consumer {
	TUNABLE_CONSUMER_HDF5 = 1 << 0,
	TUNABLE_CONSUMER_ROMIO = 1 << 1, /* the generic code, with every driver */
	TUNABLE_CONSUMER_ROMIO_UFS = 1 << 2,
	TUNABLE_CONSUMER_ROMIO_NFS = 1 << 3,
	TUNABLE_CONSUMER_ROMIO_LUSTRE = 1 << 4,
	TUNABLE_CONSUMER_ROMIO_GPFS = 1 << 5,
	TUNABLE_CONSUMER_OMPIO = 1 << 6,
	TUNABLE_CONSUMER_LUSTRE = 1 << 7, /* the file system itself, without MPI */
	TUNABLE_CONSUMER_CEPH = 1 << 8,
	TUNABLE_CONSUMER_SLUICE = 1 << 9, /* Sluice itself, on any file system */
	TUNABLE_CONSUMER_LIBC = 1 << 10,
	TUNABLE_CONSUMER_PROGRAM = 1 << 11, /* whatever the program makes of it */
	TUNABLE_CONSUMER_BEEGFS = 1 << 12,
	TUNABLE_CONSUMER_LAST = TUNABLE_CONSUMER_BEEGFS,
};

/* The place of a parameter that the guest does not get. */
#define TUNABLE_NO_PLACE PLACE_COUNT

struct tunable {
	const char *name; /* H5Tuner's name, or the key of the hint */
	enum tunable_layer layer;
	enum tunable_kind kind;
	const char *unit; /* "bytes", "stripes", "" */
	/* CHOICE: "enable|disable|automatic"; TEXT and SPREAD: the syntax, for messages */
	const char *words;
	uint64_t min, max; /* COUNT, BYTES, and both numbers of a PAIR */
	enum tunable_safety safety;
	unsigned consumers; /* bits of enum tunable_consumer */
	enum parameters_place place;
	const char *key;     /* its name in the guest, or of the variable; NULL: the same name */
	const char *initial; /* the default; NULL: it depends on the site */
	const char *help;    /* one line, without a final period */
	const char *warning; /* the reason why it is not safe; NULL for SAFE */
	const char *aliases; /* other names, "strp_fac|stripe_count", or NULL */
	/* CHOICE: the value with which the program hangs unless all ranks make the same transfers;
	 * NULL: none. Its class is not `safety`: see tunable_value_safety(). */
	const char *hanging;
	/* Not NULL: the guest also gets a line of PLACE_LAYOUT with this key, for files that are
	 * created without MPI. */
	const char *layout;
	/* TEXT: accepts legal values; NULL: all are legal. SPREAD: accepts the name of one
	 * destination. */
	bool (*fits)(const char *value);
};

/* The environment in which parameters are applied. 0: unknown. */
enum middleware { MIDDLEWARE_ANY, MIDDLEWARE_MPICH, MIDDLEWARE_OPENMPI_ROMIO, MIDDLEWARE_OMPIO };
enum filesystem {
	FILESYSTEM_ANY,
	FILESYSTEM_LOCAL,
	FILESYSTEM_NFS,
	FILESYSTEM_LUSTRE,
	FILESYSTEM_GPFS,
	FILESYSTEM_CEPH,
	FILESYSTEM_BEEGFS,
	FILESYSTEM_LAST = FILESYSTEM_BEEGFS,
};

struct tunable_context {
	enum middleware middleware;
	enum filesystem filesystem;
	enum tunable_safety allowed; /* the least safe class that may be applied */
	uint32_t ranks, nodes;	     /* 0: unknown */
	/* A run of the same command has shown that all ranks make the same transfers
	 * (tune/trial/lockstep.h). */
	bool is_lockstep;
};

extern const struct tunable tunables[]; /* the last row has no name */

/* Finds a parameter by its name or an alias, ignoring case, or one of params/open_tunable.h; NULL:
 * unknown. */
const struct tunable *tunable_by_name(const char *name);
const char *tunable_layer_name(enum tunable_layer layer); /* "hdf5", "mpi", "storage", ... */
/* H5Tuner's name; NULL: its files have no such section. */
const char *tunable_section(enum tunable_layer layer);
const char *tunable_safety_name(enum tunable_safety safety);
const char *middleware_name(enum middleware middleware);
const char *filesystem_name(enum filesystem filesystem);
const char *tunable_consumer_name(enum tunable_consumer bit); /* "ROMIO", "OMPIO", ... */
/* The reverse; -1: unknown name. */
int middleware_by_name(const char *name);
int filesystem_by_name(const char *name);
/* Uses statfs() of the path or of its nearest existing parent; CephFS may be mounted by FUSE. */
enum filesystem filesystem_of(const char *path);

/*
 * Returns the value in its canonical form: numbers in plain digits, no blanks. The caller frees it.
 * NULL: err names the parameter, the error and the legal values.
 *
 * A shape is a list of extents separated by commas; a single extent has a comma after it: "4096,".
 * A number without a comma is a size in bytes from which the guest derives the shape.
 */
char *tunable_parse(const struct tunable *tunable, const char *text, struct err *err);

/* The software that acts on the parameter in this environment: bits of enum tunable_consumer. 0:
 * the parameter has no effect. */
unsigned tunable_consumers(const struct tunable *tunable, const struct tunable_context *context);

/* The class of the value, which may be NULL: of the parameter, or of its hanging value: SEMANTICS,
 * or LAYOUT if the ranks are in lockstep. */
enum tunable_safety tunable_value_safety(const struct tunable *tunable, const char *value,
					 const struct tunable_context *context);
bool tunable_may_hang(const struct tunable *tunable, const char *value);

/* Returns 0 if the value may be applied in this environment, else -EPERM with the reason. */
int tunable_allow(const struct tunable *tunable, const char *value,
		  const struct tunable_context *context, struct err *err);

#endif
