/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a container, made by container_file.h.
 */
#include <stdlib.h>

#include "base/err.h"
#include "container_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BATCHES_MAX 256 /* of 64 activities each: a small input can contain very many */

static void findings_check(const struct trace_head *head)
{
	for (size_t i = 0; i < head->statistic_count; i++)
		if (!head->statistics[i].scale)
			abort();
	for (size_t i = 0; i < head->sample_count; i++)
		if (head->samples[i].statistic >= head->statistic_count)
			abort();
	for (size_t i = 0; i < head->note_count; i++)
		if (head->notes[i].process >= (int64_t)head->process_count)
			abort();
}

static void trace_drain(const char *path, const struct trace_filter *filter)
{
	struct activity batch[64];
	struct trace trace;
	struct err err;
	ssize_t n;

	if (trace_open(&trace, path, filter, &err) < 0)
		return;
	findings_check(&trace.head);
	for (int i = 0; i < BATCHES_MAX; i++) {
		n = trace_next(&trace, batch, 64, &err);
		if (n <= 0)
			break;
		/* Indices are within their tables for every input. */
		for (ssize_t j = 0; j < n; j++)
			if (batch[j].process >= trace.head.process_count ||
			    batch[j].call >= trace.head.call_count ||
			    batch[j].file >= trace.head.file_count ||
			    batch[j].file2 >= trace.head.file_count ||
			    batch[j].name >= trace.head.file_count || batch[j].layer >= LAYER_COUNT)
				abort();
	}
	trace_close(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf file = { 0 };
	char path[MEMORY_PATH];
	int fd;

	container_make(&file, data, size);
	fd = memory_file(path, buf_text(&file), file.len);
	if (fd < 0)
		return 0;
	trace_drain(path, NULL);
	trace_drain(path, &(struct trace_filter){ .file = "a*", .rank = 1, .layers = 1 });
	trace_drain(path, &(struct trace_filter){ .collective = 1 });
	close(fd);
	return 0;
}
