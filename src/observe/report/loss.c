/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/report/loss.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/json.h"

struct loss_total loss_sum(const struct trace_head *head)
{
	struct loss_total total = { 0 };

	for (size_t i = 0; i < head->loss_count; i++) {
		total.records += head->losses[i].records;
		total.threads += head->losses[i].threads;
		total.processes += head->losses[i].records || head->losses[i].threads;
	}
	for (size_t i = 0; i < head->aggregate_count; i++)
		total.counted += head->aggregates[i].calls;
	return total;
}

void loss_describe(struct buf *out, const struct trace_head *head)
{
	struct loss_total t = loss_sum(head);

	if (t.records)
		buf_printf(out,
			   "%" PRIu64 " activities were lost in %" PRIu64
			   " process%s because the spool was full; "
			   "raise spool.limit to keep more\n",
			   t.records, t.processes, t.processes == 1 ? "" : "es");
	if (t.threads)
		buf_printf(out, "%" PRIu64 " thread%s not recorded: the run had too many threads\n",
			   t.threads, t.threads == 1 ? " was" : "s were");
	if (t.counted)
		buf_printf(out, "%" PRIu64 " call%s counted but not recorded individually\n",
			   t.counted, t.counted == 1 ? " was" : "s were");
	if (head->damaged_blocks)
		buf_printf(out, "%" PRIu64 " damaged block%s skipped\n", head->damaged_blocks,
			   head->damaged_blocks == 1 ? " was" : "s were");
	if (!head->end.complete)
		buf_puts(out, "the recording was interrupted: the trace contains the calls "
			      "collected until then\n");
}

void loss_json(struct json *json, const struct trace_head *head)
{
	struct loss_total t = loss_sum(head);

	json_bool(json, "complete", head->end.complete);
	json_open(json, "losses", '{');
	json_count(json, "activities", t.records);
	json_count(json, "threads", t.threads);
	json_count(json, "processes", t.processes);
	json_count(json, "counted_calls", t.counted);
	json_count(json, "damaged_blocks", head->damaged_blocks);
	json_close(json);
}
