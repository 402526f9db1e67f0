/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Merges two traces that are made of arbitrary bytes. The first two bytes divide the input; each
 * part is a container (container_file.h) or, if its first byte is '#', the text form. A merged
 * trace can be read, with valid indices.
 */
#include <stdlib.h>

#include "base/err.h"
#include "container_file.h"
#include "trace/merge/merge.h"

#define BATCHES_MAX 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int make_part(char path[MEMORY_PATH], const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf file = { 0 };

	if (size && data[0] == '#')
		buf_add(&file, data, size);
	else
		container_make(&file, data, size);
	return memory_file(path, buf_text(&file), file.len);
}

static void check_merged(const char *path)
{
	struct activity batch[64];
	struct trace trace;
	struct err err;
	ssize_t n;

	if (trace_open(&trace, path, NULL, &err) < 0)
		abort();
	for (int i = 0; i < BATCHES_MAX && (n = trace_next(&trace, batch, 64, &err)) > 0; i++)
		for (ssize_t k = 0; k < n; k++)
			if (batch[k].process >= trace.head.process_count ||
			    batch[k].call >= trace.head.call_count ||
			    batch[k].file >= trace.head.file_count)
				abort();
	trace_close(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char first[MEMORY_PATH], second[MEMORY_PATH], merged[64];
	const char *parts[] = { first, second };
	struct merge_totals totals;
	struct err err;
	size_t cut;
	int a, b;

	if (size < 2)
		return 0;
	cut = load_u16(data) % (size - 1);
	a = make_part(first, data + 2, cut);
	b = make_part(second, data + 2 + cut, size - 2 - cut);
	snprintf(merged, sizeof(merged), "/dev/shm/sluice-fuzz-merge-%d.sluice", (int)getpid());
	if (a >= 0 && b >= 0) {
		trace_merge_check(parts, 2, false, &err);
		if (trace_merge(parts, 2, &trace_container, merged, NULL, &totals, NULL, &err) >= 0)
			check_merged(merged);
		unlink(merged);
	}
	close(a);
	close(b);
	return 0;
}
