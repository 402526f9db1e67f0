/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of a trial: `sluice run` with settings that record each call and apply the
 * parameters of the trial only, followed by the user's command.
 */
#ifndef SLUICE_TUNE_TRIAL_RECORDED_COMMAND_H
#define SLUICE_TUNE_TRIAL_RECORDED_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct param_set;

struct recorded_command {
	char **argv; /* ends with NULL */
	size_t argc, capacity;
	size_t mode_at;	   /* where the mode of recording is */
	size_t command_at; /* where the user's command begins */
};

/* The paths are those of sluice, the spool directory (NULL: the default of each node), the trace
 * and the file of parameters. */
void recorded_command_init(struct recorded_command *c, const char *sluice, const char *spool,
			   const char *trace, const char *params);
void recorded_command_release(struct recorded_command *c);

/*
 * Sets the user's command, in which {NAME} stands for the value of that parameter in the set or,
 * if it has none, in the defaults (tune/trial/command_template.h).
 */
void recorded_command_set(struct recorded_command *c, char *const *argv,
			  const struct param_set *set, const struct param_set *defaults,
			  bool is_unrecorded);

/* Writes the file of parameters. Returns 0, or -errno with a sentence. */
int recorded_command_write_params(const char *path, const struct param_set *set, struct err *err);

#endif
