/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The small tables of a Parquet dataset: everything that a trace holds besides its activities.
 */
#ifndef SLUICE_OBSERVE_EXPORT_FACT_TABLE_H
#define SLUICE_OBSERVE_EXPORT_FACT_TABLE_H

#include <stdint.h>

#include "trace/parquet/parquet.h"

struct err;
struct export_job;

/* Properties of the dataset that its table "run" states. */
struct dataset_info {
	int64_t slice_ns;
	const struct parquet_pair *pairs; /* metadata of every file */
};

/* Writes one file per table into the directory. Call it after all activities were read. */
int fact_tables_write(const struct export_job *job, const struct dataset_info *info,
		      const char *directory, struct parquet_encoder *encoder, struct err *err);

#endif
