/* SPDX-License-Identifier: BSD-3-Clause */
#include "params/tunable.h"

#include <string.h>

const char *tunable_layer_name(enum tunable_layer layer)
{
	static const char *const names[] = { "hdf5", "mpi", "storage" };

	return names[layer];
}

const char *tunable_section(enum tunable_layer layer)
{
	static const char *const names[] = { "High_Level_IO_Library", "Middleware_Layer",
					     "Parallel_File_System" };

	return names[layer];
}

const char *tunable_safety_name(enum tunable_safety safety)
{
	static const char *const names[] = { "safe", "layout", "semantics", "dangerous" };

	return names[safety];
}

const char *middleware_name(enum middleware middleware)
{
	static const char *const names[] = { "any", "mpich", "openmpi-romio", "ompio" };

	return names[middleware];
}

const char *filesystem_name(enum filesystem filesystem)
{
	static const char *const names[] = { "any", "local", "nfs", "lustre", "gpfs", "ceph" };

	return names[filesystem];
}

const struct tunable *tunable_by_name(const char *name)
{
	for (const struct tunable *t = tunables; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}
