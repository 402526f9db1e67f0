/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Renders what the program said of itself: its activities and phases, and the I/O in them.
 */
#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/term.h"
#include "base/unit.h"
#include "observe/profile/profile.h"
#include "observe/report/render.h"
#include "observe/tally/traffic.h"

static const struct mark **list_marks(const struct report *report, enum mark_kind kind,
				      size_t *count)
{
	*count = 0;
	return report->profile ? marks_list(&report->profile->marks, kind, count) : NULL;
}

/* The time of activities and phases is summed over threads and processes, so it has no share. */
static void add_mark(struct table *table, const struct mark *mark, const char *name)
{
	char text[UNIT_TEXT];

	table_add_number(table, (double)mark->calls, "%" PRIu64, mark->calls);
	table_add_number(table, (double)mark->time_ns, "%s", unit_ns(text, mark->time_ns));
	table_add_number(table, (double)mark->io_ns, "%s", unit_ns(text, mark->io_ns));
	table_add_number(table, (double)mark->io_calls, "%" PRIu64, mark->io_calls);
	for (int way = READING; way <= WRITING; way++)
		table_add_number(table, (double)mark->bytes[way], "%s",
				 unit_bytes(text, (double)mark->bytes[way]));
	if (mark->kind == MARK_ACTIVITY)
		table_add_number(table, (double)mark->errors, "%" PRIu64, mark->errors);
	table_add(table, "%s", mark->name ? name : "(others)");
}

static size_t build_table(struct table *table, const struct report *report, enum mark_kind kind)
{
	static const char *const activity_titles[] = { ">times",  ">time",    ">in I/O",
						       ">calls",  ">read",    ">written",
						       ">errors", "activity", NULL };
	static const char *const phase_titles[] = { ">times", ">time",	  ">in I/O", ">calls",
						    ">read",  ">written", "phase",   NULL };
	size_t count;
	AUTO_FREE const struct mark **list = list_marks(report, kind, &count);

	table_init(table, kind == MARK_ACTIVITY ? activity_titles : phase_titles);
	for (size_t i = 0; i < count && i < report->top; i++)
		add_mark(table, list[i], profile_file(report->profile, (file_id)list[i]->name));
	return count;
}

size_t render_activity_table(struct table *table, const struct report *report)
{
	return build_table(table, report, MARK_ACTIVITY);
}

size_t render_phase_table(struct table *table, const struct report *report)
{
	return build_table(table, report, MARK_PHASE);
}

static void put_marks(struct json *json, const struct report *report, const char *key,
		      enum mark_kind kind)
{
	size_t count;
	AUTO_FREE const struct mark **list = list_marks(report, kind, &count);

	if (!count)
		return;
	json_open(json, key, '[');
	for (size_t i = 0; i < count && i < report->top; i++) {
		const struct mark *mark = list[i];

		json_open(json, NULL, '{');
		json_text(json, "name", profile_file(report->profile, (file_id)mark->name));
		json_count(json, "count", mark->calls);
		if (kind != MARK_MISUSE) {
			json_number(json, "time_ns", mark->time_ns);
			json_number(json, "io_ns", mark->io_ns);
			json_count(json, "io_calls", mark->io_calls);
			json_count(json, "bytes_read", mark->bytes[READING]);
			json_count(json, "bytes_written", mark->bytes[WRITING]);
		}
		if (kind == MARK_ACTIVITY) {
			json_count(json, "errors", mark->errors);
			json_count(json, "data_bytes", mark->data_bytes);
		}
		json_close(json);
	}
	json_close(json);
}

void render_marks_json(struct json *json, const struct report *report)
{
	put_marks(json, report, "activities", MARK_ACTIVITY);
	put_marks(json, report, "phases", MARK_PHASE);
	put_marks(json, report, "instrumentation_misuse", MARK_MISUSE);
}

void render_misuse(FILE *out, const struct report *report)
{
	size_t count;
	AUTO_FREE const struct mark **list = list_marks(report, MARK_MISUSE, &count);

	for (size_t i = 0; i < count; i++)
		term_printf(out,
			    "The program used sluice/instrument.h wrongly (%" PRIu64
			    " time%s): %s\n",
			    list[i]->calls, list[i]->calls == 1 ? "" : "s",
			    profile_file(report->profile, (file_id)list[i]->name));
}
