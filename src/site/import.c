/* SPDX-License-Identifier: BSD-3-Clause */
#include "site/import.h"

#include <errno.h>

#include "base/err.h"
#include "site/build.h"
#include "site/site_internal.h"

struct import {
	struct site_db *site;
	uint64_t bytes;
};

static int insert_payload(void *arg, uint16_t type, const void *payload, size_t bytes,
			  struct err *err)
{
	struct import *import = arg;

	(void)type;
	import->bytes += bytes;
	return site_insert(import->site, payload, bytes, err);
}

static int import_locked(struct site_db *site, const char *path,
			 const struct build_options *options, struct import *import,
			 int64_t *activities, struct err *err)
{
	int r = build_trace(path, options, insert_payload, import, err);

	if (r < 0)
		return r;
	if (!site->run)
		return err_set(
			err, EPERM,
			"%s: the run was removed with 'sluice site forget' and is not stored "
			"again",
			path);
	*activities = store_first_number(
		site->store,
		store_query(site->store, err, "SELECT kept FROM run WHERE id = ?1", "i", site->run),
		err);
	return *activities < 0 ? (int)*activities : 0;
}

int site_import(struct site_db *site, const char *path, const struct build_options *options,
		struct import_totals *totals, struct err *err)
{
	struct import import = { .site = site };
	int64_t activities = 0;
	int r = store_begin_shared(site->store, err);

	if (r < 0)
		return r;
	site->uuid[0] = '\0';
	r = site_end(site, import_locked(site, path, options, &import, &activities, err), err);
	if (r < 0)
		return r;
	totals->runs++;
	totals->rows_bytes += import.bytes;
	totals->activities += (uint64_t)activities;
	return 0;
}
