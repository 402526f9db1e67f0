/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice config: shows settings and the contents of the store.
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
	.help = "show settings and the contents of the store",
	.subcommands = subcommands,
	.fallback = "show",
};
