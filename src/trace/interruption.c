/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/interruption.h"

#include <string.h>

#include "base/text.h"

#define KIND "interrupted"

bool interruption_make_note(struct note *note, const struct trace_head *part)
{
	/* A part that was merged itself has such notes already. */
	if (part->end.complete || part->host_count)
		return false;
	*note = (struct note){
		.time_ns = -1,
		.process = -1,
		.host = part->run.host,
		.source = "merge",
		.kind = KIND,
		.name = "recording",
		.value = "the part of the trace has no end",
	};
	return true;
}

bool interruption_is_note(const struct note *note)
{
	return strcmp(text_or_empty(note->kind), KIND) == 0;
}
