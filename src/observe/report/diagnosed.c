/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/diagnosed.h"

#include <stdlib.h>

#include "base/config.h"
#include "observe/diagnose/background.h"
#include "observe/profile/profile.h"

static struct finding *find(const struct profile *profile, const struct config *config,
			    const char *run, size_t *count)
{
	struct diagnose_options options = { .config = config, .run = run };
	struct background background;
	struct finding *findings;

	background_init(&background, config, profile->head);
	options.past = background.past;
	options.past_count = background.past_count;
	options.known = background.known;
	options.known_count = background.known_count;
	options.is_local = background.is_local;
	findings = diagnose(profile, &options, count);
	background_release(&background);
	return findings;
}

void diagnosed_init(struct diagnosed *diagnosed, const struct profile *profile,
		    const struct config *config, const char *run, bool with_survey)
{
	struct report *report = &diagnosed->report;

	*diagnosed = (struct diagnosed){ 0 };
	report->summary = &profile->summary;
	report->profile = profile;
	report->top = UINT64_MAX;
	if (with_survey)
		diagnosed->survey = profile_survey(profile, &report->survey_count);
	report->survey = diagnosed->survey;
	diagnosed->findings = find(profile, config, run, &report->finding_count);
	report->findings = diagnosed->findings;
	report->findings_shown = (size_t)config_number(config, SETTING_FINDINGS_SHOW);
}

void diagnosed_release(struct diagnosed *diagnosed)
{
	findings_release(diagnosed->findings, diagnosed->report.finding_count);
	free(diagnosed->survey);
	*diagnosed = (struct diagnosed){ 0 };
}
