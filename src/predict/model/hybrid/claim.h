/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What may be said about a model: the coverage of its intervals only as far as measured accesses
 * support it, and the differences between the machine now and when it was measured.
 */
#ifndef SLUICE_PREDICT_MODEL_HYBRID_CLAIM_H
#define SLUICE_PREDICT_MODEL_HYBRID_CLAIM_H

#include "predict/model/hybrid/hybrid.h"

struct buf;
struct json;

/*
 * What an interval is: "90 % prediction interval" if measured accesses support that coverage, else
 * the share that it held, or that the prediction is not calibrated. Bounds follow the text. Returns
 * out.
 */
#define CLAIM_TEXT 128
const char *claim_text(const struct hybrid *hybrid, enum validation_of of, bool is_calibrated,
		       double coverage, char out[CLAIM_TEXT]);

/*
 * Appends a sentence and a newline for each reason to doubt the model: it is old, or was measured
 * under another load or with other libraries.
 */
void claim_doubts(const struct hybrid *hybrid, struct buf *out);

/* Write the members "calibrated", "coverage", "measured_coverage" and "doubts"; the latter alone.
 */
void claim_json(struct json *json, const struct hybrid *hybrid, enum validation_of of,
		bool is_calibrated, double coverage);
void claim_doubts_json(struct json *json, const struct hybrid *hybrid);

#endif
