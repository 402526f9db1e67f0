/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/probe/prober_node.h"

#include <math.h>

#include "check.h"

#define MEMORY                                                                                     \
	"MemTotal: 100 kB\nMemAvailable:   40 kB\nDirty:  3 kB\nWritebackTmp: 9 kB\nWriteback: 2 " \
	"kB\n"

static void cpu_shares_cover_the_time_since_the_last_reading(void)
{
	struct node_watch watch = { 0 };
	struct node_state state;

	node_watch_parse(&watch, &state, "1.50 0.9 0.5 1/99 7\n",
			 "cpu  10 0 10 70 10 0 0 0 5 0\ncpu0", MEMORY);
	CHECK(state.values[NODE_LOAD] == 1.5);
	CHECK(isnan(state.values[NODE_CPU]));
	CHECK(isnan(state.values[NODE_IOWAIT]));
	node_watch_parse(&watch, &state, "2", "cpu  30 0 20 80 70 0 0 0 5 0\n", MEMORY);
	/* 100 ticks: 10 idle, 60 waiting for I/O. */
	CHECK(fabs(state.values[NODE_CPU] - 0.3) < 1e-12);
	CHECK(fabs(state.values[NODE_IOWAIT] - 0.6) < 1e-12);
	CHECK(state.values[NODE_DIRTY] == 3 * 1024);
	CHECK(state.values[NODE_WRITEBACK] == 2 * 1024);
	CHECK(state.values[NODE_FREE] == 40 * 1024);
}

static void missing_values_are_unknown(void)
{
	struct node_watch watch = { 0 };
	struct node_state state;

	node_watch_parse(&watch, &state, "", "cpu 1 2", "Dirty");
	for (size_t i = 0; i < NODE_VALUES; i++)
		CHECK(isnan(state.values[i]));
}

static void values_of_this_node_are_known(void)
{
	struct node_watch watch = { 0 };
	struct node_state state;

	node_watch_read(&watch, &state);
	CHECK(state.values[NODE_LOAD] >= 0);
	CHECK(state.values[NODE_FREE] > 0);
	CHECK(watch.total > 0);
}

TESTS(TEST(cpu_shares_cover_the_time_since_the_last_reading), TEST(missing_values_are_unknown),
      TEST(values_of_this_node_are_known))
