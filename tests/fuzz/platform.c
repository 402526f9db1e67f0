/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as the description of a platform. They are rejected with an error message,
 * or the simulator gives a time for every kernel.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "predict/simulate/workload.h"

static void try_kernel(const struct platform *platform, const char *kernel)
{
	const struct param_set nothing = { 0 };
	struct workload workload;
	struct simulated out;
	struct space space;

	if (workload_find(&workload, kernel, 96, NULL) < 0 ||
	    workload_simulate(&workload, platform, &nothing, &out, NULL) < 0)
		abort();
	if (!isfinite(out.total) || !(out.total > 0))
		abort();
	if (workload_space(&workload, platform, &space, NULL) == 0)
		space_release(&space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct platform *platform = NULL;
	struct err err = { 0 };

	if (platform_read_text(&platform, "test", (const char *)data, n, &err) < 0) {
		if (platform || !*err.text)
			abort();
		return 0;
	}
	try_kernel(platform, "vpic");
	try_kernel(platform, "vorpal");
	try_kernel(platform, "gcrm");
	platform_close(platform);
	return 0;
}
