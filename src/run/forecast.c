/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/forecast.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "params/set.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/site.h"
#include "store/store.h"
#include "run/placing.h"

/* The least that features with long half-lives look back. */
#define BACK_S (6 * 3600.0)

/* Everything that a placement needs. Zero-initialised is empty. */
struct knowledge_of {
	struct site site;
	struct forecaster forecaster;
	struct chronicle chronicle;
	double now_s;
};

static void knowledge_drop(struct knowledge_of *k)
{
	site_release(&k->site);
	forecaster_release(&k->forecaster);
	chronicle_release(&k->chronicle);
}

static int probes_read(struct knowledge_of *k, const struct config *config, struct err *err)
{
	double back_s = fmax(BACK_S, 4 * k->forecaster.features.window_s);
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(config, SETTING_STORE_PATH), err);

	if (r == -ENOENT)
		return err_set(err, ENODATA, "there are no probes: does 'sluice probe run' run?");
	if (r >= 0)
		r = chronicle_load(&k->chronicle, store, k->forecaster.system, k->now_s - back_s,
				   nextafter(k->now_s, INFINITY), err);
	store_close(store);
	return r;
}

static int knowledge_read(struct knowledge_of *k, const struct config *config, struct err *err)
{
	const char *site = config_text(config, SETTING_PROBE_SITE);
	const char *model = config_text(config, SETTING_FORECAST_MODEL);
	int r;

	site_init(&k->site);
	if (!*site)
		return err_set(err, EINVAL, "probe.site names no site with targets");
	r = site_load(&k->site, site, err);
	if (r < 0)
		return r;
	r = forecaster_load(&k->forecaster, model, err);
	if (r == -ENOENT)
		return err_set(err, ENODATA,
			       "%s: there is no model; 'sluice forecast train' makes one", model);
	return r >= 0 ? probes_read(k, config, err) : r;
}

static int stale_tell(double age_s, struct err *err)
{
	char age[UNIT_TEXT];

	if (!isfinite(age_s))
		return err_set(err, ESTALE,
			       "there are no probes of the site's targets of the last hours: does "
			       "'sluice probe run' run?");
	return err_set(err, ESTALE, "the newest probe is %s old: does 'sluice probe run' run?",
		       unit_ns(age, (int64_t)(age_s * 1e9)));
}

int placed_find(struct param_set *set, const struct config *config, struct err *err)
{
	enum placement_rule rule = (enum placement_rule)(config_choice(config, SETTING_PLACE_RULE) -
							 CONFIG_PLACE_EQUAL);
	struct knowledge_of k = { .now_s = (double)time(NULL) };
	int r = knowledge_read(&k, config, err);

	if (r >= 0) {
		AUTO_FREE struct placement_target *rows =
			xcalloc(k.site.target_count + 1, sizeof(*rows));
		struct features features;
		double age_s;

		features_init(&features, &k.chronicle, &k.site, &k.forecaster.features);
		age_s = placing_ask(&k.forecaster, &features, &k.site, k.now_s, rows);
		features_release(&features);
		/* As `sluice forecast --now` has it. */
		if (!(age_s <= 2 * k.forecaster.features.window_s))
			r = stale_tell(age_s, err);
		else
			r = placing_set(&k.site, rule, rows, set, err);
	}
	knowledge_drop(&k);
	return r;
}
