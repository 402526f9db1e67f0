/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Logs of Darshan as traces that can only be read. docs/reference/darshan.md describes what is
 * imported and what a log cannot tell.
 */
#include <errno.h>
#include <stdlib.h>

#include <xxhash.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/darshan/counters.h"
#include "trace/darshan/heatmap.h"
#include "trace/darshan/import.h"
#include "trace/darshan/segments.h"

struct reader {
	struct import import;
	struct segments segments;
};

static void note_partial_modules(struct import *import)
{
	const struct darshan_log *log = &import->log;

	for (unsigned i = 0; i < DARSHAN_MODULES; i++)
		if (log->modules[i].bytes && log->modules[i].is_partial)
			import_note(import, NOTE_DEGRADED, NOTE_WARNING,
				    "module %s ran out of memory and did not record everything; "
				    "run with a larger DARSHAN_MODMEM",
				    darshan_module_name(i));
}

static void note_unread_modules(struct import *import)
{
	const struct darshan_log *log = &import->log;

	for (unsigned i = 0; i < DARSHAN_MODULES; i++)
		if (log->modules[i].bytes && !darshan_log_has(log, i))
			import_note(import, NOTE_DEGRADED, "not imported", "module %s, version %u",
				    darshan_module_name(i), log->modules[i].version);
	if (log->unknown_modules)
		import_note(import, NOTE_DEGRADED, "not imported", "%u unknown modules",
			    log->unknown_modules);
}

/* What the log cannot tell. */
static void note_limits(struct import *import, const struct segments *segments)
{
	if (!segments->total)
		import_note(import, NOTE_DEGRADED, NOTE_WARNING,
			    "this log has no DXT data: calls were counted, not recorded one by "
			    "one%s",
			    import->builder.head->flow_count ? "; times are those of its heat maps"
							     : ", and there is no timeline");
	if (import->group >= 0)
		import_note(import, NOTE_DEGRADED, NOTE_WARNING,
			    "counters of files that all ranks share are known for all ranks "
			    "together, not for each rank");
	if (import->log.has_more_names)
		import_note(import, NOTE_DEGRADED, NOTE_WARNING,
			    "the log has too many names; some files are not named");
}

static int read_log(struct reader *r, const char *path, struct err *err)
{
	struct import *import = &r->import;
	int code = darshan_log_open(&import->log, path, err);

	if (!code)
		code = import_job(import, err);
	if (code < 0)
		return code;
	segments_count(&r->segments, import);
	counters_import(import);
	heatmap_import(import);
	note_partial_modules(import);
	note_unread_modules(import);
	note_limits(import, &r->segments);
	import_finish(import);
	import->builder.head->activities = r->segments.total;
	return 0;
}

static void darshan_close(void *reader)
{
	struct reader *r = reader;

	if (!r)
		return;
	import_release(&r->import);
	segments_release(&r->segments);
	free(r);
}

static int darshan_open(void **reader, const char *path, const struct trace_filter *filter,
			struct trace_head *head, struct err *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int code;

	(void)filter; /* trace_next() applies it */
	import_init(&r->import, head);
	code = read_log(r, path, err);
	if (code < 0) {
		darshan_close(r);
		return code;
	}
	*reader = r;
	return 0;
}

static ssize_t darshan_next(void *reader, struct activity *batch, size_t cap, struct err *err)
{
	struct reader *r = reader;

	return segments_next(&r->segments, &r->import, batch, cap, err);
}

const struct trace_format trace_darshan = {
	.name = "darshan",
	.suffix = ".darshan",
	.help = "log of Darshan 3.1 to 3.5 (read only)",
	.recognize = darshan_recognize,
	.open = darshan_open,
	.next = darshan_next,
	.close = darshan_close,
};
