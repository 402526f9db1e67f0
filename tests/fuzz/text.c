/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a trace in the text format.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "trace/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	struct activity batch[16];
	struct trace trace;
	struct err err;
	char path[64];
	ssize_t n;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size && trace_open(&trace, path, NULL, &err) == 0) {
		while ((n = trace_next(&trace, batch, 16, &err)) > 0)
			for (ssize_t i = 0; i < n; i++)
				if (batch[i].process >= trace.head.process_count ||
				    batch[i].call >= trace.head.call_count ||
				    batch[i].file >= trace.head.file_count ||
				    batch[i].file2 >= trace.head.file_count ||
				    batch[i].name >= trace.head.file_count)
					abort();
		trace_close(&trace);
	}
	close(fd);
	return 0;
}
