/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The head of a merged profile: the facts of all parts with new numbers. Files and functions with
 * the same name are one. Times are relative to the start of the first part; the clocks of nodes are
 * taken to agree on the time of day. Numbers of facts are limited, because a job may have millions
 * of processes; what is left out is counted.
 */
#ifndef SLUICE_OBSERVE_PROFILE_MERGED_HEAD_H
#define SLUICE_OBSERVE_PROFILE_MERGED_HEAD_H

#include "base/map.h"
#include "observe/tally/sums.h"
#include "trace/head.h"

enum {
	MERGED_PROCESSES_MAX = 65536,
	MERGED_NOTES_MAX = 65536,
	MERGED_FILES_MAX = 1 << 20,
	MERGED_STATISTICS_MAX = 4096,
	MERGED_SAMPLES_MAX = 1 << 20,
};

struct merged_head {
	struct trace_head head;
	struct head_builder builder;
	struct map paths; /* file_id as a pointer value, by hash of the path */
	char **hosts;	  /* names of hosts, each once */
	size_t host_count, host_cap;
	size_t parts;
	int64_t first_ns, last_ns;	 /* start of the first part, end of the last */
	uint64_t lost_files, lost_notes; /* that were left out */
};

struct merged_head *merged_head_new(void);
void merged_head_free(struct merged_head *merged); /* accepts NULL */

/* What the numbers of a part became. Release it with merged_map_release(). */
struct merged_map {
	uint16_t *calls;
	file_id *files;
	uint32_t process_base; /* number of the part's first process */
	int64_t shift_ns;
};

/* A copy of the name that lives as long as the head; for struct renumbering. */
const char *merged_head_host(void *merged, const char *name);

/* process_base: processes of the parts so far, also those that were left out */
struct merged_map merged_head_add(struct merged_head *merged, const struct trace_head *part,
				  uint32_t process_base);
void merged_map_release(struct merged_map *map);

#endif
