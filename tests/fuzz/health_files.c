/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as the health file of another node. Accepted indices must be within their
 * tables.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "observe/reason/health_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	struct reasoner *system = reasoner_new(ROLE_SYSTEM, "system", NULL);
	struct health_report report;

	if (health_files_parse(&report, text)) {
		if (report.role >= ROLES || report.state >= HEALTH_STATES ||
		    report.rule >= HEALTH_RULES || !memchr(report.id, 0, sizeof(report.id)))
			abort();
		reasoner_hear(system, &report);
		reasoner_cycle(system, 1000000000);
	}
	reasoner_free(system);
	return 0;
}
