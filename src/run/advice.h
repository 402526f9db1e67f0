/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Makes what programs may ask for (contract/advice.h) before a run starts: the forecast of the site
 * of probe.site by the model of forecast.model, and the best known parameters. Without them, the
 * answer to every question is "no opinion".
 */
#ifndef SLUICE_RUN_ADVICE_H
#define SLUICE_RUN_ADVICE_H

struct advice;
struct config;

/* *advice is zeroed. best: lines as in struct advice; those that do not fit are left out. */
void advice_make(struct advice *advice, const struct config *config, const char *best);

#endif
