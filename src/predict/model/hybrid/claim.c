/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/model/hybrid/claim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

const char *claim_text(const struct hybrid *hybrid, enum validation_of of, bool is_calibrated,
		       double coverage, char out[CLAIM_TEXT])
{
	const struct validation *v = &hybrid->validation;

	if (!is_calibrated)
		snprintf(out, CLAIM_TEXT, "not calibrated%s; the benchmarks alone give",
			 v->count ? " for such accesses" : "");
	else if (validation_supports(v, of, coverage))
		snprintf(out, CLAIM_TEXT, "%.0f %% prediction interval", 100 * coverage);
	else
		snprintf(out, CLAIM_TEXT,
			 "prediction interval that held %.0f %% of %zu held-out measurements",
			 100 * validation_measured_coverage(v, of, coverage), v->checked[of]);
	return out;
}

void claim_doubts(const struct hybrid *hybrid, struct buf *out)
{
	struct environment then = hybrid->validation.environment, now;

	environment_detect(&now, then.library, then.version);
	if (!hybrid->validation.count) {
		/* Only its age is known. */
		then = now;
		then.time_s = hybrid->measured ? hybrid->measured : hybrid->made;
	}
	environment_compare(&then, &now, out);
}

void claim_doubts_json(struct json *json, const struct hybrid *hybrid)
{
	AUTO_BUF struct buf doubts = { 0 };
	char *rest, *line;

	json_open(json, "doubts", '[');
	claim_doubts(hybrid, &doubts);
	rest = doubts.len ? doubts.data : NULL;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			json_text(json, NULL, line);
	json_close(json);
}

void claim_json(struct json *json, const struct hybrid *hybrid, enum validation_of of,
		bool is_calibrated, double coverage)
{
	json_bool(json, "calibrated", is_calibrated);
	json_double(json, "coverage", is_calibrated ? coverage : NAN);
	json_double(json, "measured_coverage",
		    is_calibrated ? validation_measured_coverage(&hybrid->validation, of, coverage)
				  : NAN);
	claim_doubts_json(json, hybrid);
}
