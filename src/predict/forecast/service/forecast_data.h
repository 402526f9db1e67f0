/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where forecasts get probe data from: the store, exported files, or a simulated system. Also the
 * defaults that belong to it: the name of the local system, the site description and the key that
 * hides the owners of jobs.
 */
#ifndef SLUICE_PREDICT_FORECAST_SERVICE_FORECAST_DATA_H
#define SLUICE_PREDICT_FORECAST_SERVICE_FORECAST_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/forecast/chronicle/chronicle.h"
#include "predict/forecast/jobs/owner.h"
#include "predict/forecast/site.h"
#include "predict/simulate/system.h"

struct config;
struct err;
struct forecaster;
struct json;

/* What to load. `simulated` takes precedence over `files`, and `files` over the store. */
struct forecast_query {
	const char *store_path;
	const char
		*system; /* of the store: the system to load. Of files: renames it; may be NULL */
	/* The user did not choose `system`: if it has no rows, load the store's only system. */
	bool is_default_system;
	const char *site; /* name or path; "": defaults. NULL: the simulated system's own site */
	const char *const *files;
	size_t file_count;
	const char *simulated;	    /* name or path of a system description */
	struct system_request wish; /* for simulated systems */
	double from_s, to_s;	    /* from_s <= time < to_s; applies to the store only */
	size_t most_samples;	    /* of the store: -E2BIG if there are more; 0: no limit */
	void (*on_warning)(void *arg, const char *text); /* optional */
	void *arg;
};

/* The data of the store that the settings choose; the times are not limited. */
void forecast_query_init(struct forecast_query *query, const struct config *config);

/* Probe data and its site. Zero-initialized is empty. */
struct forecast_data {
	char *system;
	struct chronicle chronicle; /* from the store or files; empty if is_generated */
	struct generated generated;
	bool is_generated;
	struct site site;
	double newest_s; /* time of the newest row that the store has of the system */
};

/*
 * Returns -ENODATA if there is no probe data of the system, and -ENOENT if a file is missing. The
 * caller calls forecast_data_close() also after a failure.
 */
int forecast_data_open(struct forecast_data *data, const struct forecast_query *query,
		       struct err *err);
void forecast_data_close(struct forecast_data *data);

const struct chronicle *forecast_data_rows(const struct forecast_data *data);

/* Seconds of history that the features of a model need before the moment of a forecast. */
double forecast_data_history_s(const struct forecaster *forecaster);

/* Is the system generated rather than probed? Then its results are modelled; see cli/sheet.h. */
bool forecast_is_modelled(const char *system);
/* Writes the members "system" and "modelled". */
void forecast_json_system(struct json *json, const char *system);

/* Resolves "auto" to the cluster's name or the host name; copies other names. Caller frees. */
char *forecast_system_name(const char *name);

/* The key that hides owners of jobs, in a file beside the store; created on first use. */
int forecast_owner_key(uint8_t key[OWNER_KEY_BYTES], const char *store_path, struct err *err);

#endif
