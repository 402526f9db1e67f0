/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/tally/traffic.h"

#include <string.h>

#include "base/mem.h"

/*
 * The class of a call that starts an operation does not tell the direction, but its name does:
 * aio_write, MPI_File_iread_at, MPI_File_write_all_begin, ncmpi_iput_vara, ncmpi_bput_var1,
 * io_uring_send.
 */
static unsigned ways_by_name(const char *name)
{
	if (strcasestr(name, "write") || strcasestr(name, "put") || strcasestr(name, "send"))
		return 1u << WRITING;
	if (strcasestr(name, "read") || strcasestr(name, "get") || strcasestr(name, "recv"))
		return 1u << READING;
	return 0;
}

unsigned traffic_ways(const struct call_info *call)
{
	switch (call->class) {
	case CLASS_READ:
		return 1u << READING;
	case CLASS_WRITE:
		return 1u << WRITING;
	case CLASS_COPY:
		return 1u << READING | 1u << WRITING;
	case CLASS_START:
		return ways_by_name(call->name);
	default:
		return 0;
	}
}

uint64_t traffic_bytes(const struct activity *activity, const struct call_info *call)
{
	int64_t bytes = call->class == CLASS_START ? activity->size : activity->result;

	if (call->class == CLASS_START && (activity->error || !(activity->present & PRESENT(SIZE))))
		return 0;
	return bytes > 0 ? (uint64_t)bytes : 0;
}

bool traffic_is_notice(const struct call_info *call)
{
	return call->class == CLASS_WAIT && strcmp(call->name, "completed") == 0;
}

uint8_t *traffic_table(const struct trace_head *head)
{
	uint8_t *ways = xcalloc(head->call_count + 1, sizeof(*ways));

	for (size_t i = 0; i < head->call_count; i++)
		ways[i] = (uint8_t)traffic_ways(&head->calls[i]);
	return ways;
}

struct call_ref traffic_start(struct recent *started, const struct trace_head *head,
			      const struct activity *completion)
{
	const uint64_t ids[] = { completion->link & ID_MASK, completion->link2 & ID_MASK };

	for (int i = 0; i < 2; i++) {
		struct call_ref call = { trace_find_owner(head, completion->process, ids[i]),
					 ids[i] };

		if (call.id && recent_find(started, call))
			return call;
	}
	return (struct call_ref){ 0 };
}

uint64_t traffic_completed(const struct activity *completion, uint64_t asked)
{
	if (completion->result >= 0)
		return (uint64_t)completion->result;
	return completion->error ? 0 : asked;
}
