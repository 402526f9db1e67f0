/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files that count share: one per form of ROMIO.
 */
#ifndef SLUICE_PREDICT_MODEL_COUNTS_PARTS_H
#define SLUICE_PREDICT_MODEL_COUNTS_PARTS_H

#include "predict/model/counts.h"

/* A term; one that counts nothing is left out. */
void counts_add(struct counts *counts, enum operation operation, const char *what, double count,
		const struct elemental *at);

int counts_bluegene(struct counts *counts, const struct machine *machine,
		    const struct access *access, const struct settings *settings,
		    const struct rules *rules, struct err *err);

#endif
