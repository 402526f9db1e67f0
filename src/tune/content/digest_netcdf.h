/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the items of a NetCDF file in one of the classic formats (CDF-1, CDF-2, CDF-5): the global
 * attributes and dimensions, and each variable with its attributes, shape and values. Offsets,
 * padding, the size of the header and the order of variables do not matter. The number of records
 * is that of the header; if the header says that it is unknown, it follows from the file's size.
 */
#ifndef SLUICE_TUNE_CONTENT_DIGEST_NETCDF_H
#define SLUICE_TUNE_CONTENT_DIGEST_NETCDF_H

#include <stdbool.h>

struct err;
struct item_writer;

bool digest_is_netcdf(int fd);

/* -EBADMSG: the header is broken, or values are beyond the end of the file. */
int digest_netcdf(struct item_writer *writer, int fd, struct err *err);

#endif
