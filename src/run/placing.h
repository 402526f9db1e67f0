/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From forecasts to parameters: how the new files of a program are spread over a site's targets.
 * Targets of one kind share what is written: directories by spread_directories, OSTs of Lustre by
 * spread_osts, pools of CephFS by spread_pools. The site's [placement] is the law: targets that it
 * does not allow get nothing, files that its patterns do not fit are left alone, and shares stay
 * within its limits. Knows no files, no clock and no store.
 */
#ifndef SLUICE_RUN_PLACING_H
#define SLUICE_RUN_PLACING_H

#include <stddef.h>

#include "predict/forecast/place/placement.h"

struct err;
struct features;
struct forecaster;
struct param_set;
struct site;

/*
 * What the model says of each target of the site, in the site's order, for writes of its largest
 * size; nothing is known of a target that the model does not have. rows has room for all of them.
 * Returns how old the newest probe of any is, in seconds; INFINITY: there is none.
 */
double placing_ask(const struct forecaster *forecaster, const struct features *features,
		   const struct site *site, double now_s, struct placement_target *rows);

/*
 * Puts the lists into set. rows as above; is_allowed in them is not looked at. -ENODATA where the
 * site has no target that files may be put on, -EINVAL where its targets cannot be taken together;
 * set is untouched then.
 */
int placing_set(const struct site *site, enum placement_rule rule,
		const struct placement_target *rows, struct param_set *set, struct err *err);

#endif
