/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the hybrid model share.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_PARTS_H
#define SLUICE_PREDICT_MODEL_HYBRID_PARTS_H

#include "predict/model/hybrid.h"

/* -ENODATA with a sentence where an operation of the terms was not benchmarked. */
int hybrid_priced(const struct hybrid *hybrid, const struct counts *counts, struct err *err);

#endif
