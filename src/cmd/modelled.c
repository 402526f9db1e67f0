/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/modelled.h"

#include <string.h>

#include "predict/simulate/system.h"

const char *modelled_name(const char *on)
{
	return strncmp(on, MODELLED, strlen(MODELLED)) == 0 ? on + strlen(MODELLED) : on;
}

int modelled_generate(struct generated *generated, const char *on, const struct system_wish *wish,
		      struct err *err)
{
	struct system *system = NULL;
	int r = system_open(&system, modelled_name(on), err);

	if (r >= 0)
		r = system_generate(generated, system, wish, err);
	system_close(system);
	return r;
}
