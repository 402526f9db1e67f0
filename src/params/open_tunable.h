/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parameters that are not in the catalog, because only the user knows them:
 *
 *	env:NAME    an environment variable
 *	mca:NAME    a setting of Open MPI: the environment variable OMPI_MCA_NAME
 *	ucx:NAME    a setting of UCX: the environment variable UCX_NAME
 *	{NAME}      what stands in place of {NAME} in the arguments of the command
 *
 * A name of an environment variable has one row, however it is written. Their values are texts.
 * Sluice does not know what they change, so their class is that of layouts: applied by default, but
 * not if only safe parameters are allowed. The capture library does not get them.
 */
#ifndef SLUICE_PARAMS_OPEN_TUNABLE_H
#define SLUICE_PARAMS_OPEN_TUNABLE_H

#include "params/tunable.h"

/* Finds or makes the row, which lives as long as the process, so that rows can be compared by
 * address. NULL: this is not such a name. Any thread may call it. */
const struct tunable *open_tunable(const char *name);

#endif
