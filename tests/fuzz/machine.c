/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as the description of a machine. They are rejected with an error message;
 * otherwise accesses can be counted on the machine, and its written description is read as the same
 * machine.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "lab/model/bluegene.h"

static void try_access(const struct machine *machine, bool is_read, enum access_pattern pattern)
{
	const struct access access = { .is_read = is_read,
				       .pattern = pattern,
				       .nodes = 3,
				       .ranks = 12,
				       .rank_bytes = 6 << 20,
				       .block_bytes = 1 << 20,
				       .stride_bytes = 1500 << 10 };
	struct settings settings = { 0 };
	struct counts counts;

	for (int i = BUFFERING_AUTOMATIC; i <= BUFFERING_DISABLED; i++) {
		settings.buffering = (enum buffering)i;
		if (counts_compute(&counts, machine, &access, &settings, NULL) < 0)
			continue;
		for (size_t k = 0; k < counts.count; k++)
			if (!isfinite(counts.terms[k].count) || !(counts.terms[k].count > 0) ||
			    !isfinite(counts.terms[k].at.bytes))
				abort();
	}
}

static void try_written(const struct machine *machine)
{
	AUTO_BUF struct buf text = { 0 }, again = { 0 };
	struct machine other;

	machine_write(machine, &text);
	if (machine_read_text(&other, "written", buf_text(&text), text.len, NULL) < 0)
		abort();
	machine_write(&other, &again);
	if (strcmp(buf_text(&text), buf_text(&again)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct machine machine;
	struct err err = { 0 };

	if (machine_read_text(&machine, "test", (const char *)data, n, &err) < 0) {
		if (!*err.text)
			abort();
		return 0;
	}
	try_written(&machine);
	bluegene_attach(&machine, NULL);
	for (int i = 0; i < 4; i++)
		try_access(&machine, i & 1, i & 2 ? ACCESS_STRIDED : ACCESS_CONTIGUOUS);
	return 0;
}
