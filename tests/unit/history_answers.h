/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the plug-in history writes for the guest before a run. For tests.
 */
#ifndef SLUICE_TESTS_HISTORY_ANSWERS_H
#define SLUICE_TESTS_HISTORY_ANSWERS_H

#include <stdio.h>

#include "base/config.h"
#include "base/mem.h"
#include "base/place.h"
#include "contract/hints.h"
#include "observe/plugins/history.h"
#include "store_sample.h"

/* The text, which the caller frees; NULL: an option was refused. */
static inline char *history_answers(const struct sample *sample, const char *const *options,
				    struct err *err)
{
	AUTO_FREE char *path = place_join(sample->directory, HINTS_ANSWERS_NAME);
	char text[4096] = "";
	struct config config;
	FILE *f;
	int r;

	config_init(&config);
	for (; options && *options; options++)
		REQUIRE(config_assign(&config, *options, "test", NULL) >= 0);
	REQUIRE(config_set(&config, SETTING_STORE_PATH, sample->path, "test", NULL) >= 0);
	r = history_prepare(&config, sample->directory, err);
	config_release(&config);
	if (r < 0)
		return NULL;
	f = fopen(path, "re");
	REQUIRE(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	return xstrdup(text);
}

#endif
