/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Settings to choose from, for hybrid_recommend(): those of a space, or what is worth considering
 * for an access on a machine where nobody names a space.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_CHOICES_H
#define SLUICE_PREDICT_MODEL_HYBRID_CHOICES_H

#include "base/buf.h"
#include "predict/model/hybrid/hybrid.h"

struct space;

/* More than these are searched, not listed (sluice tune). */
#define CHOICES_MAX 1000000

struct choices {
	struct settings *list;
	size_t count, cap;
	struct buf unknown; /* names of tunables that the model knows nothing of; "": none */
};
void choices_release(struct choices *choices);

/*
 * The points of a space that it allows, each once. A tunable that the model knows nothing of stays
 * at its default and is named in `unknown`.
 */
int choices_of_space(struct choices *choices, const struct space *space,
		     const struct machine *machine, const struct access *access, struct err *err);

/*
 * Powers of two of aggregators, buffers and (Lustre) stripes, and buffering where it may be chosen;
 * of these, what does not make full rounds reach beyond what was benchmarked. The default is among
 * them. -ENODATA with the reason where even that cannot be predicted.
 */
int choices_catalogued(struct choices *choices, const struct hybrid *hybrid,
		       const struct access *access, struct err *err);

#endif
