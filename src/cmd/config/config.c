/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice config: settings, and the store of what earlier runs have taught.
 */
#include "cli/command.h"

extern const struct command_ops command_config_show, command_config_store;

static const struct command_ops *const subcommands[] = {
	&command_config_show,
	&command_config_store,
	NULL,
};

const struct command_ops command_config = {
	.name = "config",
	.help = "show settings and stored knowledge",
	.subcommands = subcommands,
	.fallback = "show",
};
