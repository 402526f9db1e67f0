/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the commands may say about a model: the coverage of its intervals only as far as measured
 * accesses support it, and the differences between the machine now and when it was measured.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/model/model.h"

const char *model_show_claim(const struct hybrid *hybrid, enum validation_of of, bool is_calibrated,
			     double coverage, char out[MODEL_CLAIM])
{
	const struct validation *v = &hybrid->validation;

	if (!is_calibrated)
		snprintf(out, MODEL_CLAIM, "not calibrated%s; the benchmarks alone give",
			 v->count ? " for such accesses" : "");
	else if (validation_supports(v, of, coverage))
		snprintf(out, MODEL_CLAIM, "%.0f %% prediction interval", 100 * coverage);
	else
		snprintf(out, MODEL_CLAIM,
			 "prediction interval that held %.0f %% of %zu held-out measurements",
			 100 * validation_measured_coverage(v, of, coverage), v->checked[of]);
	return out;
}

/* Sentences about the age and the circumstances of the model, one per line. */
static void find_doubts(const struct hybrid *hybrid, struct buf *out)
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

void model_warn(const struct command *command, const struct hybrid *hybrid)
{
	AUTO_BUF struct buf doubts = { 0 };
	char *rest, *line;

	find_doubts(hybrid, &doubts);
	rest = doubts.len ? doubts.data : NULL;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			command_warn(command, "%s", line);
	if (!hybrid->validation.count)
		command_warn(command, "the model is not calibrated, so the accuracy of its "
				      "predictions is unknown; run 'sluice model calibrate'");
}

void model_json_claim(struct json *json, const struct hybrid *hybrid, enum validation_of of,
		      bool is_calibrated, double coverage)
{
	AUTO_BUF struct buf doubts = { 0 };
	char *rest, *line;

	json_bool(json, "calibrated", is_calibrated);
	json_real(json, "coverage", is_calibrated ? coverage : NAN);
	json_real(json, "measured_coverage",
		  is_calibrated ? validation_measured_coverage(&hybrid->validation, of, coverage)
				: NAN);
	json_open(json, "doubts", '[');
	find_doubts(hybrid, &doubts);
	rest = doubts.len ? doubts.data : NULL;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			json_text(json, NULL, line);
	json_close(json);
}
