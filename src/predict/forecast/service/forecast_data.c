/* SPDX-License-Identifier: BSD-3-Clause */
#include "predict/forecast/service/forecast_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "predict/forecast/chronicle/blocks.h"
#include "predict/forecast/states/forecaster.h"
#include "store/probes.h"
#include "store/store.h"

/* Slow features, such as long half-lives and the latest reference writes, look back this far. */
#define MIN_HISTORY_S (6 * 3600.0)
#define HISTORY_WINDOWS 4

void forecast_query_init(struct forecast_query *query, const struct config *config)
{
	const char *system = config_text(config, SETTING_PROBE_SYSTEM);
	bool is_default = strcmp(system, "auto") == 0;

	*query = (struct forecast_query){
		.store_path = config_text(config, SETTING_STORE_PATH),
		.system = is_default ? NULL : system,
		.is_default_system = is_default,
		.site = config_text(config, SETTING_PROBE_SITE),
		.from_s = -INFINITY,
		.to_s = INFINITY,
	};
}

/* The systems of the store, and the newest row of the wanted one. */
struct systems {
	const char *wanted; /* NULL: any */
	bool found;
	double newest_s;
	size_t count;
	struct buf names;
	char last[PROBE_NAME];
};

static int add_system(void *arg, const struct probe_system *system)
{
	struct systems *systems = arg;

	if (!systems->wanted || strcmp(system->name, systems->wanted) == 0) {
		systems->found = true;
		systems->newest_s = system->to_s;
	}
	buf_printf(&systems->names, "%s%s", systems->count++ ? ", " : "", system->name);
	snprintf(systems->last, sizeof(systems->last), "%s", system->name);
	return 0;
}

static int report_missing_system(const char *name, struct systems *systems, struct err *err)
{
	if (!systems->count)
		return err_set(err, ENODATA,
			       "no probe data of system %s yet: collect it with 'sluice forecast "
			       "probe'",
			       name);
	return err_set(err, ENODATA,
		       "no probe data of system %s; the store has data of %s (choose with "
		       "--system)",
		       name, buf_text(&systems->names));
}

static int choose_system(struct forecast_data *data, const struct forecast_query *query,
			 struct store *store, struct err *err)
{
	AUTO_FREE char *name = forecast_system_name(query->system ? query->system : "auto");
	struct systems systems = { .wanted = name };
	int r = probes_systems(store, add_system, &systems, err);

	if (r >= 0 && !systems.found && query->is_default_system && systems.count == 1) {
		systems.wanted = NULL;
		buf_clear(&systems.names);
		r = probes_systems(store, add_system, &systems, err);
	}
	if (r >= 0 && !systems.found)
		r = report_missing_system(systems.wanted, &systems, err);
	if (r >= 0) {
		data->system = xstrdup(systems.wanted ? systems.wanted : systems.last);
		data->newest_s = systems.newest_s;
	}
	buf_release(&systems.names);
	return r;
}

static int open_store(struct forecast_data *data, const struct forecast_query *query,
		      struct err *err)
{
	struct store *store = NULL;
	int r = store_open_existing(&store, query->store_path, err);

	if (r == -ENOENT)
		return err_set(err, ENODATA,
			       "no probe data yet: collect it with 'sluice forecast probe' or "
			       "load it with 'sluice forecast import'");
	if (r >= 0)
		r = choose_system(data, query, store, err);
	if (r >= 0)
		r = chronicle_load_most(&data->chronicle, store, data->system, query->from_s,
					query->to_s,
					query->most_samples ? query->most_samples : SIZE_MAX, err);
	store_close(store);
	return r;
}

static void warn_of_torn_block(const struct forecast_query *query, const char *path, size_t line)
{
	AUTO_FREE char *text = xprintf("%s:%zu: skipped an incomplete block", path, line);

	if (query->on_warning)
		query->on_warning(query->arg, text);
}

static int open_files(struct forecast_data *data, const struct forecast_query *query,
		      struct err *err)
{
	/* Forecasts do not use the owners of jobs, so any key is good. */
	static const uint8_t key[OWNER_KEY_BYTES];
	struct chronicle *chronicle = &data->chronicle;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < query->file_count; i++) {
		struct blocks_facts facts = { 0 };

		r = blocks_read(chronicle, query->files[i], key, &facts, err);
		if (r >= 0 && facts.torn)
			warn_of_torn_block(query, query->files[i], facts.torn_line);
	}
	if (r < 0)
		return r;
	if (query->system || !*chronicle->system)
		chronicle_rename(chronicle, query->system ? query->system : "file");
	data->system = xstrdup(chronicle->system);
	return 0;
}

static int open_simulated(struct forecast_data *data, const struct forecast_query *query,
			  struct err *err)
{
	struct system *system = NULL;
	int r = system_open(&system, query->simulated, err);

	if (r >= 0)
		r = system_generate(&data->generated, system, &query->wish, err);
	system_close(system);
	if (r < 0)
		return r;
	data->is_generated = true;
	data->system = xstrdup(data->generated.chronicle.system);
	return 0;
}

/* The site of a simulated system has the system's name, unless that is the path of a file. */
static int load_site(struct forecast_data *data, const struct forecast_query *query,
		     struct err *err)
{
	const char *name = query->site;

	site_init(&data->site);
	if (!name && query->simulated && !strchr(query->simulated, '/'))
		name = query->simulated;
	return name && *name ? site_load(&data->site, name, err) : 0;
}

int forecast_data_open(struct forecast_data *data, const struct forecast_query *query,
		       struct err *err)
{
	int r;

	*data = (struct forecast_data){ 0 };
	r = load_site(data, query, err);
	if (r < 0)
		return r;
	if (query->simulated)
		return open_simulated(data, query, err);
	if (query->file_count)
		return open_files(data, query, err);
	return open_store(data, query, err);
}

void forecast_data_close(struct forecast_data *data)
{
	free(data->system);
	chronicle_release(&data->chronicle);
	if (data->is_generated)
		generated_release(&data->generated);
	site_release(&data->site);
	*data = (struct forecast_data){ 0 };
}

const struct chronicle *forecast_data_rows(const struct forecast_data *data)
{
	return data->is_generated ? &data->generated.chronicle : &data->chronicle;
}

double forecast_data_history_s(const struct forecaster *forecaster)
{
	return fmax(MIN_HISTORY_S, HISTORY_WINDOWS * forecaster->features.window_s);
}

bool forecast_is_modelled(const char *system)
{
	return text_starts_with(system, CHRONICLE_MODELLED);
}

void forecast_json_system(struct json *json, const char *system)
{
	json_text(json, "system", system);
	json_bool(json, "modelled", forecast_is_modelled(system));
}

char *forecast_system_name(const char *name)
{
	const char *cluster = getenv("SLURM_CLUSTER_NAME");
	char host[CHRONICLE_NAME] = "";

	if (strcmp(name, "auto") != 0)
		return xstrdup(name);
	if (cluster && *cluster && strlen(cluster) < CHRONICLE_NAME)
		return xstrdup(cluster);
	gethostname(host, sizeof(host) - 1);
	return xstrdup(*host ? host : "here");
}

int forecast_owner_key(uint8_t key[OWNER_KEY_BYTES], const char *store_path, struct err *err)
{
	AUTO_FREE char *path = xprintf("%s.owners", store_path);

	return owner_key_load(key, path, err);
}
