/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a Darshan log. The seeds are not compressed, so that mutations reach the
 * records. tests/driver/darshan_log.c writes them.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "memory_file.h"
#include "trace/format.h"
#include "trace/usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BATCHES_MAX 256 /* of 64 activities each */

static void check_head(const struct trace_head *head)
{
	for (size_t i = 0; i < head->aggregate_count; i++)
		if (head->aggregates[i].process >= head->process_count ||
		    head->aggregates[i].file >= head->file_count ||
		    head->aggregates[i].duration_ns < 0 || head->aggregates[i].bytes < 0)
			abort();
	for (size_t i = 0; i < head->usage_count; i++)
		if (head->usages[i].process >= head->process_count ||
		    head->usages[i].file >= head->file_count)
			abort();
	for (size_t i = 0; i < head->flow_count; i++)
		if (head->flows[i].process >= head->process_count || head->flows[i].period_ns <= 0)
			abort();
}

static void check_activities(struct trace *trace)
{
	const struct trace_head *head = &trace->head;
	struct activity batch[64], last = { .start_ns = INT64_MIN };
	struct err err;
	ssize_t n;

	for (int i = 0; i < BATCHES_MAX && (n = trace_next(trace, batch, 64, &err)) > 0; i++)
		for (ssize_t j = 0; j < n; j++) {
			if (batch[j].process >= head->process_count ||
			    batch[j].call >= head->call_count ||
			    batch[j].file >= head->file_count || batch[j].layer >= LAYER_COUNT ||
			    activity_compare(&last, &batch[j]) > 0)
				abort();
			last = batch[j];
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[MEMORY_PATH];
	struct trace trace;
	struct err err;
	int fd = memory_file(path, data, size);

	if (fd < 0)
		return 0;
	if (trace_open(&trace, path, NULL, &err) == 0) {
		check_head(&trace.head);
		check_activities(&trace);
		trace_close(&trace);
	}
	close(fd);
	return 0;
}
