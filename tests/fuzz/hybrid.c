/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a hybrid model. An accepted model must give a price, a prediction and a
 * recommendation.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "lab/model/bluegene.h"
#include "predict/model/hybrid/hybrid.h"
#include "sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void prices_ask(const struct hybrid *hybrid)
{
	static const struct elemental at[] = { { 0 },
					       { 1, 1, 1, 1, 1, 1 },
					       { 1e9, 3, 7, 2, .1, 1e12 } };

	for (int o = 0; o < OPERATIONS; o++)
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			costs_price((void *)&hybrid->costs, (enum operation)o, &at[i]);
			if (costs_margin(&hybrid->costs, (enum operation)o, &at[i], 0.9) < 0)
				abort();
		}
}

static void hybrid_ask(const struct hybrid *hybrid)
{
	struct access access = { .nodes = 2, .ranks = 8, .rank_bytes = 1 << 20 };
	struct settings settings[] = { { 0 }, { .aggregators = 2, .buffer_bytes = 4 << 20 } };
	struct recommendation r;
	struct prediction p;

	prices_ask(hybrid);
	hybrid_predict(hybrid, &access, &settings[1], 0.9, &p, NULL);
	if (hybrid_recommend(hybrid, &access, settings, 2, &settings[0], 0.9, &r, NULL) >= 0 &&
	    r.best > 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf file = { 0 };
	struct hybrid hybrid = { 0 };
	struct err err = { 0 };

	sealed_make(&file, data, size);
	if (hybrid_parse(&hybrid, "fuzz", buf_text(&file), file.len, &err) < 0) {
		if (!err.code)
			abort();
		return 0;
	}
	bluegene_attach(&hybrid.machine, NULL);
	hybrid_ask(&hybrid);
	hybrid_release(&hybrid);
	return 0;
}
