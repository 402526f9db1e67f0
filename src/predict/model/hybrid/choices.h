/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The settings among which hybrid_recommend() chooses: those of a space, or a default list for an
 * access on a machine.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_CHOICES_H
#define SLUICE_PREDICT_MODEL_HYBRID_CHOICES_H

#include "base/buf.h"
#include "predict/model/hybrid/hybrid.h"

struct space;

/* Limit of a list; larger spaces have to be searched (sluice tune). */
#define CHOICES_MAX 1000000

struct choices {
	struct settings *list;
	size_t count, cap;
	struct buf
		unknown; /* names of tunables that the model does not know, separated by commas */
};
void choices_release(struct choices *choices);

/*
 * Lists the allowed points of a space, each once. A tunable that the model does not know stays at
 * its default and is named in `unknown`.
 */
int choices_from_space(struct choices *choices, const struct space *space,
		       const struct machine *machine, const struct access *access, struct err *err);

/* The most stripes of a file whose rounds were benchmarked, on a file system whose stripes ROMIO
 * does not know of; 0: none. */
uint64_t hybrid_most_stripes(const struct hybrid *hybrid);

/*
 * Lists powers of two of aggregators, buffers and stripes (on Lustre, or as many as were
 * benchmarked), with and without collective buffering. Settings whose full rounds lie outside the
 * benchmarked range are omitted. The default is always included. -ENODATA: the model cannot predict
 * even the default.
 */
int choices_from_catalog(struct choices *choices, const struct hybrid *hybrid,
			 const struct access *access, struct err *err);

/*
 * Lists the settings that can be reached from those that a file was opened with, by hints that
 * ROMIO heeds while the file is open: buffers, collective buffering and data sieving. What `opened`
 * sets stays, and no buffer has twice the size of the whole access. The list may be empty.
 */
void choices_while_open(struct choices *choices, const struct hybrid *hybrid,
			const struct access *access, const struct settings *opened);

#endif
