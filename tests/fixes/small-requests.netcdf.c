/* SPDX-License-Identifier: BSD-3-Clause
 *
 * @libraries netcdf
 */
#include "fix.h"

static void program(void)
{
	int file, dimension, variable;
	size_t first[1] = { 0 }, many[1] = { 600 };

	MUST(nc_create(path, NC_CLOBBER | NC_NETCDF4, &file) == NC_NOERR);
	MUST(nc_def_dim(file, "x", many[0], &dimension) == NC_NOERR);
	MUST(nc_def_var(file, "t", NC_DOUBLE, 1, &dimension, &variable) == NC_NOERR);
	MUST(nc_enddef(file) == NC_NOERR);
#ifdef FIX
#include FIX
#else
	for (; first[0] < many[0]; first[0]++)
		MUST(nc_put_var1(file, variable, first, block) == NC_NOERR);
#endif
	MUST(nc_close(file) == NC_NOERR);
}
