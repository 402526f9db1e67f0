/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Storage targets: parts of the storage that can be busy while others are idle, and how to create
 * a file on one. A target has a name and a place:
 *
 *	/mnt/a                          a directory on its own device
 *	lustre:PATH,ost=3               a file with one stripe on this OST
 *	lustre:PATH,osts=3|4            a file striped over these OSTs
 *	lustre:PATH,oss=3|4|5           the OSTs of one server: a file on each of them in turn
 *	ceph:PATH,pool=P                a file in this pool; object_size=SIZE may follow
 *
 * Lustre's library is loaded on first use. After a file has been created, its actual location is
 * verified if the file system reports it, because a sample of the wrong target is worse than none.
 * Only target_make() accesses the storage. It may hang, so the prober calls it in a worker process.
 */
#ifndef SLUICE_PREDICT_FORECAST_PROBE_TARGETS_H
#define SLUICE_PREDICT_FORECAST_PROBE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"

struct err;
struct target_ops;

#define TARGET_OSTS 64

struct target {
	char name[CHRONICLE_NAME];
	const struct target_ops *ops;
	char *path; /* directory in which files are created */
	/* lustre */
	uint32_t osts[TARGET_OSTS];
	size_t ost_count;
	bool is_server; /* oss=: each file is on one of osts[] */
	/* ceph */
	char *pool;
	uint64_t object_bytes; /* 0: the default of the directory */
};

struct target_ops {
	const char *kind;    /* the word before the colon of a place */
	const char *options; /* list of the options, for messages */
	/* Sets one option. Returns -ENOENT if it is unknown. NULL: the kind has no options. */
	int (*set_option)(struct target *target, const char *key, const char *value,
			  struct err *err);
	/* Checks that the options are complete, and sets a default name if it is empty. */
	int (*finish)(struct target *target, struct err *err);
	/* Creates an empty file of this name for writing. Returns its descriptor. */
	int (*make)(const struct target *target, const char *path, size_t turn, struct err *err);
	/* Checks that the file is on the target. -ENODATA: unknown. NULL: cannot be checked. */
	int (*verify)(const struct target *target, int fd, size_t turn, struct err *err);
	/* True if a file may be reused for many writes; false if each write needs a new file. */
	bool (*is_reusable)(const struct target *target);
};

extern const struct target_ops target_directory, target_lustre, target_ceph;
extern const struct target_ops *const target_kinds[]; /* ends with NULL */

/* Parses "[NAME=]PLACE". The default name is that of the OST, the pool or the directory. */
int target_parse(struct target *target, const char *text, struct err *err);
/* The same with a separate name; "": the default. */
int target_init(struct target *target, const char *name, const char *place, struct err *err);
void target_release(struct target *target);

/*
 * Creates a file on the target and unlinks it, so that nothing remains if this process dies. turn
 * is the number of files created before. Returns a descriptor for writing.
 */
int target_make(const struct target *target, size_t turn, struct err *err);

struct targets {
	struct target *rows;
	size_t count, cap;
};

/* Takes ownership of the target, also on failure: -EEXIST if the name is already used. */
int targets_add(struct targets *targets, struct target *target, struct err *err);
void targets_release(struct targets *targets);

#endif
