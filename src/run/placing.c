/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/placing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "params/set.h"
#include "params/spread.h"
#include "predict/forecast/states/forecaster.h"
#include "predict/forecast/site.h"
#include "predict/forecast/probe/targets.h"

/* ---- asking ---- */

static void answer_take(const struct forecast *answer, struct placement_target *row)
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
			age = forecaster_answer(forecaster, features, t, forecaster->size_count - 1,
						now_s, &answer);
			answer_take(&answer, &rows[i]);
			youngest = fmin(youngest, age);
		}
	}
	return youngest;
}

/* ---- destinations ---- */

/* Those of one kind, and what each is to get. */
struct destinations {
	char **names;
	double *shares;
	size_t count, cap, shares_cap;
	const char *path; /* of Lustre and CephFS: all targets are of one file system */
};

static void destinations_release(struct destinations *d)
{
	for (size_t i = 0; i < d->count; i++)
		free(d->names[i]);
	free(d->names);
	free(d->shares);
}

/* A destination of several targets gets what is for all of them. */
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

/* Which targets become which list. */
static const struct kind {
	const struct target_ops *ops;
	const char *parameter;
	void (*add)(struct destinations *d, const struct target *target, double share);
	bool is_one; /* numbers and names are those of one file system */
} kinds[] = {
	{ &target_directory, PARAMETERS_SPREAD_DIRECTORIES, directory_add, false },
	{ &target_lustre, PARAMETERS_SPREAD_OSTS, osts_add, true },
	{ &target_ceph, PARAMETERS_SPREAD_POOLS, pool_add, true },
};

/* ---- lists ---- */

static int path_check(struct destinations *d, const struct kind *kind, const struct target *target,
		      struct err *err)
{
	if (!kind->is_one || !d->path || strcmp(d->path, target->path) == 0) {
		d->path = target->path;
		return 0;
	}
	return err_set(err, EINVAL,
		       "the site's targets are of several file systems, %s and %s, and one run "
		       "cannot spread files over both",
		       d->path, target->path);
}

/* The targets of one kind, with what is known of them, in the site's order. */
struct group {
	const struct target **targets;
	struct placement_target *rows;
	double *shares;
	size_t count, allowed;
};

static int group_fill(struct group *group, const struct kind *kind, const struct site *site,
		      const struct target *targets, const struct placement_target *rows,
		      struct destinations *d, struct err *err)
{
	for (size_t i = 0; i < site->target_count; i++) {
		bool is_allowed = !*site->allow || site_fits(site->allow, targets[i].name);

		if (targets[i].ops != kind->ops)
			continue;
		if (is_allowed && path_check(d, kind, &targets[i], err) < 0)
			return -EINVAL;
		group->rows[group->count] = rows[i];
		group->rows[group->count].is_allowed = is_allowed;
		group->targets[group->count++] = &targets[i];
		group->allowed += is_allowed;
	}
	return 0;
}

static int list_write(const struct kind *kind, const struct site *site, enum placement_rule rule,
		      const struct target *targets, const struct placement_target *rows,
		      struct buf *list, struct err *err)
{
	struct placement_limits limits = { .most = site->most_extra, .least = site->least };
	size_t n = site->target_count + 1;
	AUTO_FREE const struct target **chosen = xcalloc(n, sizeof(*chosen));
	AUTO_FREE struct placement_target *known = xcalloc(n, sizeof(*known));
	AUTO_FREE double *shares = xcalloc(n, sizeof(*shares));
	struct group group = { chosen, known, shares, 0, 0 };
	struct destinations d = { 0 };
	int r = group_fill(&group, kind, site, targets, rows, &d, err);

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

/* For all files, or for each pattern of the site. */
static int list_put(struct param_set *set, const char *parameter, const char *list,
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

static int lists_make(const struct site *site, enum placement_rule rule,
		      const struct target *targets, const struct placement_target *rows,
		      struct param_set *set, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && r >= 0; i++) {
		AUTO_BUF struct buf list = { 0 };

		r = list_write(&kinds[i], site, rule, targets, rows, &list, err);
		if (r >= 0 && list.len)
			r = list_put(set, kinds[i].parameter, buf_text(&list), site->files, err);
	}
	if (r >= 0 && !set->count)
		r = err_set(err, ENODATA, "the site%s%s has no target that files may be put on",
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
		r = lists_make(site, rule, targets, rows, &made, err);
	for (size_t i = 0; i < made.count && r >= 0; i++)
		r = param_set_put(set, made.params[i].tunable, made.params[i].value,
				  made.params[i].file, NULL, 0, err);
	param_set_release(&made);
	while (count)
		target_release(&targets[--count]);
	return r < 0 ? r : 0;
}
