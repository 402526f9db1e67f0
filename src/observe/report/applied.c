/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/applied.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/report/findings.h"
#include "observe/tally/parameters.h"

static const struct ranks no_ranks;

void applied_describe_acts(struct buf *out, const struct trace_head *head)
{
	size_t count, shown = 0;
	AUTO_FREE struct finding *findings = findings_new(head, &no_ranks, NOTE_APPLIED, &count);

	for (size_t i = 0; i < count; i++) {
		const struct finding *f = &findings[i];

		if (!strcmp(finding_source(f), PARAMETERS_SOURCE))
			continue;
		buf_printf(out, "%s%s: %s ", shown++ ? "; " : "", finding_source(f),
			   finding_name(f));
		if (f->is_number)
			buf_printf(out, "%.0f", f->sum);
		else
			buf_puts(out, finding_value(f));
	}
}

void applied_summarize(struct buf *out, const struct trace_head *head)
{
	size_t count;
	AUTO_FREE struct finding *findings = findings_new(head, &no_ranks, NOTE_APPLIED, &count);
	AUTO_BUF struct buf acts = { 0 };
	bool given = findings_find(findings, count, PARAMETERS_SOURCE, PARAMETERS_GIVEN) != NULL;

	applied_describe_acts(&acts, head);
	buf_printf(out, "%s%s%s", given ? "parameters" : "", given && acts.len ? "; " : "",
		   buf_text(&acts));
}

void applied_json(struct json *json, const struct trace_head *head)
{
	findings_json(json, "applied", head, &no_ranks, NOTE_APPLIED);
}
