/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small traces for tests of observe/chain. A test adds files, facts and activities between
 * sample_create() and sample_finish().
 */
#ifndef SLUICE_TESTS_CHAIN_SAMPLE_H
#define SLUICE_TESTS_CHAIN_SAMPLE_H

#include <stdint.h>

#include "base/err.h"
#include "check.h"
#include "trace/format.h"
#include "trace/head.h"

static const struct run_clock sample_clock = { (char *)"monotonic", 0, 1, 1, 0 };

/* A trace in the text format, of a run on this host. */
static void *sample_create(const char *path, const char *host, const struct call_info *calls,
			   size_t count)
{
	const struct run_info run = { .uuid = (char *)"0123456789abcdef0123456789abcdef",
				      .command = (char *)"x",
				      .directory = (char *)"/",
				      .host = (char *)host,
				      .user = (char *)"u",
				      .version = (char *)"0" };
	struct err err = { 0 };
	void *w = NULL;

	REQUIRE(trace_text.create(&w, path, &run, &sample_clock, calls, count, &err) == 0);
	return w;
}

/* A process without a rank or a parent. */
static struct process_info sample_process(uint32_t index, const char *host)
{
	return (struct process_info){ .index = index,
				      .parent = -1,
				      .rank = -1,
				      .host = (char *)host,
				      .program = (char *)"p",
				      .command = (char *)"p",
				      .directory = (char *)"/" };
}

static void sample_finish(void *w)
{
	const struct run_end end = { INT64_C(1000000), 0, true };
	struct err err = { 0 };

	REQUIRE(trace_text.finish(w, &end, &sample_clock, &err) == 0);
}

#endif
