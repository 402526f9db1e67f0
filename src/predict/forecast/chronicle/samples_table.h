/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads write times that other programs have collected, from a table in CSV with one row per write:
 * its time (seconds since 1970), its target, its size in bytes, its duration in seconds and, if it
 * was aborted, a timeout other than 0.
 */
#ifndef SLUICE_PREDICT_FORECAST_CHRONICLE_SAMPLES_TABLE_H
#define SLUICE_PREDICT_FORECAST_CHRONICLE_SAMPLES_TABLE_H

#include <stddef.h>

struct chronicle;
struct err;

struct samples_table_facts {
	size_t samples;
	size_t skipped; /* rows without a time, target, size or duration above 0 */
};

/*
 * Reads a file, plain or gzip. `columns` maps the names above to columns of the file, for example
 * "time=start,target=fs,bytes=1048576,seconds=io_time"; a name that is left out is the column of
 * this name, and a number is the value of all rows. A table without a timeout has none. The
 * chronicle, which is untouched on failure, has no name.
 */
int samples_table_read(struct chronicle *chronicle, const char *path, const char *columns,
		       struct samples_table_facts *facts, struct err *err);

#endif
