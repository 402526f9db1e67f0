/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of the hybrid model.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_HYBRID_INTERNAL_H
#define SLUICE_PREDICT_MODEL_HYBRID_HYBRID_INTERNAL_H

#include "predict/model/hybrid/hybrid.h"

/* -ENODATA: an operation of the terms was not benchmarked; err names it. */
int hybrid_check_priced(const struct hybrid *hybrid, const struct counts *counts, struct err *err);

/* Like the functions of costs.h, but also for derived operations. */
double hybrid_price(const struct hybrid *hybrid, enum operation operation,
		    const struct elemental *at);
void hybrid_prices(const struct hybrid *hybrid, enum operation operation,
		   const struct elemental *at, size_t count, double *seconds);
double hybrid_margin(const struct hybrid *hybrid, enum operation operation,
		     const struct elemental *at, double coverage);
bool hybrid_is_outside(const struct hybrid *hybrid, enum operation operation,
		       const struct elemental *at);

/* The cost of the bytes in a first round, without its locks; INFINITY: unknown. */
double hybrid_bytes_price(const struct hybrid *hybrid, enum operation first,
			  const struct elemental *at);

#endif
