/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Says that a command has restored the files of tunings that had been killed.
 */
#ifndef SLUICE_CMD_RECOVERED_H
#define SLUICE_CMD_RECOVERED_H

struct command;
struct err;

/* count and err are those of tuning_recover_files(). */
void recovered_show(const struct command *command, int count, const struct err *err);

#endif
