/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A site's database for a test: an SQLite file or, if CHECK_DATABASE names a PostgreSQL database, a
 * schema of its own there.
 */
#ifndef SLUICE_TESTS_SITE_SAMPLE_H
#define SLUICE_TESTS_SITE_SAMPLE_H

#include "base/config.h"
#include "site/access.h"
#include "site/build.h"
#include "site/import.h"
#include "site/site.h"
#include "site/site_internal.h"
#include "store/store_internal.h"
#include "trace_sample.h"

static char *site_sample_name;

/* Creates the database and opens it. */
static inline struct site_db *site_sample_open(void)
{
	static int number;
	const char *server = getenv("CHECK_DATABASE");
	struct site_db *site = NULL;
	struct store *store = NULL;
	struct err err = { 0 };

	free(site_sample_name);
	site_sample_name = server ? xprintf("%s options='-c search_path=sample_site_%d_%d'", server,
					    (int)getpid(), number++)
				  : xprintf("%s/site-%d.db", check_directory(), number++);
	if (store_connect(&store, site_sample_name, &err) < 0 ||
	    store_migrate(store, SCHEMA_VERSION, &err) < 0 || access_init(store, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(!err.code);
	store_close(store);
	if (site_open(&site, site_sample_name, &err) < 0)
		printf("%s\n", err.text);
	REQUIRE(site);
	return site;
}

static inline void site_sample_close(struct site_db *site)
{
	if (site_is_postgres(site))
		CHECK_INT(store_execute(site->store,
					"DO $$ BEGIN EXECUTE format('DROP SCHEMA %I CASCADE', "
					"current_schema()); END $$",
					NULL),
			  0);
	site_close(site);
}

/* The number that a query returns. */
static inline int64_t site_sample_count(struct site_db *site, const char *sql)
{
	struct err err = { 0 };
	int64_t number =
		store_first_number(site->store, store_query(site->store, &err, sql, ""), &err);

	CHECK_TEXT(err.text, "");
	return number;
}

/* Settings with their defaults, and options that store all calls. */
static struct config site_sample_config;

static inline struct build_options site_sample_options(void)
{
	config_release(&site_sample_config);
	config_init(&site_sample_config);
	return (struct build_options){ .config = &site_sample_config, .owner = "ann", .sample = 1 };
}

/* Writes a trace with n random activities and returns its path, which the caller frees. */
static inline char *site_sample_trace(size_t n)
{
	AUTO_FREE struct activity *all = sample_many(n);
	char *path = sample_path(".sluice");

	qsort(all, n, sizeof(*all), activity_compare);
	sample_write(&trace_container, path, all, n, n);
	return path;
}

/* Payloads of a trace. */
struct site_sample_payloads {
	struct site_payload list[1000];
	size_t count;
};

static inline int site_sample_keep(void *arg, uint16_t type, const void *payload, size_t bytes,
				   struct err *err)
{
	struct site_sample_payloads *to = arg;
	void *copy = xmalloc(bytes);

	(void)err;
	CHECK_INT(type, BUILD_FRAME_TYPE);
	REQUIRE(to->count < 1000);
	memcpy(copy, payload, bytes);
	to->list[to->count++] = (struct site_payload){ copy, bytes };
	return 0;
}

static inline void site_sample_release(struct site_sample_payloads *payloads)
{
	for (size_t i = 0; i < payloads->count; i++)
		free((void *)(uintptr_t)payloads->list[i].bytes);
	payloads->count = 0;
}

#endif
