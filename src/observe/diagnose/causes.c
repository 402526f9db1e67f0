/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/diagnose/causes.h"

#include <stddef.h>

/* By bit. Bit 0 is a transfer that the program itself wanted to be independent. */
static const char *const names[] = {
	"independent transfers were requested",
	"the data type has to be converted",
	"a data transform is set",
	"MPI-IO is disabled by the environment variable HDF5_MPI_OPT_TYPES",
	"the selections are not simple dataspaces",
	"the dataset is neither contiguous nor chunked",
	"parallel writes with filters are disabled",
	"HDF5 failed to check whether it is possible",
	"selection I/O is disabled",
};

const char *causes_name(uint32_t causes)
{
	for (size_t bit = 0; bit < sizeof(names) / sizeof(*names); bit++) {
		if (causes >> bit & 1)
			return names[bit];
	}
	return "unknown";
}
