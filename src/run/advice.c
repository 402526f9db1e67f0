/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/advice.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "contract/advice.h"
#include "run/placing.h"

/* Copies whole lines. */
static void copy_lines(char *to, size_t bytes, const char *from)
{
	size_t n = strlen(from);

	while (n >= bytes || (n && from[n - 1] != '\n'))
		n--;
	memcpy(to, from, n);
	to[n] = 0;
}

void advice_make(struct advice *advice, const struct config *config, const char *best)
{
	copy_lines(advice->best, sizeof(advice->best), best);
	/* A program that does not ask must not have to wait for the model. */
	if (*config_text(config, SETTING_PROBE_SITE) &&
	    config_choice(config, SETTING_INSTRUMENT_FORECAST) == CONFIG_INSTRUMENT_FORECAST_ON)
		placing_advise(advice, config);
}
