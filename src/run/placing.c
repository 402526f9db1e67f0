/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Papers: WAN-39.
 */
#include "run/placing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/unit.h"
#include "contract/advice.h"
#include "contract/spool.h"
#include "observe/collect/collector.h"
#include "params/set.h"
#include "params/spread.h"
#include "predict/forecast/probe/targets.h"
#include "predict/forecast/service/forecast_data.h"
#include "predict/forecast/site.h"
#include "predict/forecast/states/forecaster.h"
#include "run/placing_rows.h"
#include "store/store.h"

/* How far back probes are read: features with long half-lives need some hours at least. */
#define HISTORY_MIN_S (6 * 3600.0)
#define HISTORY_WINDOWS 4
/* A forecast from older probes is worthless; in windows of the model's features. */
#define MAX_AGE_WINDOWS 2

static void set_row(struct placement_target *row, const struct forecast *answer)
{
	*row = (struct placement_target){
		.busy = answer->busy,
		.idle_s = answer->idle_s,
		.busy_s = answer->busy_s,
		.idle_sd = answer->idle_sd,
		.busy_sd = answer->busy_sd,
	};
}

double placing_ask(const struct forecaster *forecaster, const struct features *features,
		   const struct site *site, double now_s, struct placement_target *rows)
{
	double youngest = INFINITY;

	for (size_t i = 0; i < site->target_count; i++) {
		struct forecast answer;
		double age;

		rows[i] = (struct placement_target){ .busy = NAN, .idle_s = NAN, .busy_s = NAN };
		for (size_t t = 0; t < forecaster->target_count; t++) {
			if (strcmp(forecaster->targets[t], site->targets[i].name) != 0)
				continue;
			age = forecaster_predict_at(forecaster, features, t,
						    forecaster->size_count - 1, now_s, &answer);
			set_row(&rows[i], &answer);
			youngest = fmin(youngest, age);
		}
	}
	return youngest;
}

/* The destinations of one kind, and the share of each. */
struct destinations {
	char **names;
	double *shares;
	size_t count, cap, shares_cap;
	const char *path; /* of the one file system of all targets; NULL: not known yet */
};

static void destinations_release(struct destinations *d)
{
	for (size_t i = 0; i < d->count; i++)
		free(d->names[i]);
	free(d->names);
	free(d->shares);
}

/* A destination that several targets name gets the shares of all of them. */
static void destination_add(struct destinations *d, const char *name, double share)
{
	size_t i = 0;

	while (i < d->count && strcmp(d->names[i], name) != 0)
		i++;
	if (i == d->count) {
		d->names = xgrow(d->names, &d->cap, d->count + 1, sizeof(*d->names));
		d->shares = xgrow(d->shares, &d->shares_cap, d->count + 1, sizeof(*d->shares));
		d->names[i] = xstrdup(name);
		d->shares[i] = 0;
		d->count++;
	}
	d->shares[i] += share;
}

static void directory_add(struct destinations *d, const struct target *target, double share)
{
	destination_add(d, target->path, share);
}

static void osts_add(struct destinations *d, const struct target *target, double share)
{
	char name[16];

	for (size_t i = 0; i < target->ost_count; i++) {
		snprintf(name, sizeof(name), "%u", (unsigned)target->osts[i]);
		destination_add(d, name, share / (double)target->ost_count);
	}
}

static void pool_add(struct destinations *d, const struct target *target, double share)
{
	destination_add(d, target->pool, share);
}

/* The parameter that lists the targets of each kind. */
static const struct kind {
	const struct target_ops *ops;
	const char *parameter;
	void (*add)(struct destinations *d, const struct target *target, double share);
	bool is_one_system; /* OST numbers and pool names belong to one file system */
} kinds[] = {
	{ &target_directory, PARAMETERS_SPREAD_DIRECTORIES, directory_add, false },
	{ &target_lustre, PARAMETERS_SPREAD_OSTS, osts_add, true },
	{ &target_ceph, PARAMETERS_SPREAD_POOLS, pool_add, true },
};

static int check_file_system(struct destinations *d, const struct kind *kind,
			     const struct target *target, struct err *err)
{
	if (!kind->is_one_system || !d->path || strcmp(d->path, target->path) == 0) {
		d->path = target->path;
		return 0;
	}
	return err_set(err, EINVAL,
		       "the site's targets are on several file systems, %s and %s; one run can "
		       "spread files over only one of them: restrict [placement] allow",
		       d->path, target->path);
}

/* The targets of one kind and their forecasts, in the order of the site. */
struct candidates {
	const struct target **targets;
	struct placement_target *rows;
	double *shares;
	size_t count, allowed;
};

static int fill_group(struct candidates *group, const struct kind *kind, const struct site *site,
		      const struct target *targets, const struct placement_target *rows,
		      struct destinations *d, struct err *err)
{
	for (size_t i = 0; i < site->target_count; i++) {
		bool is_allowed = !*site->allow || site_name_matches(site->allow, targets[i].name);

		if (targets[i].ops != kind->ops)
			continue;
		if (is_allowed && check_file_system(d, kind, &targets[i], err) < 0)
			return -EINVAL;
		group->rows[group->count] = rows[i];
		group->rows[group->count].is_allowed = is_allowed;
		group->targets[group->count++] = &targets[i];
		group->allowed += is_allowed;
	}
	return 0;
}

static int write_list(const struct kind *kind, const struct site *site, enum placement_rule rule,
		      const struct target *targets, const struct placement_target *rows,
		      struct buf *list, struct err *err)
{
	struct placement_limits limits = { .most = site->most_extra, .least = site->least };
	size_t n = site->target_count + 1;
	AUTO_FREE const struct target **chosen = xcalloc(n, sizeof(*chosen));
	AUTO_FREE struct placement_target *known = xcalloc(n, sizeof(*known));
	AUTO_FREE double *shares = xcalloc(n, sizeof(*shares));
	struct candidates group = { chosen, known, shares, 0, 0 };
	struct destinations d = { 0 };
	int r = fill_group(&group, kind, site, targets, rows, &d, err);

	if (r >= 0 && group.allowed)
		r = placement_shares(rule, known, group.count, &limits, shares, err);
	for (size_t i = 0; r >= 0 && group.allowed && i < group.count; i++)
		if (shares[i] > 0)
			kind->add(&d, chosen[i], shares[i]);
	if (r >= 0 && d.count)
		r = spread_write((const char *const *)d.names, d.shares, d.count, list, err);
	destinations_release(&d);
	return r;
}

/* Sets the parameter for all files, or for each pattern of the site. */
static int put_list(struct param_set *set, const char *parameter, const char *list,
		    const char *files, struct err *err)
{
	const struct tunable *tunable = tunable_by_name(parameter);
	int r = 0;

	if (!*files)
		return param_set_put(set, tunable, list, NULL, NULL, 0, err);
	while (*files && r >= 0) {
		size_t n = strcspn(files, ", \t");
		AUTO_FREE char *pattern = xstrndup(files, n);

		if (n)
			r = param_set_put(set, tunable, list, pattern, NULL, 0, err);
		files += n + (files[n] != 0);
	}
	return r;
}

static int make_lists(const struct site *site, enum placement_rule rule,
		      const struct target *targets, const struct placement_target *rows,
		      struct param_set *set, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r >= 0; i++) {
		AUTO_BUF struct buf list = { 0 };

		r = write_list(&kinds[i], site, rule, targets, rows, &list, err);
		if (r >= 0 && list.len)
			r = put_list(set, kinds[i].parameter, buf_text(&list), site->files, err);
	}
	if (r >= 0 && !set->count)
		r = err_set(err, ENODATA, "files may be placed on no target of the site%s%s",
			    *site->name ? " " : "", site->name);
	return r;
}

int placing_set(const struct site *site, enum placement_rule rule,
		const struct placement_target *rows, struct param_set *set, struct err *err)
{
	AUTO_FREE struct target *targets = xcalloc(site->target_count + 1, sizeof(*targets));
	struct param_set made = { 0 };
	size_t count = 0;
	int r = 0;

	while (count < site->target_count && r >= 0) {
		r = target_init(&targets[count], site->targets[count].name,
				site->targets[count].place, err);
		count += r >= 0;
	}
	if (r >= 0)
		r = make_lists(site, rule, targets, rows, &made, err);
	for (size_t i = 0; i < made.count && r >= 0; i++)
		r = param_set_put(set, made.params[i].tunable, made.params[i].value,
				  made.params[i].file, NULL, 0, err);
	param_set_release(&made);
	while (count)
		target_release(&targets[--count]);
	return r < 0 ? r : 0;
}

/* What a placement is made from. Zero-initialized is empty. */
struct inputs {
	struct site site;
	struct forecaster forecaster;
	struct chronicle chronicle;
	double now_s;
};

static void inputs_release(struct inputs *k)
{
	site_release(&k->site);
	forecaster_release(&k->forecaster);
	chronicle_release(&k->chronicle);
}

static int read_probes(struct inputs *k, const struct config *config, struct err *err)
{
	double back_s = fmax(HISTORY_MIN_S, HISTORY_WINDOWS * k->forecaster.features.window_s);
	struct store *store = NULL;
	int r = store_open_existing(&store, config_text(config, SETTING_STORE_PATH), err);

	if (r == -ENOENT)
		return err_set(err, ENODATA, "no probe data; start 'sluice forecast probe'");
	if (r >= 0)
		r = chronicle_load(&k->chronicle, store, k->forecaster.system, k->now_s - back_s,
				   nextafter(k->now_s, INFINITY), err);
	store_close(store);
	return r;
}

static int inputs_read_site(struct inputs *k, const struct config *config, struct err *err)
{
	const char *site = config_text(config, SETTING_PROBE_SITE);

	site_init(&k->site);
	if (!*site)
		return err_set(err, EINVAL, "probe.site names no site; set it to the site's file");
	return site_load(&k->site, site, err);
}

static int inputs_read_model(struct inputs *k, const struct config *config, struct err *err)
{
	const char *model = config_text(config, SETTING_FORECAST_MODEL);
	int r = forecaster_load(&k->forecaster, model, err);

	if (r == -ENOENT)
		return err_set(err, ENODATA,
			       "%s: no forecast model; make one with 'sluice forecast train'",
			       model);
	return r >= 0 ? read_probes(k, config, err) : r;
}

static int fail_without_recent_probe(double age_s, struct err *err)
{
	char age[UNIT_TEXT];

	if (!isfinite(age_s))
		return err_set(err, ESTALE,
			       "no recent probe of the site's targets; is 'sluice forecast probe' "
			       "running?");
	return err_set(err, ESTALE,
		       "the newest probe is %s old; is 'sluice forecast probe' running?",
		       unit_ns(age, (int64_t)(age_s * NS_PER_S)));
}

/* The words of place.rule are "off" and then the rules, in the order of enum placement_rule. */
#define ASSERT_RULE(name)                                                                 \
	_Static_assert(CONFIG_PLACE_##name - CONFIG_PLACE_EQUAL == (int)PLACEMENT_##name, \
		       "place.rule and enum placement_rule differ")
ASSERT_RULE(EQUAL);
ASSERT_RULE(CLASSES);
ASSERT_RULE(EXPECTED);
ASSERT_RULE(HEDGED);
ASSERT_RULE(ADAPTIVE);
_Static_assert(PLACEMENT_ADAPTIVE == PLACEMENT_HEDGED + 1, "each rule has a word of place.rule");

static enum placement_rule configured_rule(const struct config *config)
{
	return (enum placement_rule)(config_choice(config, SETTING_PLACE_RULE) -
				     CONFIG_PLACE_EQUAL);
}

/* Asks for all targets; fails if there is no recent probe. rows as in placing_ask(). */
static int ask_inputs(const struct inputs *k, struct placement_target *rows, double *age_s,
		      struct err *err)
{
	struct features features;

	features_init(&features, &k->chronicle, &k->site, &k->forecaster.features);
	*age_s = placing_ask(&k->forecaster, &features, &k->site, k->now_s, rows);
	features_release(&features);
	/* The same limit as in `sluice forecast now`. */
	if (!(*age_s <= MAX_AGE_WINDOWS * k->forecaster.features.window_s))
		return fail_without_recent_probe(*age_s, err);
	return 0;
}

static void forget_forecast(const struct site *site, struct placement_target *rows)
{
	for (size_t i = 0; i < site->target_count; i++)
		rows[i] = (struct placement_target){ .busy = NAN, .idle_s = NAN, .busy_s = NAN };
}

/* Equal shares need no forecast. It is only a start for the adaptive rule; without one, all targets
 * are equal, and *why says so. */
static int find_forecast(struct inputs *k, const struct config *config, enum placement_rule rule,
			 struct placement_target *rows, struct err *why, struct err *err)
{
	double age_s;
	int r;

	forget_forecast(&k->site, rows);
	if (rule == PLACEMENT_EQUAL)
		return 0;
	r = inputs_read_model(k, config, why);
	if (r >= 0)
		r = ask_inputs(k, rows, &age_s, why);
	if (r >= 0)
		return 0;
	if (rule != PLACEMENT_ADAPTIVE) {
		*err = *why;
		return r;
	}
	forget_forecast(&k->site, rows);
	return 0;
}

void placing_adaptive_release(struct placing_adaptive *adaptive)
{
	for (size_t i = 0; i < adaptive->target_count; i++)
		free(adaptive->targets[i]);
	free(adaptive->targets);
	free(adaptive->list);
	free(adaptive->place);
	free(adaptive->system);
	*adaptive = (struct placing_adaptive){ 0 };
}

/* The first kind for which there is a list, and the list; NULL: there is none. */
static const struct kind *find_list(const struct param_set *set, const char **list)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t i = 0; i < set->count; i++)
			if (set->params[i].tunable == tunable_by_name(kinds[k].parameter)) {
				*list = set->params[i].value;
				return &kinds[k];
			}
	return NULL;
}

/* Notes the target as that of its destination, unless another target has the same one. */
static void name_destination(struct placing_adaptive *adaptive, const struct kind *kind,
			     const struct target *target)
{
	struct destinations d = { 0 };
	struct parameters_destination next;
	const char *at = adaptive->list;

	kind->add(&d, target, 1);
	for (size_t i = 0; parameters_destination(&at, &next); i++)
		if (d.count == 1 && strlen(d.names[0]) == next.bytes &&
		    !memcmp(d.names[0], next.name, next.bytes)) {
			bool is_first = !adaptive->targets[i];

			free(adaptive->targets[i]);
			adaptive->targets[i] = xstrdup(is_first ? target->name : "");
		}
	destinations_release(&d);
}

static void name_destinations(struct placing_adaptive *adaptive, const struct kind *kind,
			      const struct site *site)
{
	struct parameters_destination next;
	const char *at = adaptive->list;

	while (parameters_destination(&at, &next))
		adaptive->target_count++;
	adaptive->targets = xcalloc(adaptive->target_count + 1, sizeof(*adaptive->targets));
	for (size_t i = 0; i < site->target_count; i++) {
		struct target target;

		if (target_init(&target, site->targets[i].name, site->targets[i].place, NULL) < 0)
			continue;
		if (target.ops == kind->ops) {
			name_destination(adaptive, kind, &target);
			if (kind->is_one_system && !adaptive->place)
				adaptive->place = xprintf("%s:%s", target.ops->kind, target.path);
		}
		target_release(&target);
	}
	for (size_t i = 0; i < adaptive->target_count; i++)
		if (!adaptive->targets[i])
			adaptive->targets[i] = xstrdup("");
	if (!adaptive->place)
		adaptive->place = xstrdup("");
}

/* The list among the parameters that the adaptive rule applies to; of several kinds, the first. */
static void find_adaptive(struct placing_adaptive *adaptive, enum placement_rule rule,
			  const struct inputs *k, const struct config *config,
			  const struct param_set *set)
{
	const char *list;
	const struct kind *kind = find_list(set, &list);

	if (rule != PLACEMENT_ADAPTIVE || !kind)
		return;
	placing_adaptive_release(adaptive);
	*adaptive = (struct placing_adaptive){ .list = xstrdup(list),
					       .most = k->site.most_extra,
					       .least = k->site.least };
	adaptive->system =
		*k->forecaster.system
			? xstrdup(k->forecaster.system)
			: forecast_system_name(config_text(config, SETTING_PROBE_SYSTEM));
	name_destinations(adaptive, kind, &k->site);
}

int placing_find(struct param_set *set, struct placing_adaptive *adaptive,
		 const struct config *config, struct err *why, struct err *err)
{
	enum placement_rule rule = configured_rule(config);
	struct inputs k = { .now_s = (double)time(NULL) };
	int r = inputs_read_site(&k, config, err);

	if (r >= 0) {
		AUTO_FREE struct placement_target *rows =
			xcalloc(k.site.target_count + 1, sizeof(*rows));

		r = find_forecast(&k, config, rule, rows, why, err);
		if (r >= 0)
			r = placing_set(&k.site, rule, rows, set, err);
		if (r >= 0)
			find_adaptive(adaptive, rule, &k, config, set);
	}
	inputs_release(&k);
	return r;
}

/* The list of the run's parameters that was placed by the backlog; NULL if there is none. */
static char *find_placed_list(const struct control *control)
{
	AUTO_FREE char *text = xstrndup(control->parameters, PARAMETERS_BYTES - 1);
	struct parameters_line line;
	bool application_wins;
	char *at = parameters_read_title(text, &application_wins);

	while (at && parameters_read_line(&at, &line))
		if (!strncmp(line.name, "spread_", 7) &&
		    parameters_destinations_key(line.value) == control->placement.list)
			return xstrdup(line.value);
	return NULL;
}

#define REPORTED_TARGETS 16

static void report_targets(struct buf *out, const struct control_placement *p, const char *list)
{
	struct parameters_destination next;
	char size[UNIT_TEXT];

	for (uint32_t i = 0; i < p->count && parameters_destination(&list, &next); i++) {
		if (i == REPORTED_TARGETS) {
			buf_printf(out, ", and %u more targets", p->count - i);
			break;
		}
		buf_printf(out, "%s%u in %.*s (%s)", i ? ", " : ": ", p->files[i], (int)next.bytes,
			   next.name, unit_bytes(size, (double)p->bytes[i]));
	}
}

void placing_report(struct collector *collector, const struct placing_adaptive *adaptive,
		    const struct config *config)
{
	const struct control *control = collector_control(collector);
	const struct control_placement *p = &control->placement;
	AUTO_FREE char *list = p->count ? find_placed_list(control) : NULL;
	AUTO_BUF struct buf out = { 0 };
	uint64_t files = 0;
	struct err err = { 0 };
	int rows;

	for (uint32_t i = 0; i < p->count && i < PARAMETERS_DESTINATIONS; i++)
		files += p->files[i];
	if (!list || !files)
		return;
	buf_printf(&out, COLLECTOR_NOTICE "placed %llu new file%s in %u step%s",
		   (unsigned long long)files, files == 1 ? "" : "s", p->steps,
		   p->steps == 1 ? "" : "s");
	report_targets(&out, p, list);
	rows = placing_rows_save(p, adaptive, config, &err);
	if (rows > 0)
		buf_printf(&out, "; %d of their write times are stored for forecasts of %s", rows,
			   adaptive->system);
	collector_warn(collector, buf_text(&out));
	if (rows < 0 && rows != -ENOENT)
		collector_warn(collector, err.text);
}

static void advise_target(struct advice_target *to, const struct site_target *from,
			  const struct placement_target *row, double share)
{
	struct target target;

	snprintf(to->name, sizeof(to->name), "%s", from->name);
	to->busy = row->busy >= 0 ? row->busy : -1;
	to->share = share;
	to->slowdown = row->idle_s > 0 && row->busy_s > 0 ? row->busy_s / row->idle_s : 0;
	if (target_init(&target, from->name, from->place, NULL) < 0)
		return;
	/* An OST or a pool is not a directory. */
	if (target.ops == &target_directory && target.path &&
	    strlen(target.path) < sizeof(to->path))
		strcpy(to->path, target.path);
	target_release(&target);
}

static void advise_targets(struct advice *advice, const struct inputs *k, enum placement_rule rule)
{
	struct placement_limits limits = { .most = k->site.most_extra, .least = k->site.least };
	size_t count = k->site.target_count;
	AUTO_FREE struct placement_target *rows = xcalloc(count + 1, sizeof(*rows));
	AUTO_FREE double *shares = xcalloc(count + 1, sizeof(*shares));
	double age_s;
	bool has_shares;

	if (ask_inputs(k, rows, &age_s, NULL) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		rows[i].is_allowed = !*k->site.allow ||
				     site_name_matches(k->site.allow, k->site.targets[i].name);
	has_shares = placement_shares(rule, rows, count, &limits, shares, NULL) >= 0;
	for (size_t i = 0; i < count && i < ADVICE_TARGETS; i++)
		advise_target(&advice->targets[i], &k->site.targets[i], &rows[i],
			      has_shares ? shares[i] : -1);
	advice->age_s = age_s;
	advice->max_age_s = MAX_AGE_WINDOWS * k->forecaster.features.window_s;
	advice->target_count = (uint32_t)(count < ADVICE_TARGETS ? count : ADVICE_TARGETS);
}

void placing_advise(struct advice *advice, const struct config *config)
{
	bool is_off = config_choice(config, SETTING_PLACE_RULE) == CONFIG_PLACE_OFF;
	struct inputs k = { .now_s = (double)time(NULL) };

	if (inputs_read_site(&k, config, NULL) >= 0 && inputs_read_model(&k, config, NULL) >= 0)
		advise_targets(advice, &k, is_off ? PLACEMENT_EXPECTED : configured_rule(config));
	inputs_release(&k);
}
