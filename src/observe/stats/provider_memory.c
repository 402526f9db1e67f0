/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the node's memory is used: by programs, by the page cache, and for data waiting to be
 * written. Reads /proc/meminfo.
 * Papers: SIOX-47.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/stats/procfile.h"
#include "observe/stats/statistics.h"

enum { TOTAL, USED, CACHED, DIRTY, WRITEBACK, SWAP, FIGURES };
static const char *const names[FIGURES] = { "memory/total", "memory/used",	"memory/cached",
					    "memory/dirty", "memory/writeback", "memory/swap" };

enum {
	MEM_TOTAL,
	MEM_FREE,
	AVAILABLE,
	BUFFERS,
	CACHE,
	DIRTY_KB,
	WRITEBACK_KB,
	SWAP_TOTAL,
	SWAP_FREE,
	LINES
};
static const char *const labels[LINES] = { "MemTotal:",	 "MemFree:",   "MemAvailable:",
					   "Buffers:",	 "Cached:",    "Dirty:",
					   "Writeback:", "SwapTotal:", "SwapFree:" };

#define BYTES_PER_KIB 1024

struct memory {
	struct procfile meminfo;
	unsigned numbers[FIGURES];
};

static int start(void **state, struct statistics *statistics, const char *root)
{
	struct memory *memory = xcalloc(1, sizeof(*memory));

	procfile_open(&memory->meminfo, root, "/proc/meminfo");
	for (int i = 0; i < FIGURES && memory->meminfo.fd >= 0; i++)
		memory->numbers[i] = statistics_add(statistics, names[i], "bytes", REDUCE_MEAN, 1);
	*state = memory;
	return 0;
}

/*
 * Reads the values in bytes; NAN if missing. The lines are in the order of the labels, with others
 * between them.
 */
static void read_lines(const char *at, double *bytes)
{
	for (int i = 0; i < LINES; i++)
		bytes[i] = NAN;
	for (int next = 0; at && next < LINES; at = procfile_next_line(at)) {
		for (int i = next; i < LINES; i++) {
			size_t n = strlen(labels[i]);
			const char *number = at + n;
			uint64_t value;

			if (strncmp(at, labels[i], n) != 0)
				continue;
			if (procfile_number(&number, &value))
				bytes[i] = (double)value * BYTES_PER_KIB;
			break;
		}
		while (next < LINES && !isnan(bytes[next]))
			next++;
	}
}

static void poll(void *state, struct statistics *statistics, int64_t elapsed_ns)
{
	struct memory *memory = state;
	const char *text = procfile_read(&memory->meminfo);
	double bytes[LINES], values[FIGURES];

	(void)elapsed_ns; /* these are levels, not counters */
	if (!text)
		return;
	read_lines(text, bytes);
	if (isnan(bytes[AVAILABLE])) /* kernels before 3.14 */
		bytes[AVAILABLE] = bytes[MEM_FREE] + bytes[BUFFERS] + bytes[CACHE];
	values[TOTAL] = bytes[MEM_TOTAL];
	values[USED] = bytes[MEM_TOTAL] - bytes[AVAILABLE];
	values[CACHED] = bytes[BUFFERS] + bytes[CACHE];
	values[DIRTY] = bytes[DIRTY_KB];
	values[WRITEBACK] = bytes[WRITEBACK_KB];
	values[SWAP] = bytes[SWAP_TOTAL] - bytes[SWAP_FREE];
	for (int i = 0; i < FIGURES; i++)
		statistics_set(statistics, memory->numbers[i], values[i]);
}

static void stop(void *state)
{
	struct memory *memory = state;

	procfile_close(&memory->meminfo);
	free(memory);
}

const struct provider provider_memory = {
	.name = "memory",
	.help = "memory in use, cached, dirty, under writeback and swapped out",
	.start = start,
	.poll = poll,
	.stop = stop,
};
