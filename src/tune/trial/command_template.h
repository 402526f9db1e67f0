/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A command line in which {NAME} stands for a parameter of the search space
 * (params/open_tunable.h). Braces that name no dimension of the space are left as they are.
 */
#ifndef SLUICE_TUNE_TRIAL_COMMAND_TEMPLATE_H
#define SLUICE_TUNE_TRIAL_COMMAND_TEMPLATE_H

#include "params/space.h"

/* The arguments of the space with their defaults. The caller releases the set. */
void command_template_defaults(const struct space *space, struct param_set *defaults);

/* -EINVAL if an argument of the space does not occur in the command; err names it. */
int command_template_check(char *const *argv, const struct param_set *defaults, struct err *err);

/* A copy of the command in which arguments have the values of the set, or else their defaults. The
 * caller frees it with command_template_free(). */
char **command_template_fill(char *const *argv, const struct param_set *set,
			     const struct param_set *defaults);
void command_template_free(char **argv);

#endif
