/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adds a trace to the database, in one transaction: all of it, or nothing.
 */
#ifndef SLUICE_SITE_IMPORT_H
#define SLUICE_SITE_IMPORT_H

#include <stdint.h>

struct build_options;
struct err;
struct site_db;

struct import_totals {
	uint64_t runs, rows_bytes, activities; /* activities that were stored */
};

/*
 * Imports a trace. What the database has of the run is replaced. Fails with -EPERM if the run, or
 * its user, was to be forgotten.
 */
int site_import(struct site_db *site, const char *path, const struct build_options *options,
		struct import_totals *totals, struct err *err);

#endif
