/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sluice lab program: small programs that are measured, without and with recording, by `sluice lab
 * reproduce siox` and by benchmarks. They are part of this program so that no further ones need to
 * be installed.
 */
#include "cli/command.h"

extern const struct command_ops command_disk, command_strides, command_threads;

static const struct command_ops *const subcommands[] = { &command_disk, &command_strides,
							 &command_threads, NULL };

const struct command_ops command_program = {
	.name = "program",
	.help = "run one of the small programs that experiments measure",
	.flags = COMMAND_HIDDEN,
	.subcommands = subcommands,
};
