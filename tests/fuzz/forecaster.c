/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a forecaster. An accepted forecaster must give an answer for every
 * target, size and row.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "predict/forecast/states/forecaster.h"
#include "sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void forecaster_try(const struct forecaster *forecaster, double value)
{
	double row[FEATURES_MAX];
	struct forecast answer;

	for (size_t i = 0; i < FEATURES_MAX; i++)
		row[i] = value;
	if (features_width(&forecaster->features) > FEATURES_MAX)
		abort();
	for (size_t t = 0; t < forecaster->target_count; t++)
		for (size_t s = 0; s < forecaster->size_count; s++) {
			forecaster_predict(forecaster, t, s, row, &answer);
			forecaster_predict(forecaster, t, s, NULL, &answer);
			if (answer.is_model || answer.idle_s < 0)
				abort();
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf file = { 0 };
	struct forecaster forecaster = { 0 };
	struct err err = { 0 };

	sealed_make(&file, data, size);
	if (forecaster_parse(&forecaster, "fuzz", buf_text(&file), file.len, &err) < 0) {
		if (!err.code)
			abort();
		return 0;
	}
	forecaster_try(&forecaster, 0);
	forecaster_try(&forecaster, NAN);
	forecaster_try(&forecaster, 1e300);
	forecaster_release(&forecaster);
	return 0;
}
