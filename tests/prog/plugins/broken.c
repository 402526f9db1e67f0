/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plug-ins that misbehave: each macro replaces the body of a hook. tests/run/plugins.sh compiles
 * it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sluice/plugin.h>

#ifndef ABI
#define ABI SLUICE_PLUGIN_ABI
#endif
#ifndef KIND
#define KIND SLUICE_ASYNC
#endif

#ifdef LOAD
__attribute__((constructor)) static void load(void)
{
	LOAD;
}
#endif

static int start(const struct sluice_host *host, void **state)
{
	(void)host;
	(void)state;
#ifdef START
	START;
#endif
	return 0;
}

#ifndef NO_BATCH
static void batch(void *state, const struct activity *activities, size_t count)
{
	(void)state;
	(void)activities;
	(void)count;
#ifdef BATCH
	BATCH;
#endif
}
#endif

static void report(void *state)
{
	(void)state;
#ifdef REPORT
	REPORT;
#endif
}

static const struct sluice_async hooks = {
	.start = start,
#ifndef NO_BATCH
	.batch = batch,
#endif
	.report = report,
};

const struct sluice_plugin sluice_plugin = {
	.abi = ABI, .kind = KIND, .name = NAME, .help = "misbehaves", .async = &hooks
};
