/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that precede a command: sluice --set KEY=VALUE report.
 */
#ifndef SLUICE_CLI_MAIN_OPTIONS_H
#define SLUICE_CLI_MAIN_OPTIONS_H

#include "base/option.h"

struct main_args {
	struct option_list assignments;
	int color; /* enum term_color_when */
	bool version;
};

extern const struct option main_options[];

#endif
