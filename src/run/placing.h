/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns a forecast into parameters that spread the new files of a program over the targets of a
 * site. The targets of one kind share the written data: directories through spread_directories,
 * OSTs of Lustre through spread_osts, pools of CephFS through spread_pools.
 *
 * The [placement] section of the site is binding: targets that it does not allow get nothing, files
 * that do not match its patterns are left alone, and shares stay within its limits.
 */
#ifndef SLUICE_RUN_PLACING_H
#define SLUICE_RUN_PLACING_H

#include <stddef.h>

#include "predict/forecast/place/placement.h"

struct advice;
struct collector;
struct config;
struct err;
struct features;
struct forecaster;
struct param_set;
struct site;

/*
 * Predicts each target of the site, in the order of the site, for writes of the model's largest
 * size. rows has room for all targets; the fields of a target that the model does not know are NAN.
 * Returns the age of the newest probe of any target in seconds, or INFINITY without any probe.
 */
double placing_ask(const struct forecaster *forecaster, const struct features *features,
		   const struct site *site, double now_s, struct placement_target *rows);

/*
 * Adds the lists of targets with their shares to the set. rows as above; their is_allowed is not
 * read. -ENODATA if files may be placed on no target of the site, -EINVAL if its targets are of
 * different file systems; the set is untouched then.
 */
int placing_set(const struct site *site, enum placement_rule rule,
		const struct placement_target *rows, struct param_set *set, struct err *err);

/* What the adaptive rule needs beside the parameters; zeroed: files are placed by shares. */
struct placing_adaptive {
	char *list;	    /* of destinations: directories, OSTs or pools */
	char *place;	    /* the file system of OSTs or pools; "": directories */
	double most, least; /* limits of the site */
	/* For what is learned from the run: the system of the forecasts, and the name of the target
	 * of each destination, "" if there are several. */
	char *system;
	char **targets;
	size_t target_count;
};

void placing_adaptive_release(struct placing_adaptive *adaptive);

/*
 * Does both for a run: reads the site of probe.site, the model of forecast.model and the latest
 * probes of the store, and follows place.rule. Fails if one of them is missing or the newest probe
 * is too old; err says what to do, and the set is untouched. The adaptive rule needs only the site;
 * why says why there is no forecast, if there is none.
 */
int placing_find(struct param_set *set, struct placing_adaptive *adaptive,
		 const struct config *config, struct err *why, struct err *err);

/*
 * Stores what placed files have shown of their targets as training data (run/placing_rows.h), and
 * tells the user where the adaptive rule has placed files; before collector_close().
 */
void placing_report(struct collector *collector, const struct placing_adaptive *adaptive,
		    const struct config *config);

/*
 * Fills in the targets of the site: how busy they are, and the share of each by place.rule (by
 * "expected" if that is off). Without a recent forecast there are none.
 */
void placing_advise(struct advice *advice, const struct config *config);

#endif
