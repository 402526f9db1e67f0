/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conflicts between parameters, and between a parameter and its environment: a table of rules, each
 * with its message. set.c reports them to the user; space.c skips combinations that make no sense.
 * constraints.c and set.c implement the check of a parameter set together.
 */
#ifndef SLUICE_PARAMS_CONSTRAINTS_H
#define SLUICE_PARAMS_CONSTRAINTS_H

#include "params/set.h"

enum constraint_weight {
	CONSTRAINT_ADVICE, /* the value has no effect here, or a better one exists */
	CONSTRAINT_IDLE,   /* no or only bad effect next to the other values: not worth a trial */
	CONSTRAINT_DROP,   /* the value must not be applied */
};

/* Receives one violation. A result other than 0 stops the check and is returned. text is NULL if
 * with_text is false. */
typedef int (*constraint_report)(void *arg, const struct param *param,
				 enum constraint_weight weight, const char *text);

/* Checks all parameters of the set. Does not allocate memory if with_text is false. */
int constraints_check(const struct param_set *set, const struct tunable_context *context,
		      bool with_text, constraint_report report, void *arg);

#endif
