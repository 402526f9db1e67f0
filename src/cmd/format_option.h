/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The option --format of commands that write traces.
 */
#ifndef SLUICE_CMD_FORMAT_OPTION_H
#define SLUICE_CMD_FORMAT_OPTION_H

#include "trace/format.h"

#define FORMAT_WORDS "container|text|sqlite"

/* The format that an OPTION_CHOICE among FORMAT_WORDS means; NULL if the option was not given. */
const struct trace_format *format_option(int choice);

#endif
