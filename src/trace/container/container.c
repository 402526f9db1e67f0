/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The binary container as a trace format: the table of its functions. writer.c and reader.c
 * implement them.
 */
#include "trace/container/container.h"

#include <string.h>

static bool recognize(const unsigned char *head, size_t n)
{
	return n >= CONTAINER_MAGIC_BYTES && !memcmp(head, CONTAINER_MAGIC, CONTAINER_MAGIC_BYTES);
}

const struct trace_format trace_container = {
	.name = "container",
	.suffix = ".sluice",
	.help = "compressed binary file with an index; the default of 'sluice run'",
	.recognize = recognize,
	.create = container_create,
	.add_process = container_add_process,
	.add_file = container_add_file,
	.add_activities = container_add_activities,
	.add_aggregate = container_add_aggregate,
	.add_loss = container_add_loss,
	.add_host = container_add_host,
	.add_fact = container_add_fact,
	.flush = container_flush,
	.rest = container_rest,
	.add_profile = container_add_profile,
	.finish = container_finish,
	.open = container_open,
	.reopen = container_reopen,
	.next = container_next,
	.read_profile = container_read_profile,
	.close = container_close,
};
