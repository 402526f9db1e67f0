/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A report with its findings, for which earlier runs and the knowledge base are read.
 */
#ifndef SLUICE_OBSERVE_REPORT_DIAGNOSED_H
#define SLUICE_OBSERVE_REPORT_DIAGNOSED_H

#include "observe/report/render.h"

struct config;

struct diagnosed {
	struct report report; /* its limits are free for the caller to set */
	struct survey_row *survey;
	struct finding *findings;
};

/*
 * `run` is what commands in the findings call the run; NULL: they do not name it. The profile must
 * outlive the report.
 */
void diagnosed_init(struct diagnosed *diagnosed, const struct profile *profile,
		    const struct config *config, const char *run, bool with_survey);
void diagnosed_release(struct diagnosed *diagnosed);

#endif
