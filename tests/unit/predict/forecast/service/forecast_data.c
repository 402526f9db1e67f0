/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where probe data comes from: the store's system, another one that is the only one, files, or a
 * simulated system.
 */
#include "predict/forecast/service/forecast_data.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "predict/forecast/chronicle/blocks.h"
#include "store_sample.h"

static struct err err;

static void save_system(struct sample *sample, const char *system)
{
	static const uint64_t sizes[] = { 1u << 20, 64u << 20 };
	struct store *store = sample_open(sample);
	struct chronicle rows;

	chronicle_init(&rows, system, sizes, 2);
	chronicle_add_target(&rows, "a");
	chronicle_add(&rows, 0, 0, 1000, 0.5, SAMPLE_DONE, SAMPLE_DIRECT);
	chronicle_add(&rows, 0, 1, 2000, 1.5, SAMPLE_DONE, SAMPLE_DIRECT);
	REQUIRE(chronicle_save(&rows, store, -INFINITY, INFINITY, &err) == 0);
	chronicle_release(&rows);
	store_close(store);
}

static struct forecast_query query_init(const struct sample *sample)
{
	return (struct forecast_query){
		.store_path = sample->path, .site = "", .from_s = -INFINITY, .to_s = INFINITY
	};
}

static void a_missing_store_is_no_data(void)
{
	struct forecast_query query = { .store_path = "/nowhere/store.db", .site = "" };
	struct forecast_data data;

	CHECK_INT(forecast_data_open(&data, &query, &err), -ENODATA);
	forecast_data_close(&data);
}

static void the_only_system_replaces_a_default_name(void)
{
	struct forecast_data data;
	struct forecast_query query;
	struct sample sample;

	sample_make(&sample);
	save_system(&sample, "titan");
	query = query_init(&sample);
	query.system = "elsewhere";
	CHECK_INT(forecast_data_open(&data, &query, &err), -ENODATA);
	CHECK(strstr(err.text, "titan"));
	forecast_data_close(&data);
	query.is_default_system = true;
	REQUIRE(forecast_data_open(&data, &query, &err) == 0);
	CHECK_TEXT(data.system, "titan");
	CHECK(data.newest_s == 2000);
	forecast_data_close(&data);
	save_system(&sample, "cori");
	CHECK_INT(forecast_data_open(&data, &query, &err), -ENODATA);
	forecast_data_close(&data);
	sample_remove(&sample);
}

static void only_the_time_range_is_loaded(void)
{
	struct forecast_data data;
	struct forecast_query query;
	struct sample sample;

	sample_make(&sample);
	save_system(&sample, "titan");
	query = query_init(&sample);
	query.system = "titan";
	query.from_s = 1500;
	REQUIRE(forecast_data_open(&data, &query, &err) == 0);
	CHECK_INT(chronicle_series(forecast_data_rows(&data), 0, 0)->count, 1);
	CHECK_INT(forecast_data_rows(&data)->size_count, 1);
	forecast_data_close(&data);
	sample_remove(&sample);
}

static void simulated_system_brings_its_site(void)
{
	struct forecast_query query = { .simulated = "cori",
					.wish = { .days = 0.02, .targets = 2, .seed = 1 } };
	struct forecast_data data;

	REQUIRE(forecast_data_open(&data, &query, &err) == 0);
	CHECK_TEXT(data.system, "modelled-cori");
	CHECK_TEXT(data.site.name, "cori");
	CHECK_INT(forecast_data_rows(&data)->target_count, 2);
	CHECK(data.is_generated);
	forecast_data_close(&data);
}

static void auto_is_the_cluster_or_the_host(void)
{
	char *name;

	setenv("SLURM_CLUSTER_NAME", "big", 1);
	name = forecast_system_name("auto");
	CHECK_TEXT(name, "big");
	free(name);
	name = forecast_system_name("mine");
	CHECK_TEXT(name, "mine");
	free(name);
	unsetenv("SLURM_CLUSTER_NAME");
	name = forecast_system_name("auto");
	CHECK(*name);
	free(name);
}

static void too_many_samples_are_refused(void)
{
	struct forecast_data data;
	struct forecast_query query;
	struct sample sample;

	sample_make(&sample);
	save_system(&sample, "titan");
	query = query_init(&sample);
	query.system = "titan";
	query.most_samples = 1;
	CHECK_INT(forecast_data_open(&data, &query, &err), -E2BIG);
	CHECK(strstr(err.text, "shorter"));
	forecast_data_close(&data);
	query.most_samples = 2;
	CHECK_INT(forecast_data_open(&data, &query, &err), 0);
	forecast_data_close(&data);
	sample_remove(&sample);
}

TESTS(TEST(a_missing_store_is_no_data), TEST(the_only_system_replaces_a_default_name),
      TEST(only_the_time_range_is_loaded), TEST(simulated_system_brings_its_site),
      TEST(auto_is_the_cluster_or_the_host), TEST(too_many_samples_are_refused))
