/* SPDX-License-Identifier: BSD-3-Clause
 *
 * jobs KEYFILE READER [COMMAND]: prints the jobs that a reader finds in the output of a scheduler,
 * one per line: id, queue, nodes, bytes of memory, seconds allocated, owner, seconds used and name,
 * separated by tabs.
 */
#include <stdio.h>

#include "base/err.h"
#include "predict/forecast/jobs/jobs.h"

int main(int argc, char **argv)
{
	uint8_t key[OWNER_KEY_BYTES];
	const struct jobs_reader *reader;
	struct jobs jobs = { 0 };
	struct err err = { 0 };

	if (argc < 3)
		return 2;
	reader = jobs_reader_find(argv[2], &err);
	if (!reader || owner_key_load(key, argv[1], &err) < 0 ||
	    jobs_query(&jobs, reader, argv[3], 30, key, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < jobs.count; i++)
		printf("%s\t%s\t%g\t%.0f\t%.0f\t%s\t%.0f\t%s\n", jobs.rows[i].id,
		       jobs.rows[i].queue, jobs.rows[i].nodes, jobs.rows[i].memory_bytes,
		       jobs.rows[i].allocated_s, jobs.rows[i].owner, jobs.rows[i].used_s,
		       jobs.rows[i].name);
	jobs_release(&jobs);
	return 0;
}
