/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the hybrid model share.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_HYBRID_INTERNAL_H
#define SLUICE_PREDICT_MODEL_HYBRID_HYBRID_INTERNAL_H

#include "predict/model/hybrid/hybrid.h"

/* -ENODATA with a sentence where an operation of the terms was not benchmarked. */
int hybrid_priced(const struct hybrid *hybrid, const struct counts *counts, struct err *err);

/* ---- hybrid_price.c: as those of costs.h, and for derived operations, too ---- */

double hybrid_price(const struct hybrid *hybrid, enum operation operation,
		    const struct elemental *at);
void hybrid_prices(const struct hybrid *hybrid, enum operation operation,
		   const struct elemental *at, size_t count, double *seconds);
double hybrid_margin(const struct hybrid *hybrid, enum operation operation,
		     const struct elemental *at, double coverage);
bool hybrid_is_outside(const struct hybrid *hybrid, enum operation operation,
		       const struct elemental *at);

/* What so many bytes cost in a first round, beside its locks; INFINITY: nobody can tell. */
double hybrid_bytes_price(const struct hybrid *hybrid, enum operation first,
			  const struct elemental *at);

#endif
