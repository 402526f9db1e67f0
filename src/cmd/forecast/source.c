/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where forecasts get their rows: the store, files or a generated system; and their models.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/place.h"
#include "cmd/forecast/forecast.h"
#include "cmd/modelled.h"
#include "cmd/forecast/probe.h"
#include "cli/window.h"
#include "predict/forecast/chronicle/blocks.h"
#include "predict/forecast/states/forecaster.h"
#include "store/probes.h"

int forecast_fail(const struct command *command, int r, const struct err *err)
{
	command_fail(command, "%s", err->text);
	return r == -ENODATA || r == -ENOENT ? COMMAND_NO_DATA : COMMAND_FAILED;
}

/* ---- the store ---- */

/* Which systems there are, and how far the wanted one comes. */
struct systems {
	const char *wanted;
	bool found;
	double newest_s;
	size_t count;
	struct buf names;
	char only[PROBE_NAME];
};

static int system_see(void *arg, const struct probe_system *system)
{
	struct systems *systems = arg;

	if (!systems->wanted || strcmp(system->name, systems->wanted) == 0) {
		systems->found = true;
		systems->newest_s = system->to_s;
	}
	buf_printf(&systems->names, "%s%s", systems->count++ ? ", " : "", system->name);
	snprintf(systems->only, sizeof(systems->only), "%s", system->name);
	return 0;
}

/* A name that nobody gave stands back where the store knows one system only. */
static int system_choose(const struct command *command, const struct forecast_args *args,
			 struct store *store, struct forecast_source *source, struct err *err)
{
	bool named = args->system ||
		     strcmp(config_text(command->config, SETTING_PROBE_SYSTEM), "auto") != 0;
	struct probe_args wish = { .system = args->system };
	struct systems systems = { 0 };
	int r;

	if (!source->system)
		source->system = probe_system(command, &wish);
	systems.wanted = source->system;
	r = probes_systems(store, system_see, &systems, err);
	if (r >= 0 && !systems.found && !named && systems.count == 1) {
		free(source->system);
		source->system = xstrdup(systems.only);
		systems.wanted = NULL;
		buf_clear(&systems.names);
		r = probes_systems(store, system_see, &systems, err);
	}
	if (r >= 0 && !systems.found)
		r = err_set(err, ENODATA, "there are no probes of %s%s%s%s", source->system,
			    systems.count ? "; there are some of " : " yet: 'sluice probe run' ",
			    systems.count ? buf_text(&systems.names) : "makes them",
			    systems.count ? " (--system)" : "");
	source->newest_s = systems.newest_s;
	buf_release(&systems.names);
	return r;
}

static int source_stored(const struct command *command, const struct forecast_args *args,
			 double from_s, double to_s, struct forecast_source *source,
			 struct err *err)
{
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(command->config, SETTING_STORE_PATH), err);

	if (r == -ENOENT)
		return err_set(err, ENODATA,
			       "there are no probes yet: 'sluice probe run' makes them, 'sluice "
			       "probe import' takes those of others");
	if (r >= 0)
		r = system_choose(command, args, store, source, err);
	if (r >= 0)
		r = chronicle_load(&source->chronicle, store, source->system, from_s, to_s, err);
	store_close(store);
	return r;
}

/* ---- files ---- */

/* Owners are no matter for a forecast: any key will do. */
static int source_filed(const struct command *command, const struct forecast_args *args,
			struct forecast_source *source, struct err *err)
{
	static const uint8_t key[OWNER_KEY_BYTES];
	struct chronicle *chronicle = &source->chronicle;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < args->files.count; i++) {
		struct blocks_facts facts = { 0 };

		r = blocks_read(chronicle, args->files.items[i], key, &facts, err);
		if (r >= 0 && facts.torn)
			command_warn(command, "%s:%zu: a block is incomplete; it is left out",
				     args->files.items[i], facts.torn_line);
	}
	if (r < 0)
		return r;
	if (args->system || !*chronicle->system)
		snprintf(chronicle->system, sizeof(chronicle->system), "%s",
			 args->system ? args->system : "file");
	free(source->system);
	source->system = xstrdup(chronicle->system);
	return 0;
}

/* ---- generated systems ---- */

static int source_generated(const struct forecast_args *args, struct forecast_source *source,
			    struct err *err)
{
	struct system_wish wish = {
		.targets = args->targets == OPTION_NONE ? 0 : args->targets,
		.seed = args->seed,
		.threads = args->threads == OPTION_NONE ? 0 : (unsigned)args->threads,
	};
	int r = modelled_generate(&source->generated, args->on, &wish, err);

	if (r < 0)
		return r;
	source->is_generated = true;
	source->system = xstrdup(source->generated.chronicle.system);
	return 0;
}

/* The site of a generated system has its name. */
static int site_find(const struct command *command, const struct forecast_args *args,
		     struct site *site, struct err *err)
{
	struct probe_args wish = { .site = args->site };
	const char *name = probe_site(command, &wish);

	if (args->on && !args->site)
		name = modelled_name(args->on);
	if (args->on && !args->site && strchr(name, '/'))
		name = "";
	return *name ? site_load(site, name, err) : 0;
}

int forecast_open(const struct command *command, const struct forecast_args *args, double from_s,
		  double to_s, struct forecast_source *source)
{
	struct err err = { 0 };
	int r;

	site_init(&source->site);
	r = site_find(command, args, &source->site, &err);
	if (r < 0)
		return forecast_fail(command, r, &err);
	if (args->on)
		r = source_generated(args, source, &err);
	else if (args->files.count)
		r = source_filed(command, args, source, &err);
	else
		r = source_stored(command, args, from_s, to_s, source, &err);
	return r < 0 ? forecast_fail(command, r, &err) : COMMAND_GOOD;
}

void forecast_close(struct forecast_source *source)
{
	free(source->system);
	chronicle_release(&source->chronicle);
	if (source->is_generated)
		generated_release(&source->generated);
	site_release(&source->site);
	*source = (struct forecast_source){ 0 };
}

/* ---- models ---- */

char *forecast_path(const struct command *command, const struct forecast_args *args)
{
	return xstrdup(args->model ? args->model
				   : config_text(command->config, SETTING_FORECAST_MODEL));
}

int forecast_model(const struct command *command, const struct forecast_args *args,
		   struct forecaster *forecaster)
{
	AUTO_FREE char *path = forecast_path(command, args);
	struct err err = { 0 };
	int r = forecaster_load(forecaster, path, &err);

	if (r == -ENOENT && !args->model) {
		command_fail(command,
			     "there is no model yet (%s): collect with 'sluice probe run', then "
			     "'sluice forecast train'",
			     path);
		return COMMAND_NO_DATA;
	}
	return r < 0 ? forecast_fail(command, r, &err) : COMMAND_GOOD;
}

int forecast_keep(const struct command *command, const struct forecast_args *args,
		  const struct forecaster *forecaster, const char *path)
{
	struct err err = { 0 };
	int r = 0;

	if (!args->output && !args->model)
		r = place_make_parent(path, 0777, &err);
	if (r >= 0)
		r = forecaster_save(forecaster, path, &err);
	return r < 0 ? forecast_fail(command, r, &err) : COMMAND_GOOD;
}

int forecast_latest(const struct command *command, const struct forecast_args *args,
		    const struct forecaster *forecaster, struct forecast_source *source,
		    double *now_s)
{
	/* Slow features, such as long half-lives and the last writes, look back further. */
	double back = fmax(6 * 3600, 4 * forecaster->features.window_s), from, to;
	int ret = window_take(command, args->from, args->to, &from, &to);

	if (ret)
		return ret;
	*now_s = isfinite(to) ? to : (double)time(NULL);
	if (!args->system && !args->on)
		source->system = xstrdup(forecaster->system);
	return forecast_open(command, args, *now_s - back, nextafter(*now_s, INFINITY), source);
}
