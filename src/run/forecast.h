/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How `sluice run --place` spreads new files: the site of probe.site, the model of forecast.model
 * and the store's last probes become parameters (run/placing.h). Nothing is printed.
 */
#ifndef SLUICE_RUN_FORECAST_H
#define SLUICE_RUN_FORECAST_H

struct config;
struct err;
struct param_set;

/*
 * By the setting place.rule. Negative with a sentence that says what to mend: there is no site, no
 * model, or no probe that is young enough. set is untouched then.
 */
int placed_find(struct param_set *set, const struct config *config, struct err *err);

#endif
