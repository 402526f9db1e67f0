/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Storage targets: parts of the storage that may be busy while others are idle, and how a file gets
 * onto one. A target is a name and a place:
 *
 *	/mnt/a                          a directory, on a device of its own
 *	lustre:PATH,ost=3               a file of one stripe on that OST
 *	lustre:PATH,osts=3|4            a file striped over these
 *	lustre:PATH,oss=3|4|5           the OSTs of a server: a file on one of them, each in turn
 *	ceph:PATH,pool=P                a file of that pool; object_size=SIZE may follow
 *
 * Lustre's library is loaded when it is first needed. Where the file system can tell where a file
 * went, it is asked: a probe of another target is worse than none. Nothing of a place is touched
 * before target_make(), which may hang as any access to storage may: the prober calls it in a
 * process of its own.
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
	char *path; /* directory that files are made in */
	/* lustre */
	uint32_t osts[TARGET_OSTS];
	size_t ost_count;
	bool is_server; /* one of osts[] at a time */
	/* ceph */
	char *pool;
	uint64_t object_bytes; /* 0: as the directory has it */
};

struct target_ops {
	const char *kind;    /* what stands before the colon of a place */
	const char *options; /* that may follow, for messages */
	/* One option of a place; NULL: there are none. */
	int (*take)(struct target *target, const char *key, const char *value, struct err *err);
	/* Is all there that must be? Fills in the name where it is empty. */
	int (*finish)(struct target *target, struct err *err);
	/* A new, empty file under that name, open for writing. Returns its descriptor. */
	int (*make)(const struct target *target, const char *path, size_t turn, struct err *err);
	/* Is the file where it should be? -ENODATA: the file system does not tell. NULL: never. */
	int (*verify)(const struct target *target, int fd, size_t turn, struct err *err);
	/* A file may be written again; false: each write needs a new one to be a fair sample. */
	bool (*is_lasting)(const struct target *target);
};

extern const struct target_ops target_directory, target_lustre, target_ceph;
extern const struct target_ops *const target_kinds[]; /* ends with NULL */

/* "[NAME=]PLACE"; without a name it is called by its OST, pool or directory. */
int target_parse(struct target *target, const char *text, struct err *err);
/* The same, with the name apart. */
int target_init(struct target *target, const char *name, const char *place, struct err *err);
void target_release(struct target *target);

/*
 * A new file on the target that has no name any more, so that nothing is left of it whatever
 * becomes of us. turn counts the files that were made. Returns a descriptor, open for writing.
 */
int target_make(const struct target *target, size_t turn, struct err *err);

struct targets {
	struct target *rows;
	size_t count, cap;
};

/* Takes the target over. -EEXIST where there is one of that name: it is released. */
int targets_add(struct targets *targets, struct target *target, struct err *err);
void targets_release(struct targets *targets);

#endif
