/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads arbitrary bytes as a settings file. All resulting values must be valid, and problems must
 * be reported.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"

static void check_values(const struct config *config)
{
	for (int id = 0; id < SETTING_COUNT; id++) {
		const struct config_value *value = &config->values[id];

		if (!value->text || !value->origin)
			abort();
		if (settings[id].kind == OPTION_CHOICE && value->choice < 0)
			abort();
	}
}

/* The same bytes as a value and as a command line, which have their own parsers. */
static void try_parsers(const uint8_t *data, size_t n)
{
	AUTO_FREE char *text = xstrndup((const char *)data, n);
	struct config config;
	uint64_t bytes;
	int64_t ns;

	unit_parse_bytes(text, &bytes);
	unit_parse_ns(text, &ns);
	config_init(&config);
	config_assign(&config, text, "test", NULL);
	check_values(&config);
	config_release(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct config config;

	config_init(&config);
	config_read_text(&config, "test", (const char *)data, n);
	check_values(&config);
	config_release(&config);
	try_parsers(data, n);
	return 0;
}
