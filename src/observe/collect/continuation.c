/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/collect/continuation.h"

#include <string.h>

#include "base/mem.h"
#include "observe/collect/intake.h"

#define BATCH 4096

bool continuation_is_possible(const struct trace_head *head)
{
	if (head->call_count != call_count)
		return false;
	for (size_t i = 0; i < call_count; i++)
		if (strcmp(head->calls[i].name, call_table[i].name) != 0)
			return false;
	return true;
}

int continuation_copy(struct intake *in, struct trace *old, struct err *err)
{
	AUTO_FREE struct activity *batch = xcalloc(BATCH, sizeof(*batch));
	const struct trace_head *head = &old->head;
	ssize_t n = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < head->process_count; i++) {
		const struct process_info *p = &head->processes[i];

		r = in->form->add_process(in->writer, p, err);
		resolver_process(in->resolver, p->index, p->parent, p->first_thread, p->directory);
	}
	for (size_t i = 1; i < head->file_count; i++)
		resolver_file(in->resolver, head->files[i]);
	while (r >= 0 && (n = trace_next(old, batch, BATCH, err)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			resolver_replay(in->resolver, &batch[i]);
		intake_write(in, batch, (size_t)n);
		in->totals.activities += (uint64_t)n;
	}
	for (size_t i = 0; r >= 0 && i < head->aggregate_count; i++)
		r = in->form->add_aggregate(in->writer, &head->aggregates[i], err);
	for (size_t i = 0; r >= 0 && i < head->loss_count; i++) {
		r = in->form->add_loss(in->writer, &head->losses[i], err);
		in->totals.lost += head->losses[i].records;
	}
	if (r >= 0)
		r = trace_copy_notes(head, in->form, in->writer, err);
	intake_set_known(in, head->processes, head->process_count);
	return r < 0 ? r : (int)n;
}
