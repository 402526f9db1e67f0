/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What parameters mean to each other and to the place they are applied at: rows of a table, each
 * with its sentence. For set.c, which tells people, and space.c, which leaves out what makes no
 * sense.
 */
#ifndef SLUICE_PARAMS_CONSTRAINTS_H
#define SLUICE_PARAMS_CONSTRAINTS_H

#include "params/set.h"

enum constraint_weight {
	CONSTRAINT_ADVICE, /* there is something better, or nobody listens */
	CONSTRAINT_IDLE,   /* has no effect beside the others, or only a bad one: not worth a try */
	CONSTRAINT_DROP,   /* must not be applied */
};

/* Non-zero of tell() stops, and is returned. text is NULL where with_text is false. */
typedef int (*constraint_tell)(void *arg, const struct param *param, enum constraint_weight weight,
			       const char *text);

/* All that is to be said about the set. Allocates nothing without text. */
int constraints_check(const struct param_set *set, const struct tunable_context *context,
		      bool with_text, constraint_tell tell, void *arg);

#endif
