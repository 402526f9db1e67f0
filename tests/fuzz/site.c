/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as the description of a site. They are rejected with an error message, or
 * the classes are in order and the targets have names.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "predict/forecast/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err err = { 0 };
	struct site site;

	if (site_parse(&site, "test", (const char *)data, n, &err) < 0) {
		if (!*err.text)
			abort();
		return 0;
	}
	for (size_t i = 0; i < SITE_CLASSES - 1; i++)
		if (site_class(&site, site.bounds[i]) != i)
			abort();
	for (size_t i = 0; i < site.target_count; i++)
		if (!*site.targets[i].name || !*site.targets[i].place)
			abort();
	site_name_matches(site.batch, site.debug);
	site_name_matches(site.allow, site.files);
	site_release(&site);
	return 0;
}
