/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/applied.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/report/note_groups.h"
#include "observe/tally/parameters.h"

static const struct ranks no_ranks;

void applied_describe_acts(struct buf *out, const struct trace_head *head)
{
	size_t count, shown = 0;
	AUTO_FREE struct note_group *groups =
		note_groups_new(head, &no_ranks, NOTE_APPLIED, &count);

	for (size_t i = 0; i < count; i++) {
		const struct note_group *f = &groups[i];

		if (!strcmp(note_group_source(f), PARAMETERS_SOURCE))
			continue;
		buf_printf(out, "%s%s: %s ", shown++ ? "; " : "", note_group_source(f),
			   note_group_name(f));
		if (f->is_number)
			buf_printf(out, "%.0f", f->sum);
		else
			buf_puts(out, note_group_value(f));
	}
}

void applied_summarize(struct buf *out, const struct trace_head *head)
{
	size_t count;
	AUTO_FREE struct note_group *groups =
		note_groups_new(head, &no_ranks, NOTE_APPLIED, &count);
	AUTO_BUF struct buf acts = { 0 };
	bool given = note_groups_find(groups, count, PARAMETERS_SOURCE, PARAMETERS_GIVEN) != NULL;

	applied_describe_acts(&acts, head);
	buf_printf(out, "%s%s%s", given ? "parameters" : "", given && acts.len ? "; " : "",
		   buf_text(&acts));
}

void applied_json(struct json *json, const struct trace_head *head)
{
	note_groups_json(json, "applied", head, &no_ranks, NOTE_APPLIED);
}
