/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as the output of a scheduler. Every reader rejects them with an error
 * message and leaves the jobs unchanged, or adds jobs whose texts are complete and have no line
 * breaks.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "predict/forecast/jobs/jobs.h"

static void check_text(const char *text)
{
	if (!text || strpbrk(text, "\n\r\t"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const uint8_t key[OWNER_KEY_BYTES] = { 1, 2, 3 };

	for (size_t i = 0; jobs_readers[i]; i++) {
		struct jobs jobs = { .time_s = 1794783416 };
		struct err err = { 0 };
		int r;

		jobs_add(&jobs);
		r = jobs_readers[i]->read(&jobs, "test", (const char *)data, n, key, &err);
		if (r < 0 && (jobs.count != 1 || !*err.text))
			abort();
		for (size_t j = 0; j < jobs.count; j++) {
			check_text(jobs.rows[j].id);
			check_text(jobs.rows[j].name);
			check_text(jobs.rows[j].queue);
			check_text(jobs.rows[j].owner);
			if (jobs.rows[j].nodes < 0 || jobs.rows[j].memory_bytes < 0 ||
			    jobs.rows[j].used_s < 0 || jobs.rows[j].allocated_s < 0)
				abort();
		}
		jobs_release(&jobs);
	}
	return 0;
}
